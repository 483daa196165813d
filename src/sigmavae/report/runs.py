"""A run folder, read into one frozen record; whatever is wrong with it is said with the file's name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigmavae.report.files import ReportError, read_journal, read_object, require
from sigmavae.report.pictures import Picture, read_pictures

__all__ = ["ReportError", "Run", "find_runs", "read_run"]

ONE_SCALE = frozenset({"gaussian", "beta", "shared-sigma", "optimal-sigma"})
"""Gaussians with a single sigma for all pixels: their distortion tells their mean squared error."""

MASSES = frozenset({"bernoulli", "categorical", "bitwise", "logistic-mixture"})


@dataclass(frozen=True)
class Run:
    """What one training run left behind; `result` is None while the run is unfinished."""

    folder: Path
    name: str
    likelihood: str
    experiment: Mapping[str, Any]
    journal: tuple[Mapping[str, Any], ...]
    pictures: Mapping[str, Picture]
    result: Mapping[str, Any] | None

    @property
    def finished(self) -> bool:
        """Whether the run wrote its result, which it does last."""
        return self.result is not None

    @property
    def seed(self) -> object:
        """The seed as the experiment states it, None if it does not."""
        return self.experiment.get("seed")

    @property
    def data(self) -> object:
        """What it was trained on, as its result or its experiment states it: numbers on other data do not compare."""
        stated = {} if self.result is None else self.result.get("data", {})
        return stated.get("fingerprint") or self.experiment.get("data")

    @property
    def is_mass(self) -> bool:
        """Whether the likelihood gives probabilities of 8-bit values, not densities: another nll scale."""
        return self.likelihood in MASSES or self.likelihood.startswith("discretized-")

    @property
    def of_videos(self) -> bool:
        """Whether it is a model of videos, whose nats are of sequences."""
        model = self.experiment.get("model")
        return isinstance(model, Mapping) and model.get("kind") == "svg"

    def nats(self, name: str) -> float | None:
        """A final test metric in nats of an image, or, of videos, of a predicted frame."""
        value, whole, each = (self.metric(key) for key in (name, "nll", "nll_per_frame"))
        return value if value is None or not whole or each is None else value * each / whole

    def nats_curve(self, key: str) -> list[tuple[float, float]]:
        """A curve in nats of an image, or, of clips of videos, of a predicted frame.

        On validation data, which say more than training batches; but a run that never validated still has a curve.
        """
        validated = self.curve(key, "validation")
        frames = self._predicted(in_training=not validated)
        return [(step, value / frames) for step, value in validated or self.curve(key, "train")]

    def _predicted(self, *, in_training: bool) -> float:
        """How many frames of a clip count; one of an image."""
        if not self.of_videos:
            return 1.0
        past, future = (as_number(self.experiment["model"].get(key)) for key in ("past", "future"))
        more = past - 1 if past and in_training and self.experiment["model"].get("score_past") else 0.0
        return max(1.0, (future or 1.0) + more)

    def metric(self, name: str) -> float | None:
        """A final test metric; None if the run is unfinished, the key absent, or the value not finite."""
        return None if self.result is None else as_number(self.result["metrics"].get(name))

    def numbered(self, prefix: str) -> list[tuple[int, float]]:
        """The finite metrics whose names are the prefix and a number, in its order."""
        names = self.result["metrics"] if self.result is not None else {}
        found = [(name, self.metric(name)) for name in names if re.fullmatch(prefix + r"\d+", name)]
        return sorted((int(name.removeprefix(prefix)), value) for name, value in found if value is not None)

    def curve(self, key: str, split: str) -> list[tuple[float, float]]:
        """Finite (step, value) pairs by rising step; a step logged twice (a resumed run) keeps its last value."""
        values: dict[float, float] = {}
        for line in self.journal:
            step, value = as_number(line.get("step")), as_number(line.get(key))
            if line.get("split") == split and step is not None and value is not None:
                values[step] = value
        return sorted(values.items())

    @property
    def error(self) -> float | None:
        """How wrong the decoder is: the root mean squared error of a pixel, from `rmse` or the distortion."""
        stated = self.metric("rmse")
        return stated if stated is not None or self.likelihood not in ONE_SCALE else self._error_of_gaussian()

    def _error_of_gaussian(self) -> float | None:
        # distortion / D = ln(sigma sqrt(2 pi)) + MSE / (2 sigma^2), solved for the MSE.
        sigma, distortion, dimensions = self.metric("sigma"), self.metric("distortion"), self._dimensions()
        if sigma is None or distortion is None or dimensions is None or sigma <= 0:
            return None
        halved = distortion / dimensions - math.log(sigma * math.sqrt(2 * math.pi))
        return sigma * math.sqrt(2 * halved) if halved > 0 else None

    def _dimensions(self) -> int | None:
        # nll_discrete = bits_per_dim D ln 2. Rounded numbers give no whole D, and then we had better not guess.
        nll, bits = self.metric("nll_discrete"), self.metric("bits_per_dim")
        if nll is None or bits is None or bits <= 0:
            return None
        dimensions = nll / (bits * math.log(2))
        whole = round(dimensions)
        return whole if whole > 0 and abs(dimensions - whole) < 1e-3 else None


def as_number(value: object) -> float | None:
    """A finite float, or None for everything else (null, text, NaN of a run that diverged)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def read_run(folder: Path) -> Run:
    """Read a run folder; only experiment.json is obligatory, but what is there must be sound."""
    experiment_file, result_file = folder / "experiment.json", folder / "result.json"
    experiment = read_object(experiment_file)
    name = require(experiment, "name", str, experiment_file)
    likelihood = require(require(experiment, "likelihood", dict, experiment_file), "name", str, experiment_file)
    result = read_object(result_file) if result_file.exists() else None
    if result is not None:
        require(result, "metrics", dict, result_file)
    journal_file = folder / "metrics.jsonl"
    # A run that has only just begun has logged nothing yet; a finished one must have.
    begun = result is not None or journal_file.exists()
    return Run(
        folder=folder,
        name=name,
        likelihood=likelihood,
        experiment=experiment,
        journal=read_journal(journal_file) if begun else (),
        pictures=read_pictures(folder / "pictures"),
        result=result,
    )


def find_runs(folder: Path) -> list[Path]:
    """The folder itself if it is a run, else every run below it, sorted."""
    if (folder / "experiment.json").is_file():
        return [folder]
    found = sorted(path.parent for path in folder.rglob("experiment.json"))
    if not found:
        raise ReportError(f"no runs in {folder}: a run is a folder with an experiment.json, as `sigmavae train` writes")
    return found
