"""The logistic distribution."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.location_scale import LocationScale
from sigmavae.likelihoods.special import log1mexp


class Logistic(LocationScale):
    r"""The logistic: P(X <= x) = sigmoid((x - loc) / scale)."""

    @property
    def variance(self) -> Tensor:
        """The variance, pi^2 scale^2 / 3."""
        return (self.scale.square() * (math.pi**2 / 3)).expand_as(self.loc)

    def standard_log_pdf(self, z: Tensor) -> Tensor:
        """Return ln of the standard logistic density, sigmoid(z) sigmoid(-z)."""
        return F.logsigmoid(z) + F.logsigmoid(-z)

    def standard_cdf(self, z: Tensor) -> Tensor:
        """Return sigmoid(z)."""
        return torch.sigmoid(z)

    def standard_log_bin(self, a: Tensor, b: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Return ln(sigmoid(b) - sigmoid(a)), open below where first and above where last.

        The difference is sigmoid(b) sigmoid(-a) (1 - e^(a - b)): a product, so nothing cancels anywhere.
        """
        width = log1mexp(b - a)  # finite even where a location far outside the data makes a and b the same number
        below = torch.where(last, 0.0, F.logsigmoid(b))
        above = torch.where(first, 0.0, F.logsigmoid(-a))
        return below + above + torch.where(first | last, 0.0, width)

    def standard_sample(self, shape: torch.Size) -> Tensor:
        """Draw standard logistic noise: the logit of a uniform variable kept off 0 and 1."""
        eps = torch.finfo(self.loc.dtype).eps
        u = torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device).clamp(eps, 1 - eps)
        return torch.log(u) - torch.log1p(-u)

    def clipped_mean(self) -> Tensor:
        """Return the mean after clipping to [0, 1], from the antiderivative softplus of sigmoid."""
        mean = self.scale * (F.softplus(self.loc / self.scale) - F.softplus((self.loc - 1) / self.scale))
        return mean.clamp(0, 1)  # of rounding errors
