"""Training, validation and test images as arrays, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sigmavae.errors import ConfigError

Images = NDArray[np.uint8]
NAMES = ("train", "validation", "test")


class Composed(Protocol):
    """Videos that are made when they are asked for, and indexed like an array (N, T, C, H, W) otherwise.

    Video i is a function of i alone. There is no last one: numbers from N on are further videos.
    """

    shape: tuple[int, ...]
    ndim: int

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Images: ...

    def compose(self, numbers: Tensor, start: Tensor, length: int) -> Tensor:
        """Return so many frames of videos, uint8 (B, length, C, H, W), each from its own start on."""


@dataclass(frozen=True)
class Splits:
    """Training, validation and test images, uint8 (N, C, H, W), or videos, (N, T, C, H, W); perhaps memory-mapped."""

    train: Images
    validation: Images
    test: Images
    source: str
    """Where the images came from and how they were split, in a sentence that is recorded in the run."""
    fingerprint: str
    """Changes when the images or their preparation do."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one item: (C, H, W) for images."""
        return self.train.shape[1:]

    def split(self, name: str) -> Images:
        """Return a split by its name."""
        return {"train": self.train, "validation": self.validation, "test": self.test}[name]

    def frames(self) -> Splits:
        """Return the frames of videos as images of their own; images as they are."""
        if self.train.ndim == 4:
            return self
        if not isinstance(self.train, np.ndarray):
            raise ConfigError(f"{self.source}: are videos without an end, for models of videos: a recipe DATA-svg-...")
        train, validation, test = (self.split(name).reshape(-1, *self.shape[1:]) for name in NAMES)
        return Splits(train, validation, test, f"{self.source}; every frame an image", self.fingerprint)


def chosen(total: int, *counts: int, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return disjoint random choices of so many of range(total), then the rest of it, each in order."""
    order = np.random.default_rng(seed).permutation(total)
    return [np.sort(part) for part in np.split(order, np.cumsum(counts))]


def held_out(images: Images, count: int, seed: int = 0) -> tuple[Images, Images]:
    """Return images without a seeded random choice of `count` of them, and that choice; both keep their order."""
    out, rest = chosen(len(images), count, seed=seed)
    return images[rest], images[out]
