"""The 256 values of 8-bit data in [0, 1], and the bin that belongs to each.

Value k of 0..255 stands for x = k/255. Its bin is ((k - 1/2)/255, (k + 1/2)/255]; the first bin reaches down to
minus infinity and the last up to infinity, so that the 256 masses of any distribution on the line sum to one.
"""

from typing import NamedTuple

import torch
from torch import Tensor

LEVELS = 256
TOP = LEVELS - 1


class Bins(NamedTuple):
    """Finite edges of each element's bin, and where the bin is open-ended."""

    lower: Tensor
    upper: Tensor
    first: Tensor
    last: Tensor


def level(x: Tensor) -> Tensor:
    """Return the 8-bit value nearest to x, as a float tensor of 0..255."""
    return (x * TOP).round().clamp(0, TOP)


def bins(x: Tensor) -> Bins:
    """Return the bin of every element of x."""
    k = level(x)
    return Bins((k - 0.5) / TOP, (k + 0.5) / TOP, k == 0, k == TOP)


def level_below(x: Tensor) -> Tensor:
    """Return the largest 8-bit value not above x (-1 below zero); the step of a discrete CDF.

    A value stored as k/255 in float32 may lie a rounding error below k: a thousandth of a level is let pass.
    """
    return torch.floor(x * TOP + 1e-3).clamp(-1, TOP)
