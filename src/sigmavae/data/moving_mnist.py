"""Stochastic Moving MNIST (Denton and Fergus, 2018): two digits that bounce, composed when they are asked for.

A digit of 32 x 32 moves over 64 x 64 pixels by whole numbers between -4 and 4 a frame. Where it would leave the picture
it is held at the edge and leaves it with a new random speed, away from the edge it met and anything along the other
axis: what follows a bounce cannot be known before.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.config import DataConfig
from sigmavae.data.idx import read_images
from sigmavae.data.resize import Item
from sigmavae.data.splits import Images, Splits, held_out
from sigmavae.errors import ConfigError
from sigmavae.noise import ItemNoise
from sigmavae.seeds import Stream

NAME = "moving-mnist"
SIDE, FRAMES = 64, 30

_DIGIT, _DIGITS, _FASTEST = 32, 2, 4
_LAST = SIDE - _DIGIT - 1  # the farthest a digit gets, as in the released code: a column and a row stay empty
_COUNTS = {"train": 10_000, "validation": 500, "test": 500}
_HELD_OUT = 6_000  # of the training digits, for validation
_CHUNK = 10_000


class MovingDigits:
    """Videos of digits, uint8 (count, frames, 1, 64, 64); video i is a function of i and the seed, for any i."""

    def __init__(self, digits: Images, count: int, frames: int, seed: int) -> None:
        self.shape: tuple[int, ...] = (count, frames, 1, SIDE, SIDE)
        self.ndim = len(self.shape)
        self._digits, self._seed = framed(digits), seed

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any, /) -> Images:
        """Return videos as an array of videos would."""
        numbers = np.arange(len(self))[key]
        wanted = torch.from_numpy(np.atleast_1d(numbers))
        videos = self.compose(wanted, torch.zeros_like(wanted), self.shape[1]).numpy()
        return videos if numbers.ndim else videos[0]

    def compose(self, numbers: Tensor, start: Tensor, length: int) -> Tensor:
        """Return so many frames of videos, uint8 (B, length, 1, 64, 64), each from its own start on."""
        noise = ItemNoise(self._seed, numbers, Stream.SCENES)
        which = _whole(noise.uniform(torch.empty(len(numbers), _DIGITS)), len(self._digits))
        places = bounce(noise, len(numbers), self.shape[1])
        kept = start.unsqueeze(1) + torch.arange(length)
        places = places[torch.arange(len(numbers)).unsqueeze(1), kept]
        total = torch.zeros(len(numbers), length, SIDE, SIDE, dtype=torch.int16)
        for digit, place in zip(which.unbind(1), places.unbind(2), strict=True):
            total += drawn(self._digits[digit], place)
        return total.clamp_(max=255).to(torch.uint8).unsqueeze(2)


def bounce(noise: ItemNoise, count: int, frames: int) -> Tensor:
    """Return the upper left corners of digits, (count, frames, digits, 2): row and column."""
    uniform = noise.uniform(torch.empty(count, 2 + frames, _DIGITS, 2))
    place = _whole(uniform[:, 0], _LAST + 1)
    speed = _whole(uniform[:, 1], 2 * _FASTEST + 1) - _FASTEST
    places = []
    for fresh in uniform[:, 2:].unbind(1):
        inside = place.clamp(0, _LAST)
        met = place != inside
        away = torch.where(place < 0, 1, -1) * (1 + _whole(fresh, _FASTEST))
        anything = _whole(fresh, 2 * _FASTEST + 1) - _FASTEST
        speed = torch.where(met, away, torch.where(met.any(-1, keepdim=True), anything, speed))
        places.append(inside)
        place = inside + speed
    return torch.stack(places, 1)


def drawn(digits: Tensor, places: Tensor) -> Tensor:
    """Return frames (B, T, 64, 64) with framed digits (B, 34, 34) whose corners are at places (B, T, 2)."""
    # Pixels beside the digit read its frame of zeros.
    grid = torch.arange(SIDE)
    rows, columns = ((grid - places[..., axis, None]).clamp(-1, _DIGIT) + 1 for axis in (0, 1))
    items = torch.arange(len(digits)).reshape(-1, 1, 1, 1)
    return digits[items, rows.unsqueeze(3), columns.unsqueeze(2)]


def framed(digits: Images) -> Tensor:
    """Return digits (N, H, W, 1) as 32 x 32 pixels in a frame of zeros one pixel wide, int16 (N, 34, 34)."""
    larger = [
        F.interpolate(part.movedim(-1, 1).float(), _DIGIT, mode="bilinear").round().to(torch.int16).squeeze(1)
        for part in torch.tensor(digits).split(_CHUNK)
    ]
    return F.pad(torch.cat(larger), (1, 1, 1, 1))


def open_moving(files: tuple[Path, Path], config: DataConfig) -> Splits:
    """Return videos of the digits in MNIST's training and test files; validation has training digits of its own."""
    for field, value, only in (("size", config.size, SIDE), ("channels", config.channels, 1)):
        if value not in (None, only):
            raise ConfigError(f"data.{field}={value}: {NAME} is {SIDE} x {SIDE} and gray; leave it out")
    frames = config.frames or FRAMES
    training, testing = (read_images(file) for file in files)
    train, validation = held_out(training, min(_HELD_OUT, max(1, len(training) // 10)))
    digits: dict[str, Item] = {"train": train, "validation": validation, "test": testing}
    # Not arrays, but used as such: they have a shape and are indexed.
    splits = {n: cast(Images, MovingDigits(digits[n], _COUNTS[n], frames, i)) for i, n in enumerate(_COUNTS)}
    digest = hashlib.sha256(training.tobytes() + testing.tobytes() + str(frames).encode()).hexdigest()[:16]
    source = (
        f"stochastic Moving MNIST, {_DIGITS} digits, {frames} frames, composed from {files[0].name} and "
        f"{files[1].name}; {len(validation)} of the training digits held out (seed 0) for validation"
    )
    return Splits(splits["train"], splits["validation"], splits["test"], source=source, fingerprint=digest)


def _whole(uniform: Tensor, count: int) -> Tensor:
    """Return whole numbers below count from numbers between 0 and 1."""
    return (uniform * count).long().clamp(max=count - 1)
