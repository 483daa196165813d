"""Named experiments on videos: SVG-LP as released, and with every decoder likelihood."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Literal

from sigmavae.config import DataConfig, Experiment, LikelihoodConfig, TrainConfig
from sigmavae.data.catalogue import COMPOSED, VIDEOS
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.models import SVGConfig

SIDE = 64
ORIGINAL = "original"
WEIGHT = 1e-4
"""Of the KL divergence in the original loss."""


def svg(data: str, likelihood: str) -> Experiment:
    """SVG-LP (Denton and Fergus, 2018): Adam 2e-3, batches of 100, 300 times 600 steps.

    Robot pushing and other videos with the VGG network, 2 frames given, 10 predicted; Moving MNIST in gray with the
    DCGAN network and 10 latent dimensions, 5 given, 10 predicted.
    """
    return Experiment(
        name=f"{data}-svg-{SHORT_NAMES[likelihood]}",
        data=DataConfig(name=data, size=SIDE),
        model=network(data),
        likelihood=LikelihoodConfig(name=likelihood),
        train=TrainConfig(steps=180_000, batch=100, lr=2e-3, validate_every=600, checkpoint_every=1200),
    )


def network(data: str) -> SVGConfig:
    """Return the network for a data set."""
    return SVGConfig(past=5, backbone="dcgan", z=10) if data == COMPOSED else SVGConfig()


def original(data: str) -> Experiment:
    """The released code's own loss, the mean squared error of every frame + 1e-4 KL, as a Gaussian decoder.

    Of D values a frame, MSE + w KL = 2 sigma^2 / D (-ln p + KL) + constant where sigma^2 = D w / 2: beta = 2 sigma^2 =
    D w, 1.2288 for 64 x 64 pixels of three channels (sigma = 0.784), and Adam does not mind a constant factor. D is of
    the data as they are trained on. The given frames but the first are predicted, too, from the maps of the one before
    the last.
    """
    made = svg(data, "beta")
    channels: Literal[1, 3] = 1 if data == COMPOSED else 3
    return dataclasses.replace(
        made,
        name=f"{data}-svg-{ORIGINAL}",
        data=dataclasses.replace(made.data, channels=channels),
        model=dataclasses.replace(network(data), skips="before-last", score_past=True),
        likelihood=LikelihoodConfig("beta", weight=WEIGHT),
    )


def narrow(full: Experiment) -> Experiment:
    """Moving MNIST with a sixteenth of the network's work, 5 frames given and 7 predicted: for two CPU cores."""
    assert isinstance(full.model, SVGConfig)
    return dataclasses.replace(
        full,
        name=full.name.replace("-svg-", "-narrow-"),
        model=dataclasses.replace(full.model, future=7, width=16, g=64, rnn=128),
        train=TrainConfig(steps=20_000, batch=16, lr=1e-3, log_every=50, validate_every=500, checkpoint_every=500),
    )


def video_recipes() -> dict[str, Callable[[], Experiment]]:
    """Return every recipe by its name: DATA-svg-LIKELIHOOD, DATA-svg-original, moving-mnist-narrow-..."""
    made: dict[str, Callable[[], Experiment]] = {}
    for data in VIDEOS:
        made |= {f"{data}-svg-{short}": partial(svg, data, name) for name, short in SHORT_NAMES.items()}
        made[f"{data}-svg-{ORIGINAL}"] = partial(original, data)
    small = {name: full for name, full in made.items() if name.startswith(f"{COMPOSED}-svg-")}
    return made | {name.replace("-svg-", "-narrow-"): _narrowed(full) for name, full in small.items()}


def _narrowed(full: Callable[[], Experiment]) -> Callable[[], Experiment]:
    return lambda: narrow(full())
