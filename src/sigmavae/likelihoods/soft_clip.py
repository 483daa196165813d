"""The paper's two-sided soft clip of a predicted log-scale (section 3, after Chua et al., 2018)."""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn import functional as F

Bounds = tuple[float, float]


def check_bounds(name: str, bounds: Bounds) -> Bounds:
    """Return bounds that are finite and in order, or raise ValueError."""
    low, high = bounds
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"{name}={bounds}: must be two finite numbers, the lower one first")
    return low, high


def soft_clip(value: Tensor, bounds: Bounds) -> Tensor:
    """Return value kept between two bounds by softplus on either side.

    max - softplus(max - value) first, then min + softplus(value - min), as in the paper. The result never falls
    below min and exceeds max by at most ln(1 + e^(min - max)).
    """
    low, high = bounds
    value = high - F.softplus(high - value)
    return low + F.softplus(value - low)
