"""Small runs for the tests: a narrow network for a few dozen steps on the embedded images."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sigmavae.config import DataConfig, Experiment, LikelihoodConfig, TrainConfig
from sigmavae.models import ConvConfig, HVAEConfig
from sigmavae.run import run


def tiny(likelihood: LikelihoodConfig | None = None, **train: Any) -> Experiment:
    settings = {"steps": 12, "batch": 16, "log_every": 3, "validate_every": 6, "checkpoint_every": 4} | train
    return Experiment(
        name="tiny",
        precision="32",
        model=ConvConfig(latent=4, width=4),
        likelihood=likelihood or LikelihoodConfig("optimal-sigma"),
        train=TrainConfig(**settings),
    )


def hierarchy(likelihood: LikelihoodConfig | None = None, **train: Any) -> Experiment:
    """A hierarchical model with all that it brings: Adamax, a schedule, averaged weights, outliers."""
    settings = {"optimizer": "adamax", "lr": 2e-3, "lr_decay": 0.99, "ema": 0.9, "outliers": 3.0} | train
    return dataclasses.replace(
        tiny(likelihood, **settings),
        data=DataConfig(size=16),
        model=HVAEConfig(latents=(2, 2, 2), halvings=(1, 3), width=4, blocks=1),
    )


def with_seed(experiment: Experiment, seed: int) -> Experiment:
    return dataclasses.replace(experiment, seed=seed)


class Watcher:
    """A progress that remembers, and can stop the run after a step as a kill would."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.steps: list[int] = []
        self.said: list[str] = []
        self.begun: list[tuple[str, int, int]] = []

    def begin(self, name: str, total: int, done: int) -> None:
        self.begun.append((name, total, done))

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:  # noqa: ARG002
        self.steps.append(done)
        if done == self.stop_after:
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.said.append(text)


def finish(experiment: Experiment, folder: Path) -> dict[str, Any]:
    return run(experiment, folder, Watcher(), "the command")
