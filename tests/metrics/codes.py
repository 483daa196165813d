"""Posteriors that are what a test wants them to be, with images and a model that lead to them."""

import math

import numpy as np
import torch
from torch import Tensor

from sigmavae.likelihoods.gaussian import FixedSigma
from sigmavae.metrics.posteriors import Posteriors
from sigmavae.models import GaussianLatentModel


class Table(GaussianLatentModel):
    """An encoder that reads an image's number from its bytes and looks its posterior up."""

    def __init__(self, q: Posteriors) -> None:
        super().__init__((1, 1, 3), FixedSigma(1.0), q.mean.shape[1])
        self.means, self.log_variances = torch.nn.Parameter(q.mean), torch.nn.Parameter(q.log_variance)

    def images(self) -> np.ndarray:
        numbers = np.arange(len(self.means))
        return np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], 1).astype(np.uint8).reshape(-1, 1, 1, 3)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        number = (x.flatten(1) * 255).round().long() @ torch.tensor([1 << 16, 1 << 8, 1])
        return self.means[number], self.log_variances[number]

    def decode(self, z: Tensor) -> Tensor:
        raise NotImplementedError


def standard(rate: float, count: int, d: int, seed: int = 0) -> Posteriors:
    """Return posteriors of a rate whose aggregate, for many images, is N(0, I)."""
    variance = math.exp(-2 * rate / d)
    return spread((1 - variance) ** 0.5 * normal(count, d, seed), variance)


def two_modes(count: int, d: int, away: float, variance: float, seed: int = 0) -> Posteriors:
    """Return posteriors with the aggregate 1/2 N(away, 1 - away^2) + 1/2 N(-away, 1 - away^2) in each dimension.

    Mean 0 and variance 1: to a Gaussian it looks like the prior.
    """
    sign = 2.0 * torch.randint(0, 2, (count, d), generator=torch.Generator().manual_seed(seed + 1)) - 1
    return spread(away * sign + (1 - away**2 - variance) ** 0.5 * normal(count, d, seed), variance)


def spread(mean: Tensor, variance: float) -> Posteriors:
    return Posteriors(mean, torch.full_like(mean, math.log(variance)))


def normal(count: int, d: int, seed: int) -> Tensor:
    return torch.randn(count, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
