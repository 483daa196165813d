"""A diagonal Gaussian posterior with a standard normal prior."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.noise import Noise


def draw(mean: Tensor, log_variance: Tensor, noise: Noise = torch.randn_like) -> Tensor:
    """Return a reparameterised sample of N(mean, e^log_variance)."""
    return mean + torch.exp(0.5 * log_variance) * noise(mean)


def kl_to_standard_normal(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return KL(N(mean, e^log_variance) || N(0, I)) in nats, summed over all but the batch dimension."""
    # expm1(v) - v is e^v - 1 - v without losing the digits of a nearly standard posterior.
    terms = 0.5 * (mean.square() + torch.expm1(log_variance) - log_variance)
    return terms.flatten(1).sum(1)


def log_ratio_to_standard_normal(z: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return ln N(z; mean, e^log_variance) - ln N(z; 0, I) in nats, summed over all but the batch dimension."""
    deviation = (z - mean).square() * torch.exp(-log_variance)
    return (0.5 * (z.square() - deviation - log_variance)).flatten(1).sum(1)
