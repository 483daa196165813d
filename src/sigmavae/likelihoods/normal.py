"""The normal distribution."""

from __future__ import annotations

import math

import torch
from torch import Tensor

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
