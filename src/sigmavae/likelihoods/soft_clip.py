"""The paper's two-sided soft clip of a predicted log-scale (section 3, after Chua et al., 2018)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
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
    if torch.compiler.is_compiling():  # a compiler cuts what is held by itself
        return _clip(value, *bounds)
    clipped: Tensor = _SoftClip.apply(value, *bounds)  # type: ignore[no-untyped-call]
    return clipped


class _SoftClip(Function):
    """The clip, which keeps its input and nothing of what it computes on the way."""

    generate_vmap_rule = True

    @staticmethod
    def forward(value: Tensor, low: float, high: float) -> Tensor:
        return _clip(value, low, high)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float, float], output: Tensor) -> None:  # noqa: ARG004
        value, ctx.low, ctx.high = inputs
        ctx.save_for_backward(value)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        (value,) = ctx.saved_tensors
        above = ctx.high - value
        return slope * torch.sigmoid(above) * torch.sigmoid(ctx.high - F.softplus(above) - ctx.low), None, None


def _clip(value: Tensor, low: float, high: float) -> Tensor:
    return low + F.softplus(high - F.softplus(high - value) - low)
