"""What a model says about every 8-bit value before it sees it: by its decoder at one z, or by all of its prior.

Data are 8-bit whatever the likelihood, so all are asked for the same, P(K < k) and P(K <= k) of the value k. A density
answers with the masses of its bins, the first and last open-ended, and bernoulli with its renormalised masses: those
of `bin_log_prob`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sigmavae.likelihoods import Conditional
from sigmavae.likelihoods.bins import LEVELS, TOP, level
from sigmavae.likelihoods.running import sum_over_processes
from sigmavae.metrics.items import fitting, numbers
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

ENDS = (0.05, 0.95)
"""Between these quantiles lies the central 90 % interval, whose width is the sharpness."""

_AT_ONCE = 1 << 20  # values of a CDF in memory: a batch of small images, or one level of a batch of large ones
_HALVINGS = 8  # of 256 levels


class Prediction(NamedTuple):
    """What was said about every value of x (B, ...), and nothing that was learned from x itself."""

    below: Tensor
    """P(K < k), where k is the value of x."""
    upto: Tensor
    """P(K <= k)."""
    mean: Tensor
    variance: Tensor | None
    """Of x, where there is one to name; not finite where it does not exist."""
    width: Tensor | None
    """Of the central 90 % interval, in data units; None where it is the same for all items."""


def of_decoder(p: Conditional, x: Tensor) -> Prediction:
    """Return what a decoder says; its variance is that of a density on the line, before clipping and rounding."""
    below = torch.where(level(x) > 0, p.bin_cdf(x - 1 / TOP), 0.0)
    return Prediction(below, p.bin_cdf(x), p.mean, None if p.scale is None else p.variance, _width(p))


class PriorPredictive:
    """F(k) = 1/M sum_m P(K <= k | z_m), z_m ~ p(z): one CDF a pixel position, (256, *shape) in float64."""

    def __init__(self, cdf: Tensor) -> None:
        self._padded = torch.cat([torch.zeros_like(cdf[:1]), cdf])
        lower, upper = ((cdf < end).sum(0) for end in ENDS)  # the first levels that reach an end
        self.width = (upper - lower).double() / TOP
        # E K = sum_k P(K > k), and E K^2 = sum_k (2 k + 1) P(K > k).
        above = 1 - cdf[:TOP]
        weights = 2 * torch.arange(TOP, dtype=cdf.dtype, device=cdf.device) + 1
        self.mean = above.sum(0) / TOP
        self.variance = (weights.reshape(-1, *[1] * (cdf.dim() - 1)) * above).sum(0) / TOP**2 - self.mean**2

    def at(self, x: Tensor) -> Prediction:
        """Return what it says about the values of x."""
        k = level(x).long()
        below, upto = self._padded.gather(0, k), self._padded.gather(0, k + 1)
        return Prediction(below, upto, self.mean.expand_as(below), self.variance.expand_as(below), None)


@torch.no_grad()
def prior_predictive(
    model: LatentModel, seed: int, samples: int, first: int, *, batch: int, progress: Progress | None = None
) -> PriorPredictive:
    """Average the decoder's CDF over prior samples, whose noise belongs to items numbered from `first`.

    All 256 levels cost less than one level for each of thousands of images would, and need the memory of one picture
    for each level, however many samples there are.
    """
    total = torch.zeros(LEVELS, *model.shape, dtype=torch.float64, device=model.device)
    name = f"prior predictive of {samples} samples"
    for items in numbers(samples, fitting(model, batch), model.device, progress, name):
        p = model.likelihood(model.generate(len(items), ItemNoise(seed, items + first)))
        shape = p.batch_shape + p.event_shape
        for levels in torch.arange(LEVELS, device=total.device).split(max(1, _AT_ONCE // shape.numel())):
            values = (levels / TOP).reshape(-1, *[1] * len(shape)).expand(len(levels), *shape)
            total[levels] += p.bin_cdf(values).double().sum(1)
    return PriorPredictive(sum_over_processes(total) / samples)


def _width(p: Conditional) -> Tensor:
    """Return the width of the central 90 % interval, both quantiles searched for among the 256 levels at once."""
    shape = (len(ENDS), *p.batch_shape, *p.event_shape)
    wanted = p.mean.new_tensor(ENDS).reshape(-1, *[1] * (len(shape) - 1))
    low, high = p.mean.new_zeros(shape), p.mean.new_full(shape, TOP)
    for _ in range(_HALVINGS):
        middle = torch.floor((low + high) / 2)
        enough = p.bin_cdf(middle / TOP) >= wanted
        low, high = torch.where(enough, low, middle + 1), torch.where(enough, middle, high)
    return (high[1] - high[0]) / TOP
