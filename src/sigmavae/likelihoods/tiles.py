"""Likelihoods with many features a pixel, scored tile by tile: what they compute on the way is never held as a whole.

A pixel of a `Pixelwise` likelihood is described by its own features alone, so ln p(x) is a sum over tiles of pixels.
The forward pass keeps nothing but its inputs; the backward pass computes each tile again, with its gradient. With the
decoder's last layer, which is 1x1, as part of the tile (`head.py`), not even the features h exist as a whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F

from sigmavae.likelihoods.base import Likelihood, full_arithmetic
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door

Tile = tuple[slice, slice, slice]
"""Where a tile lies in (B, F, N)."""

BUDGET = 8 << 20
"""Bytes of features h in a tile: measured on CPUs, where a tile and its gradient then stay in the cache."""


class Pixelwise(Likelihood):
    """A likelihood whose pixels are described each by its own features alone."""

    @abstractmethod
    def condition(self, h: Tensor, x: Tensor | None) -> Pixels:
        """Return p(x | h), which does not read x."""

    def score(self, h: Tensor, x: Tensor) -> Tensor:
        """Return ln p(x) of each item's pixels, (B,), for features (B, features(C), N)."""
        return self.condition(h, None)._log_terms(x).flatten(1).sum(1)

    @abstractmethod
    def slope(self, h: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient of the sum of weight (B,) times `score` with respect to h, in closed form."""


class Pixels(Conditional):
    """What a `Pixelwise` likelihood returns: masses, whose log-probability of data is summed over tiles."""

    def __init__(self, likelihood: Pixelwise, h: Tensor, event: torch.Size, door: Door) -> None:
        super().__init__(h, event, door)
        self._likelihood, self._h = likelihood, h

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-mass of x in nats, summed over the event."""
        # A compiler cuts what is held by itself; samples share what the whole computes.
        if torch.compiler.is_compiling() or value.dim() > self._h.dim():
            return super().log_prob(value)
        return log_prob(self._likelihood, self._enter(value), self._h)

    def bin_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-mass of the 8-bit values nearest to x: these masses are on nothing else."""
        return self.log_prob(value)

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        return self._log_terms(x)


def log_prob(
    likelihood: Pixelwise,
    x: Tensor,
    inputs: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    budget: int = BUDGET,
) -> Tensor:
    """Return ln p(x), (B,), for features h = weight * inputs + bias at every pixel; without a weight h = inputs.

    It is differentiable once, with respect to inputs, weight and bias.
    """
    total: Tensor = _LogProb.apply(likelihood, budget, x.to(inputs.dtype), inputs, weight, bias)  # type: ignore[no-untyped-call]
    return total


def cut(inputs: Tensor, features: int, budget: int) -> Iterator[Tile]:
    """Cut inputs (B, F, N) into whole items, or parts of one, whose features take no more than the budget."""
    batch, _, pixels = inputs.shape
    most = max(1, budget // (features * inputs.element_size()))
    items = max(1, most // max(1, pixels))
    for first in range(0, batch, items):
        for start in range(0, pixels, most):
            yield slice(first, first + items), slice(None), slice(start, start + most)


class _LogProb(Function):
    @staticmethod
    def forward(
        ctx: Any,
        likelihood: Pixelwise,
        budget: int,
        x: Tensor,
        inputs: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        ctx.likelihood = likelihood
        ctx.budget = budget
        ctx.save_for_backward(x, inputs, weight, bias)  # as they came: a cropped map is copied to be flat
        x, inputs = flat(x), flat(inputs)
        total = inputs.new_zeros(inputs.shape[0])
        with full_arithmetic(inputs):
            for at in cut(inputs, likelihood.features(x.shape[1]), budget):
                total[at[0]] += likelihood.score(apply_layer(inputs[at], weight, bias), x[at])
        return total

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_derivatives()
        x, whole, weight, bias = ctx.saved_tensors
        x, inputs = flat(x), flat(whole)
        to_inputs = torch.empty_like(inputs)
        to_weight, to_bias = (None, None) if weight is None else (torch.zeros_like(weight), torch.zeros_like(bias))
        with full_arithmetic(inputs):
            for at in cut(inputs, ctx.likelihood.features(x.shape[1]), ctx.budget):
                tile = inputs[at]
                to_h = ctx.likelihood.slope(apply_layer(tile, weight, bias), x[at], slope[at[0]])
                if to_weight is None or to_bias is None:
                    to_inputs[at] = to_h
                else:
                    to_inputs[at] = torch.matmul(weight.T, to_h)
                    to_weight += torch.einsum("bkn,bfn->kf", to_h, tile)
                    to_bias += to_h.sum((0, 2))
        return None, None, None, to_inputs.reshape(whole.shape), to_weight, to_bias


def apply_layer(inputs: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return the features h (B, K, N) of inputs (B, F, N); inputs themselves without a weight."""
    return inputs if weight is None else F.conv1d(inputs, weight.unsqueeze(2), bias)


def flat(t: Tensor) -> Tensor:
    """Return (B, C, *S) as (B, C, N)."""
    return t.flatten(2) if t.dim() > 2 else t.unsqueeze(2)


def refuse_second_derivatives() -> None:
    """Raise RuntimeError in a backward pass that is itself to be differentiated."""
    # torch's once_differentiable lets pass a gradient from above that is a constant, as that of a sum is.
    if torch.is_grad_enabled():
        raise RuntimeError("log_prob of this likelihood can be differentiated once, not with create_graph=True")
