"""A diagonal Gaussian over maps, and what turns a network's raw output into its log-variance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.soft_clip import soft_clip
from sigmavae.models.gaussian_latent import draw
from sigmavae.noise import Noise

BOUNDS = (-8.0, 8.0)
"""Of a bounded log-variance: standard deviations from 0.018 to 55."""

LogVariance = Literal["bounded", "softplus", "free"]


@dataclass(frozen=True)
class Diagonal:
    """N(mean, e^log_variance), each (B, C, H, W)."""

    mean: Tensor
    log_variance: Tensor

    def draw(self, noise: Noise = torch.randn_like) -> Tensor:
        """Return a reparameterised sample."""
        return draw(self.mean, self.log_variance, noise)

    def log_ratio(self, z: Tensor, other: Diagonal) -> Tensor:
        """Return ln of this density over another's at z in nats, (B,)."""
        terms = other._terms(z) - self._terms(z)
        return 0.5 * terms.flatten(1).sum(1)

    def _terms(self, z: Tensor) -> Tensor:
        return (z - self.mean).square() * torch.exp(-self.log_variance) + self.log_variance


def bounded(raw: Tensor) -> Tensor:
    """Return a log-variance within BOUNDS: a prior far too narrow cannot make a sample cost without limit."""
    return soft_clip(raw, BOUNDS)


def softplus(raw: Tensor) -> Tensor:
    """Return ln(1 + e^raw): no standard deviation is below 1, as in the public code of BIVA."""
    return F.softplus(raw)


def free(raw: Tensor) -> Tensor:
    """Return any log-variance."""
    return raw


LOG_VARIANCES: dict[LogVariance, Callable[[Tensor], Tensor]] = {"bounded": bounded, "softplus": softplus, "free": free}
