"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sigmavae.likelihoods.location_scale import LocationScale
from sigmavae.likelihoods.special import log_bin, near_log_bin

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
_NEAR = 11.0  # deviations: float32 holds Phi(-11) = 2e-28, and a billionth of it


class Normal(LocationScale):
    r"""The normal: ln p(x) = -(x - loc)^2 / (2 scale^2) - ln scale - ln(2 pi) / 2."""

    @property
    def variance(self) -> Tensor:
        """The variance, (B, C, *S)."""
        return self.scale.square().expand(self.loc.shape)

    def _log_terms(self, x: Tensor) -> Tensor:
        if torch.compiler.is_compiling():  # a compiler cuts what is held by itself
            return super()._log_terms(x)
        terms: Tensor = _LogDensity.apply(x, self.loc, self.scale)  # type: ignore[no-untyped-call]
        return terms

    def standard_log_pdf(self, z: Tensor) -> Tensor:
        """Return ln of the standard normal density."""
        return -0.5 * z * z - _HALF_LOG_2PI

    def standard_cdf(self, z: Tensor) -> Tensor:
        """Return Phi(z) = erfc(-z / sqrt 2) / 2, exact in the lower tail."""
        return 0.5 * torch.erfc(z * -_SQRT_HALF)

    def standard_log_bin(self, a: Tensor, b: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Return ln(Phi(b) - Phi(a)), open below where first and above where last."""
        if _all_near(a, b):
            return near_log_bin(self.standard_cdf, a, b, first, last)
        return log_bin(torch.special.log_ndtr, a, b, first, last)

    def standard_sample(self, shape: torch.Size) -> Tensor:
        """Draw standard normal noise."""
        return torch.randn(shape, dtype=self.loc.dtype, device=self.loc.device)

    def clipped_mean(self) -> Tensor:
        """Return the mean after clipping to [0, 1], from the antiderivative z Phi(z) + phi(z) of Phi."""
        a, b = self.loc / self.scale, (self.loc - 1) / self.scale
        mean = self.scale * (self._antiderivative(a) - self._antiderivative(b))
        return mean.clamp(0, 1)  # of rounding errors

    def _antiderivative(self, z: Tensor) -> Tensor:
        cdf: Tensor = torch.special.ndtr(z)
        return z * cdf + torch.exp(self.standard_log_pdf(z))


def _all_near(a: Tensor, b: Tensor) -> bool:
    """Return whether all bins lie where Phi itself can be told from zero, on a CPU, which has to compute its logarithm.

    Its vectors know erfc, but not ln Phi: a fifth of the time. A GPU would wait for the answer.
    """
    if a.device.type != "cpu" or torch.compiler.is_compiling() or a.numel() == 0:
        return False
    low, high = torch.aminmax((a + b).detach())
    return bool(low > -2 * _NEAR) and bool(high < 2 * _NEAR)


class _LogDensity(Function):
    """ln p(x), which keeps its inputs and nothing of what it computes on the way."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        z = (x - loc) / scale
        return z.square_().mul_(-0.5).sub_(torch.log(scale) + _HALF_LOG_2PI)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        x, loc, scale = ctx.saved_tensors
        slope = slope / scale
        z = (x - loc) / scale
        to_loc = slope * z
        to_x = (-to_loc).sum_to_size(x.shape) if ctx.needs_input_grad[0] else None
        to_scale = (to_loc * z - slope).sum_to_size(scale.shape) if ctx.needs_input_grad[2] else None
        return to_x, to_loc.sum_to_size(loc.shape), to_scale
