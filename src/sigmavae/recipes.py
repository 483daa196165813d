"""Named experiments: each a function that returns a complete one."""

from __future__ import annotations

import dataclasses
import difflib

from sigmavae.config import DataConfig, Experiment, LikelihoodConfig, TrainConfig
from sigmavae.data.catalogue import FORMATS, NAMES, VIDEOS
from sigmavae.errors import ConfigError
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.models import ConvConfig, HVAEConfig
from sigmavae.video_recipes import video_recipes

HIERARCHIES = {
    "hvae": HVAEConfig(),
    "hvae-small": HVAEConfig(latents=(6,) * 10 + (4,) * 5, width=24, blocks=1),
    "hvae-tiny": HVAEConfig(latents=(2,) * 15, width=8, blocks=1),
}
"""The hierarchical VAE at the paper's size, at one for an hour on a CPU core, and at one for a first look."""

STEPS = {"cifar": 30_000, "celeba": 40_000}
"""Of the hierarchical VAE on the data that the paper trains it on."""


def small(data: str, likelihood: str) -> Experiment:
    """The paper's small convolutional VAE (Appendix B): Adam 1e-3, batches of 128, 10 epochs."""
    return Experiment(
        name=f"{data}-{SHORT_NAMES[likelihood]}",
        data=DataConfig(name=data, size=FORMATS[data].size if data in FORMATS else None),
        likelihood=LikelihoodConfig(name=likelihood),
    )


def hierarchical(data: str, size: str, likelihood: str) -> Experiment:
    """The paper's hierarchical VAE: the public code's Adamax and averaged weights; narrow ones, for fewer steps."""
    full = size == "hvae"
    return Experiment(
        name=f"{data}-{size}-{SHORT_NAMES[likelihood]}",
        data=DataConfig(name=data, size=32),
        model=HIERARCHIES[size],
        likelihood=LikelihoodConfig(name=likelihood),
        train=TrainConfig(
            steps=STEPS[data] if full else 7_000,
            batch=48 if full else 32,
            optimizer="adamax",
            lr=2e-3,
            lr_decay=0.999999,
            lr_floor=1e-4,
            outliers=10.0,
            ema=0.9995 if full else 0.999,
            validate_every=500 if full else 250,
            checkpoint_every=500 if full else 250,
        ),
    )


def demo(likelihood: LikelihoodConfig, seed: int) -> Experiment:
    """A small, narrow VAE: three of them take less than two minutes on two CPU cores.

    Few latent dimensions, because a few hundred steps are enough to fill 8 evenly, but not 20: samples would show
    the holes rather than the decoder.
    """
    return Experiment(
        name=SHORT_NAMES[likelihood.name],
        seed=seed,
        model=ConvConfig(latent=8, width=16),
        likelihood=likelihood,
        train=TrainConfig(epochs=4, batch=32, log_every=25, validate_every=75),
    )


def recipe(name: str) -> Experiment:
    """Return the recipe of that name: DATA-LIKELIHOOD, such as fashion-optimal or fashion-student-t."""
    every, deep, of_videos = names(), hierarchies(), video_recipes()
    if name in deep:
        return hierarchical(*deep[name])
    if name in of_videos:
        return of_videos[name]()
    if name not in every:
        (near,) = difflib.get_close_matches(name, [*every, *deep, *of_videos], n=1, cutoff=0.0)
        raise ConfigError(
            f"no recipe is called {name!r}: did you mean {near!r}? Recipes are DATA-LIKELIHOOD, with DATA one of "
            f"{', '.join(NAMES)} and LIKELIHOOD one of {', '.join(SHORT_NAMES.values())}; or DATA-MODEL-LIKELIHOOD, "
            f"with DATA one of {', '.join(STEPS)} and MODEL one of {', '.join(HIERARCHIES)}; or, for videos, "
            f"{', '.join(f'{data}-svg-LIKELIHOOD' for data in VIDEOS)}"
        )
    data, likelihood = every[name]
    return dataclasses.replace(small(data, likelihood), name=name)


def names() -> dict[str, tuple[str, str]]:
    """Return the name of every recipe of the small VAE, with its data set and likelihood."""
    return {f"{data}-{short}": (data, name) for data in NAMES for name, short in SHORT_NAMES.items()}


def hierarchies() -> dict[str, tuple[str, str, str]]:
    """Return the name of every recipe of the hierarchical VAE, with its data set, size and likelihood."""
    sizes = [(data, size) for data in STEPS for size in HIERARCHIES]
    return {f"{data}-{size}-{short}": (data, size, name) for data, size in sizes for name, short in SHORT_NAMES.items()}
