"""The 256-way categorical decoder: any distribution over the grey values (section 3.2 of the paper)."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.bins import LEVELS, TOP, level, level_below
from sigmavae.likelihoods.draw import draw_categories
from sigmavae.likelihoods.support import UNIT
from sigmavae.likelihoods.tiles import Pixels, Pixelwise


class Categories(Pixels):
    """A free probability for each of the 256 values of each element; logits are (B, 256, C, *S)."""

    def __init__(self, likelihood: Pixelwise, h: Tensor) -> None:
        logits = h.unflatten(1, (LEVELS, -1))
        super().__init__(likelihood, h, logits.shape[2:], likelihood.door)
        self.logits = logits

    @property
    def log_masses(self) -> Tensor:
        """The log-mass of every value, (B, 256, C, *S)."""
        return F.log_softmax(self.logits, dim=1)

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        values = torch.arange(LEVELS, dtype=self.log_masses.dtype, device=self.log_masses.device) / TOP
        # A sum and no matrix product: that would be rounded to half precision under autocast.
        return (self.log_masses.exp() * values.reshape(-1, *[1] * len(self.event_shape))).sum(1)

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw 8-bit values over 255."""
        drawn = draw_categories(self.log_masses.expand(lead + self.log_masses.shape), len(lead) + 1)
        return drawn.to(self.log_masses.dtype) / TOP

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element."""
        k = level_below(value)
        return torch.where(k < 0, 0.0, self._pick(self._cumulative, k.clamp(min=0)).clamp(max=1.0))

    @cached_property
    def _cumulative(self) -> Tensor:
        return self.log_masses.exp().cumsum(1)

    def _log_terms(self, x: Tensor) -> Tensor:
        return self._pick(self.log_masses, level(x))

    def _pick(self, table: Tensor, k: Tensor) -> Tensor:
        """Return table's entry for level k of every element; k may have leading sample dimensions."""
        dim = -len(self.event_shape) - 1
        index = k.long().unsqueeze(dim)
        return table.expand(*index.shape[:dim], *table.shape[1:]).gather(dim, index).squeeze(dim)


class Categorical(Pixelwise):
    """256 logits a value: the most expressive of the decoders, and the largest in memory."""

    discrete = True

    def __init__(self) -> None:
        super().__init__(UNIT)

    def features(self, channels: int) -> int:
        """Return 256 features a channel, ordered value by value."""
        return LEVELS * channels

    def condition(self, h: Tensor, x: Tensor | None) -> Categories:  # noqa: ARG002
        """Return the categorical distribution of the softmax of the features."""
        return Categories(self, h)

    def slope(self, h: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient: one at the value that was seen, less the mass of each value."""
        weight = weight.reshape(-1, 1, 1, 1)
        slope = F.softmax(h.unflatten(1, (LEVELS, x.shape[1])), dim=1).mul_(-weight)
        seen = level(x).long().unsqueeze(1)
        return slope.scatter_add_(1, seen, weight.expand_as(seen)).flatten(1, 2)
