r"""Gaussian and logistic decoders on the 256 grey values, with one learned scale (Appendix D, "discretised").

P(k) = F((k + 1/2) / 255) - F((k - 1/2) / 255), the first and last bins open-ended (Kingma et al., 2016).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from sigmavae.likelihoods.base import Likelihood
from sigmavae.likelihoods.bins import TOP, level, level_below
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door
from sigmavae.likelihoods.logistic import Logistic
from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.support import UNIT
from sigmavae.likelihoods.tiles import refuse_second_derivatives


class Discretized(Conditional):
    """The distribution of a continuous variable after rounding to the nearest of the 256 values."""

    def __init__(self, continuous: Normal | Logistic) -> None:
        super().__init__(continuous.loc, continuous.loc.shape[1:], continuous.door)
        self.continuous = continuous
        self.scale = continuous.scale

    @property
    def mean(self) -> Tensor:
        """The mean of the clipped continuous variable: the rounded one's to within half a grey level."""
        return self.continuous.clipped_mean()

    @property
    def variance(self) -> Tensor:
        """The variance of the continuous variable, before it is clipped and rounded."""
        return self.continuous.variance

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw samples that are 8-bit values over 255."""
        return level(self.continuous.sample(lead)) / TOP

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element: a step at each 8-bit value."""
        k = level_below(value)
        inside = self.continuous._cdf((k + 0.5) / TOP)
        return torch.where(k >= TOP, 1.0, torch.where(k < 0, 0.0, inside))

    def _log_terms(self, x: Tensor) -> Tensor:
        p = self.continuous
        # Samples, (*sample, B, ...), are not what is trained on; and a compiler cuts what is held by itself.
        if not torch.is_grad_enabled() or x.dim() > p.loc.dim() or torch.compiler.is_compiling():
            return p._bin_log_terms(x)
        total: Tensor = _LogMass.apply(type(p), x, p.loc, p.scale, p.door)  # type: ignore[no-untyped-call]
        return total

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        return self.continuous._bin_log_terms(x)


class _LogMass(Function):
    """ln P(x) of each item, (B,), whose gradient is made at once: all that is kept is one number for each of loc.

    Item by item, since the gradient that will come from above is one number an item. It is differentiable once.
    """

    @staticmethod
    def forward(
        ctx: Any, family: type[Normal] | type[Logistic], x: Tensor, loc: Tensor, scale: Tensor, door: Door
    ) -> Tensor:
        batch = [-1, *[1] * (loc.dim() - 1)]
        loc, scales = loc.detach().requires_grad_(), scale.detach().repeat(loc.shape[0]).requires_grad_()
        with torch.enable_grad():
            total = family(loc, scales.reshape(batch), door)._bin_log_terms(x).flatten(1).sum(1)
        ctx.save_for_backward(*torch.autograd.grad(total, (loc, scales), torch.ones_like(total)))
        return total.detach()

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        refuse_second_derivatives()
        to_loc, to_scales = ctx.saved_tensors
        return None, None, slope.reshape(-1, *[1] * (to_loc.dim() - 1)) * to_loc, (slope * to_scales).sum(), None


class DiscretizedSigma(Likelihood):
    """A discretised location-scale family with one learned log-scale, starting at `scale`."""

    discrete = True

    def __init__(self, family: type[Normal] | type[Logistic], scale: float) -> None:
        super().__init__(UNIT)
        if not (0 < scale < math.inf):
            raise ValueError(f"scale={scale}: the initial scale is a positive number")
        self.family = family
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def features(self, channels: int) -> int:
        """Return one feature a channel: the location."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Discretized:  # noqa: ARG002
        """Return the discretised distribution around the squashed location."""
        scale = torch.exp(self.log_scale.to(h.dtype))
        return Discretized(self.family(torch.sigmoid(h), scale, self.door))


def discretized_gaussian(scale: float = 1.0) -> DiscretizedSigma:
    """Return the discretised Gaussian."""
    return DiscretizedSigma(Normal, scale)


def discretized_logistic(scale: float = 1.0) -> DiscretizedSigma:
    """Return the discretised logistic."""
    return DiscretizedSigma(Logistic, scale)
