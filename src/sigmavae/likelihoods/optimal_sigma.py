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

VIDEO = 5
"""Dimensions of a batch of videos (B, C, T, H, W)."""

SMALLEST_VARIANCE = 1e-12
"""Keeps a perfect reconstruction finite: a floor, not a clip, ten million times under one grey level's variance."""


class OptimalSigma(GaussianLikelihood):
    """A Gaussian whose sigma is the root mean squared error of its own reconstructions.

    `decay` is that of the running average of sigma^2 which evaluation uses. `split=True` is the paper's bias
    correction (Appendix B): the batch's even items are scored with the sigma of the odd ones and the other way
    round. `source="validation"` takes sigma from held-out data that `observe` is called with, because the error on
    training data is smaller than on unseen data; until the first such call the batch's own sigma stands in.
    `frames=n` gives each of the first n frames of videos (B, C, T, H, W) a sigma of its own, and all later ones that
    of the n-th; frames that no video had yet take that of the last one seen.

    sigma is a constant to autograd. At the shared optimum the gradient of the mean is the same with or without the
    path through sigma, since the derivative of the loss with respect to sigma is zero there (envelope theorem). With
    `split` or held-out data sigma is no optimum of the batch that it scores, and is held constant by choice.
    """

    def __init__(
        self,
        decay: float = 0.9,
        split: bool = False,
        source: Source = "training",
        frames: int | None = None,
        support: SupportName = "unit",
    ) -> None:
        super().__init__(_support(support))
        if source not in ("training", "validation"):
            raise ValueError(f"source={source!r}: sigma comes from 'training' batches or from 'validation' data")
        if split and source == "validation":
            raise ValueError(
                "split=True corrects a sigma from the training batch; source='validation' needs no correction"
            )
        if frames is not None and (frames < 1 or split):
            raise ValueError(f"frames={frames}: must be 1 or more, and without split=True")
        self.split = split
        self.held_out = source == "validation"
        self.frames = frames
        self.running = RunningMean([1.0] * (frames or 1), decay, each=frames is not None)

    @property
    def sigma(self) -> Tensor:
        """The running sigma that evaluation uses, one for all or (frames,)."""
        return self._one_or_each(self._known()).clamp(min=SMALLEST_VARIANCE).sqrt()

    def features(self, channels: int) -> int:
        """Return one feature a channel: the mean."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:
        """Return N(mean, sigma^2) with sigma from the batch in training and from the running average otherwise."""
        loc = self.door.support.squash(h)
        if self.training and x is not None:
            variance = self._training_variance(loc.detach(), x)
        else:
            variance = self._one_or_each(self._known().to(h.dtype))
        if self.frames is not None:
            variance = variance[self._group(h)].reshape(-1, 1, 1)
        return Normal(loc, variance.clamp(min=SMALLEST_VARIANCE).sqrt(), self.door)

    def learn(self, h: Tensor, x: Tensor) -> None:
        """Update the running sigma."""
        self._update(self._totals(self.door.support.squash(h), x))

    def _training_variance(self, loc: Tensor, x: Tensor) -> Tensor:
        if self.split:
            return self._split_variance(loc, x)
        totals = self._totals(loc, x)
        own = _mean_square(totals)
        if self.held_out:
            own = torch.where(self.running.updates > 0, self.running.value.to(own.dtype), own)
        else:
            self._update(totals)
        return self._one_or_each(own)

    def _totals(self, loc: Tensor, x: Tensor) -> Tensor:
        """Return (2, 1), or (2, frames): sums of squared errors and numbers of elements, over all processes."""
        if self.frames is None:
            return _square_sums(loc, x).unsqueeze(1)
        squares = (x - loc).square().movedim(2, 0).flatten(1).sum(1)
        each = torch.stack([squares, torch.full_like(squares, x[:, :, 0].numel())])
        return sum_over_processes(each.new_zeros(2, self.frames).index_add(1, self._group(x), each))

    def _update(self, totals: Tensor) -> None:
        # Frames that a shorter video lacks keep what is known of them.
        there = None if self.frames is None else totals[1] > 0
        self.running.update(_mean_square(totals) if there is None else totals[0] / totals[1].clamp(min=1), there)

    def _known(self) -> Tensor:
        """Return the running variances; those of frames never seen are that of the last one seen."""
        value = self.running.value
        if self.frames is None:
            return value
        last = (self.running.updates > 0).sum().clamp(min=1) - 1
        return value[torch.arange(self.frames, device=value.device).minimum(last)]

    def _group(self, x: Tensor) -> Tensor:
        """Return which sigma each frame of videos (B, C, T, H, W) has, (T,)."""
        if x.dim() != VIDEO:
            raise ValueError(f"frames={self.frames} is for videos (B, C, T, H, W), and x is {tuple(x.shape)}")
        return torch.arange(x.shape[2], device=x.device).clamp(max=(self.frames or 1) - 1)

    def _one_or_each(self, values: Tensor) -> Tensor:
        return values[0] if self.frames is None else values

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
