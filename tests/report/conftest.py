"""Small run folders to make pages of."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Protocol

import pytest
from PIL import Image

DIMENSIONS = 784


class MakeRun(Protocol):
    def __call__(
        self, likelihood: str, *, name: str = ..., seed: int = ..., finished: bool = ..., **metrics: Any
    ) -> Path: ...


def gaussian_metrics(sigma: float, rmse: float, rate: float, bits: float) -> dict[str, float]:
    """What a Gaussian decoder with this scale and this error would score."""
    distortion = DIMENSIONS * (math.log(sigma * math.sqrt(2 * math.pi)) + rmse**2 / (2 * sigma**2))
    return {
        "nll": distortion + rate,
        "nll_stderr": 1.0,
        "distortion": distortion,
        "rate": rate,
        "nll_discrete": bits * DIMENSIONS * math.log(2),
        "bits_per_dim": bits,
        "sigma": sigma,
        "beta": 2 * sigma**2,
    }


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """A function that writes a run folder below tmp_path/runs and returns it."""

    def make(likelihood: str, *, name: str = "", seed: int = 0, finished: bool = True, **metrics: Any) -> Path:
        name = name or f"fashion-{likelihood}"
        folder = tmp_path / "runs" / f"{len(list(tmp_path.glob('runs/*'))):02}"
        (folder / "pictures").mkdir(parents=True)
        experiment = {
            "name": name,
            "seed": seed,
            "data": {"name": "fashion"},
            "model": {"name": "conv"},
            "likelihood": {"name": likelihood},
            "train": {"steps": None, "epochs": 10},
        }
        (folder / "experiment.json").write_text(json.dumps(experiment))
        lines = [
            {"step": step, "split": split, "nll": 700.0 - step, "rate": 5.0 + step / 100, "sigma": 1 / (1 + step / 50)}
            for step in range(1, 101, 3)
            for split in ("train", "validation")
        ]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        for kind, shade in (("real", 200), ("reconstructions", 150), ("samples", 100)):
            Image.new("L", (242, 122), shade).save(folder / "pictures" / f"{kind}.png")
        if finished:
            result = {
                "name": name,
                "experiment": experiment,
                "metrics": metrics,
                "steps": 710,
                "seconds": 31.25,
                "parameters": 990123,
                "command": f"sigmavae train {name}",
                "versions": {"python": "3.11.7", "torch": "2.13.0"},
                "device": "cpu",
            }
            (folder / "result.json").write_text(json.dumps(result))
        return folder

    return make


@pytest.fixture
def trio(make_run: MakeRun) -> list[Path]:
    """The demonstration: the optimal sigma best by both measures, and calibrated."""
    return [
        make_run("gaussian", **gaussian_metrics(sigma=1.0, rmse=0.17, rate=4.9, bits=5.163)),
        make_run("beta", **gaussian_metrics(sigma=0.224, rmse=0.123, rate=32.1, bits=4.377)),
        make_run("optimal-sigma", **gaussian_metrics(sigma=0.1133, rmse=0.1144, rate=51.2, bits=4.111)),
    ]


def edit_metrics(folder: Path, **changes: float | None) -> None:
    """Overwrite some final metrics of a run."""
    path = folder / "result.json"
    result = json.loads(path.read_text())
    result["metrics"] |= changes
    path.write_text(json.dumps(result))


@pytest.fixture
def edit() -> Any:
    """`edit_metrics`, for tests that change the numbers."""
    return edit_metrics
