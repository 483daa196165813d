"""What every reader returns: three arrays of 8-bit images, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.uint8]


@dataclass(frozen=True)
class Splits:
    """Training, validation and test images, uint8 (N, C, H, W); arrays may be memory-mapped."""

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


def held_out(images: Images, count: int, seed: int = 0) -> tuple[Images, Images]:
    """Return images without a seeded random choice of `count` of them, and that choice; both keep their order."""
    chosen = np.zeros(len(images), dtype=bool)
    chosen[np.random.default_rng(seed).permutation(len(images))[:count]] = True
    return images[~chosen], images[chosen]
