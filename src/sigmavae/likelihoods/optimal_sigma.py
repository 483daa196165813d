r"""The optimal sigma-VAE: a Gaussian whose variance is the mean squared error itself (section 4 of the paper).

sigma*^2 = argmax_s N(x | mu, s I) = MSE(x, mu)                            (equation "optimal")

What BatchNorm does for mean and variance this does for the scale: the batch's statistic in training, a running
average in evaluation, summed over processes when the batch is spread over several.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.refit import GaussianLikelihood
from sigmavae.likelihoods.running import RunningMean, process_rank, sum_over_processes
from sigmavae.likelihoods.support import SupportName
from sigmavae.likelihoods.support import support as _support

Source = Literal["training", "validation"]

SMALLEST_VARIANCE = 1e-12
"""Keeps a perfect reconstruction finite: a floor, not a clip, ten million times under one grey level's variance."""


class OptimalSigma(GaussianLikelihood):
    """A Gaussian whose sigma is the root mean squared error of its own reconstructions.

    `decay` is that of the running average of sigma^2 which evaluation uses. `split=True` is the paper's bias
    correction (Appendix B): the batch's even items are scored with the sigma of the odd ones and the other way
    round. `source="validation"` takes sigma from held-out data that `observe` is called with, because the error on
    training data is smaller than on unseen data; until the first such call the batch's own sigma stands in.

    sigma is a constant to autograd. At the shared optimum the gradient of the mean is the same with or without the
    path through sigma, since the derivative of the loss with respect to sigma is zero there (envelope theorem). With
    `split` or held-out data sigma is no optimum of the batch that it scores, and is held constant by choice.
    """

    def __init__(
        self,
        decay: float = 0.9,
        split: bool = False,
        source: Source = "training",
        support: SupportName = "unit",
    ) -> None:
        super().__init__(_support(support))
        if source not in ("training", "validation"):
            raise ValueError(f"source={source!r}: sigma comes from 'training' batches or from 'validation' data")
        if split and source == "validation":
            raise ValueError(
                "split=True corrects a sigma from the training batch; source='validation' needs no correction"
            )
        self.split = split
        self.held_out = source == "validation"
        self.running = RunningMean([1.0], decay)

    @property
    def sigma(self) -> Tensor:
        """The running sigma that evaluation uses."""
        return self.running.value[0].clamp(min=SMALLEST_VARIANCE).sqrt()

    def features(self, channels: int) -> int:
        """Return one feature a channel: the mean."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:
        """Return N(mean, sigma^2) with sigma from the batch in training and from the running average otherwise."""
        loc = self.door.support.squash(h)
        if self.training and x is not None:
            variance = self._training_variance(loc.detach(), x)
        else:
            variance = self.running.value[0].to(h.dtype)
        return Normal(loc, variance.clamp(min=SMALLEST_VARIANCE).sqrt(), self.door)

    def learn(self, h: Tensor, x: Tensor) -> None:
        """Update the running sigma."""
        self.running.update(_mean_square(_square_sums(self.door.support.squash(h), x)).reshape(1))

    def _training_variance(self, loc: Tensor, x: Tensor) -> Tensor:
        if self.held_out:
            own = _mean_square(_square_sums(loc, x))
            return torch.where(self.running.updates > 0, self.running.value[0].to(own.dtype), own)
        if not self.split:
            variance = _mean_square(_square_sums(loc, x))
            self.running.update(variance.reshape(1))
            return variance
        return self._split_variance(loc, x)

    def _split_variance(self, loc: Tensor, x: Tensor) -> Tensor:
        # An item's place in the whole batch decides, so that it does not matter over how many processes that is spread.
        odd = (torch.arange(x.shape[0], device=x.device) + process_rank() * x.shape[0]) % 2 == 1
        side = torch.stack([~odd, odd]).to(x.dtype)  # rows: even, odd
        # A sum and no matrix product: that would be rounded where the user lets matrix products be.
        totals = sum_over_processes((side.unsqueeze(2) * _per_item(loc, x)).sum(1))  # columns: squares, count
        self.running.update(_mean_square(totals.sum(0)).reshape(1))
        # A half without items (a batch of one) leaves the other half to score itself.
        halves = torch.where(totals[:, 1:] > 0, totals, totals.flip(0))
        variance = torch.where(odd, _mean_square(halves[0]), _mean_square(halves[1]))
        return variance.reshape(-1, *[1] * (x.dim() - 1))


def _per_item(loc: Tensor, x: Tensor) -> Tensor:
    """Return (B, 2): each item's sum of squared errors and its number of elements."""
    squares = (x - loc).square().flatten(1).sum(1)
    return torch.stack([squares, torch.full_like(squares, x.shape[1:].numel())], dim=1)


def _square_sums(loc: Tensor, x: Tensor) -> Tensor:
    """Return (2,): the sum of squared errors and the number of elements, over all processes."""
    return sum_over_processes(_per_item(loc, x).sum(0))


def _mean_square(totals: Tensor) -> Tensor:
    return totals[0] / totals[1]
