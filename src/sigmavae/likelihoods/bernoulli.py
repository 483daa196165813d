r"""The Bernoulli decoder that treats intensities as probabilities (Gregor et al., 2015).

ln p(x) = x ln m + (1 - x) ln(1 - m) is a mass for x in {0, 1} and no distribution over intensities in between. Its
mass for 8-bit data is therefore this value renormalised over the 256 values: with logit l, P(k) is proportional to
e^(l k / 255), a geometric series whose sum is known.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.base import Likelihood
from sigmavae.likelihoods.bins import LEVELS, TOP, level
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door
from sigmavae.likelihoods.special import log1mexp
from sigmavae.likelihoods.support import UNIT


class Coin(Conditional):
    """A probability of 1 for each element."""

    def __init__(self, logits: Tensor, door: Door) -> None:
        super().__init__(logits, logits.shape[1:], door)
        self.logits = logits

    @property
    def mean(self) -> Tensor:
        """The probability of a one."""
        return torch.sigmoid(self.logits)

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw zeros and ones."""
        return torch.bernoulli(self.mean.expand(self._extended_shape(lead)))

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) of the binary variable."""
        inside = torch.sigmoid(-self.logits).expand_as(value)
        return torch.where(value >= 1, 1.0, torch.where(value < 0, 0.0, inside))

    def _log_terms(self, x: Tensor) -> Tensor:
        return -F.binary_cross_entropy_with_logits(self.logits.expand_as(x), x, reduction="none")

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        # By symmetry take the larger end as reference: the series is then sum_j e^(-|l| j / 255), j = 0..255.
        size = self.logits.abs().clamp(min=1e-6)
        log_series = log1mexp(size * (LEVELS / TOP)) - log1mexp(size / TOP)
        # Where the series is flat, its first order: the mean of j / 255 is a half.
        log_series = torch.where(self.logits.abs() < 1e-6, math.log(LEVELS) - self.logits.abs() / 2, log_series)
        # max(l, 0) as (l + |l|) / 2, whose derivative at zero is the mean of both sides.
        exponent = self.logits * (level(x) / TOP - 0.5) - self.logits.abs() / 2
        return exponent - log_series

    def _bin_cdf(self, k: Tensor) -> Tensor:
        # A quotient of two such series, of n and of 256 terms, counted from the end where the terms are small.
        size = self.logits.abs().clamp(min=1e-6)
        rising = self.logits > 0
        terms = torch.where(rising, TOP - k, k + 1)
        share = torch.expm1(-size * terms / TOP) / torch.expm1(-size * (LEVELS / TOP))
        return torch.where(rising, 1 - share, share)


class Bernoulli(Likelihood):
    """One logit a value, trained with binary cross-entropy on intensities."""

    discrete = True

    def __init__(self) -> None:
        super().__init__(UNIT)

    def features(self, channels: int) -> int:
        """Return one feature a channel: the logit."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Coin:  # noqa: ARG002
        """Return a coin for every element."""
        return Coin(h, self.door)
