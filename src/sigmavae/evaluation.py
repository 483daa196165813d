"""Metrics of a finished run, measured one after another and merged into a file as they come.

Each metric's entry under `measured` says what its numbers depend on: asked for again with the same settings, it is
not measured again.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sigmavae.errors import MetricError, RunError
from sigmavae.files import read_json, write_json
from sigmavae.metrics.catalogue import METRICS, Options, Subject
from sigmavae.metrics.items import batches, fitting
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise

RECALIBRATED = "_recalibrated"
"""Ends the names of numbers that were measured with the scale refitted to the validation images."""


@dataclass(frozen=True)
class Measured:
    """The numbers of one metric and how they came about."""

    name: str
    values: Mapping[str, float]
    settings: Mapping[str, Any]
    """All that the numbers depend on, but for the model and the data."""
    protocol: str
    seconds: float
    device: str
    fresh: bool = True
    """Whether it was measured now, not before."""

    def entry(self) -> dict[str, Any]:
        """Return what is kept of it beside its numbers."""
        kept = dataclasses.asdict(self)
        return {k: v for k, v in kept.items() if k not in ("name", "fresh")} | {"values": list(self.values)}


def measure(name: str, subject: Subject, options: Options | None = None, ending: str = "") -> Measured:
    """Measure one metric; `ending` is appended to the names of its numbers."""
    options = options or Options()
    metric, began = METRICS[name], time.monotonic()
    values = {f"{key}{ending}": value for key, value in metric.measure(subject, options)}
    for key, value in values.items():
        if not math.isfinite(value):
            raise RunError(
                f"{key} is {value}: the model's weights are damaged or its training diverged; train it again"
            )
    seconds = round(time.monotonic() - began, 3)
    protocol = metric.protocol(subject, options) + ("; scale refitted to the validation images" if ending else "")
    settings = settings_of(name, subject, options)
    return Measured(name + ending, values, settings, protocol, seconds, subject.model.device.type)


def settings_of(name: str, subject: Subject, options: Options) -> dict[str, Any]:
    """Return what the numbers of a metric depend on, as JSON."""
    chosen = {field: getattr(options, field) for field in METRICS[name].options}
    plain = {field: str(value) if isinstance(value, Path) else value for field, value in chosen.items()}
    return {"split": subject.split, "seed": subject.seed, **plain}


def recalibrated(subject: Subject) -> Subject:
    """Return the subject with its decoder's scale refitted by one exact pass over the validation images."""
    model = copy.deepcopy(subject.model).eval()
    try:
        model.likelihood = model.likelihood.refit(_features(subject.model.eval(), subject))
    except ValueError as error:
        raise MetricError(f"--recalibrate: {error}: leave it out") from error
    return dataclasses.replace(subject, model=model)


@torch.no_grad()
def _features(model: LatentModel, subject: Subject) -> Iterator[tuple[Tensor, Tensor]]:
    for items, x in batches(subject.splits.validation, fitting(model, subject.batch), model.device):
        yield model.infer(x, ItemNoise(subject.seed, items))[0], model.target(x)


def recall(path: Path, entry: str, settings: Mapping[str, Any]) -> Measured | None:
    """Return what a file has of a metric with these settings; None if it has nothing."""
    content = read_json(path) if path.exists() else {}
    known = content.get("measured", {}).get(entry)
    if known is None or known["settings"] != settings or not set(known["values"]) <= set(content["metrics"]):
        return None
    values = {name: content["metrics"][name] for name in known["values"]}
    return Measured(entry, values, settings, known["protocol"], known["seconds"], known["device"], fresh=False)


def merge(path: Path, found: Measured, about: Mapping[str, Any]) -> None:
    """Enter a metric's numbers into a file, atomically; `about` is what a new file says besides."""
    content = read_json(path) if path.exists() else dict(about)
    known = content.get("measured", {})
    stale = set(known.get(found.name, {}).get("values", ())) - set(found.values)
    metrics = {name: value for name, value in content.get("metrics", {}).items() if name not in stale}
    content |= {"metrics": metrics | dict(found.values), "measured": known | {found.name: found.entry()}}
    write_json(path, content)
