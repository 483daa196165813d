r"""A Gaussian's scale fitted anew, by one exact pass over data such as a validation set.

With every sigma multiplied by c, ln p(x) is largest for c^2 = mean of ((x - mu) / sigma)^2: of one shared sigma this
makes the root mean squared error itself, of predicted ones it keeps the proportions.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import torch
from torch import Tensor

from sigmavae.likelihoods.base import Likelihood, full_precision
from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.running import sum_over_processes

_SMALLEST_FACTOR = 1e-6  # perfect reconstructions leave a density that is finite


class GaussianLikelihood(Likelihood):
    """A likelihood whose distributions are normal, with scales that do not look at x in evaluation."""

    discrete = False

    @torch.no_grad()
    def refit(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> Widened:
        """Return this likelihood with its scales multiplied by what fits the pairs (h, x) best."""
        frozen = copy.deepcopy(self).eval()
        totals: Tensor | None = None
        for h, x in pairs:
            p = frozen(h, x)
            assert isinstance(p, Normal)
            squares = p.standardise(x.to(p.loc.dtype)).double().square()
            new = torch.stack([squares.sum(), torch.full_like(squares.sum(), squares.numel())])
            totals = new if totals is None else totals + new
        if totals is None:
            raise ValueError("refit needs at least one batch (h, x)")
        squares, count = sum_over_processes(totals)
        return Widened(frozen, (squares / count).sqrt().clamp(min=_SMALLEST_FACTOR))


class Widened(Likelihood):
    """A Gaussian likelihood in evaluation, its scales multiplied by a factor."""

    discrete = False
    factor: Tensor

    def __init__(self, inner: GaussianLikelihood, factor: Tensor) -> None:
        super().__init__(inner.door.support)
        self.inner = inner
        self.register_buffer("factor", factor)

    def features(self, channels: int) -> int:
        """Return the features of the likelihood inside."""
        return self.inner.features(channels)

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:
        """Return the normal of the likelihood inside, wider or narrower."""
        p = self.inner.condition(full_precision(h), x)
        assert isinstance(p, Normal)
        return Normal(p.loc, p.scale * self.factor.to(p.loc.dtype), self.door)
