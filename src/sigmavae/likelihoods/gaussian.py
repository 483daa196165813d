r"""Gaussian decoders with one scale for everything: unit, fixed by beta, or learned by gradient.

ln p(x | z) = -|x - mu|^2 / (2 sigma^2) - D ln sigma - D/2 ln(2 pi)        (section 3.1 of the paper)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.refit import GaussianLikelihood
from sigmavae.likelihoods.support import SupportName
from sigmavae.likelihoods.support import support as _support


class FixedSigma(GaussianLikelihood):
    """A Gaussian whose sigma is a constant: 1 is `gaussian`, the mean squared error that most code uses."""

    sigma: Tensor

    def __init__(self, sigma: float = 1.0, support: SupportName = "unit") -> None:
        super().__init__(_support(support))
        if not (0 < sigma < math.inf):
            raise ValueError(f"sigma={sigma}: a standard deviation is a positive number")
        self.register_buffer("sigma", torch.tensor(sigma))

    def features(self, channels: int) -> int:
        """Return one feature a channel: the mean."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:  # noqa: ARG002
        """Return N(mean, sigma^2)."""
        return Normal(self.door.support.squash(h), self.sigma.to(h.dtype), self.door)


def gaussian(support: SupportName = "unit") -> FixedSigma:
    """Return the Gaussian of unit variance."""
    return FixedSigma(1.0, support)


def beta_vae(beta: float = 1.0, support: SupportName = "unit") -> FixedSigma:
    """Return the Gaussian that a beta-VAE trains: sigma^2 = beta / 2 (section 3.1, "Connection to beta-VAE")."""
    if not (0 < beta < math.inf):
        raise ValueError(f"beta={beta}: beta is a positive number, and sigma^2 = beta / 2")
    return FixedSigma(math.sqrt(beta / 2), support)


class SharedSigma(GaussianLikelihood):
    """A Gaussian with one learned parameter lambda, sigma = e^lambda; not clipped (the paper needs no clip here)."""

    def __init__(self, sigma: float = 1.0, support: SupportName = "unit") -> None:
        super().__init__(_support(support))
        if not (0 < sigma < math.inf):
            raise ValueError(f"sigma={sigma}: the initial standard deviation is a positive number")
        self.log_sigma = nn.Parameter(torch.tensor(math.log(sigma)))

    def features(self, channels: int) -> int:
        """Return one feature a channel: the mean."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:  # noqa: ARG002
        """Return N(mean, e^(2 lambda))."""
        return Normal(self.door.support.squash(h), torch.exp(self.log_sigma.to(h.dtype)), self.door)
