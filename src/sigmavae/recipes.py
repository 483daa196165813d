"""Named experiments: each a function that returns a complete one."""

from __future__ import annotations

import dataclasses
import difflib

from sigmavae.config import DataConfig, Experiment, LikelihoodConfig, TrainConfig
from sigmavae.data.catalogue import FORMATS, NAMES, VIDEOS
from sigmavae.errors import ConfigError
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.models import ConvConfig
from sigmavae.video_recipes import video_recipes


def small(data: str, likelihood: str) -> Experiment:
    """The paper's small convolutional VAE (Appendix B): Adam 1e-3, batches of 128, 10 epochs."""
    return Experiment(
        name=f"{data}-{SHORT_NAMES[likelihood]}",
        data=DataConfig(name=data, size=FORMATS[data].size if data in FORMATS else None),
        likelihood=LikelihoodConfig(name=likelihood),
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
    every, of_videos = names(), video_recipes()
    if name in of_videos:
        return of_videos[name]()
    if name not in every:
        (near,) = difflib.get_close_matches(name, [*every, *of_videos], n=1, cutoff=0.0)
        raise ConfigError(
            f"no recipe is called {name!r}: did you mean {near!r}? Recipes are DATA-LIKELIHOOD, with DATA one of "
            f"{', '.join(NAMES)} and LIKELIHOOD one of {', '.join(SHORT_NAMES.values())}; models of "
            f"videos: {', '.join(f'{data}-svg-LIKELIHOOD' for data in VIDEOS)}"
        )
    data, likelihood = every[name]
    return dataclasses.replace(small(data, likelihood), name=name)


def names() -> dict[str, tuple[str, str]]:
    """Return every recipe's name, with its data set and likelihood."""
    return {f"{data}-{short}": (data, name) for data in NAMES for name, short in SHORT_NAMES.items()}
