"""One latent vector with a diagonal Gaussian posterior and a standard normal prior."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor

from sigmavae.likelihoods import Likelihood
from sigmavae.models.latent import LatentModel
from sigmavae.noise import Noise


class GaussianLatentModel(LatentModel):
    """A model of one latent vector z: q(z | x) = N(mean, e^log_variance), p(z) = N(0, I)."""

    def __init__(self, shape: tuple[int, ...], likelihood: Likelihood, latent: int) -> None:
        super().__init__(shape, likelihood)
        self.latent = latent

    @abstractmethod
    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and log-variance of q(z | x), (B, latent) each, in full precision."""

    @abstractmethod
    def decode(self, z: Tensor) -> Tensor:
        """Return decoder features for latent codes (B, latent)."""

    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample, and the rate in closed form."""
        mean, log_variance = self.encode(x)
        return self.decode(draw(mean, log_variance, noise)), kl_to_standard_normal(mean, log_variance)

    def weigh(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample z, and ln q(z | x) - ln p(z) there."""
        return next(self.draws(x, 1, noise))

    def draws(self, x: Tensor, k: int, noise: Noise = torch.randn_like) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield what `weigh` returns, for k posterior samples of x encoded once."""
        mean, log_variance = self.encode(x)
        for _ in range(k):
            z = draw(mean, log_variance, noise)
            yield self.decode(z), log_ratio_to_standard_normal(z, mean, log_variance)

    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features of n samples from the prior."""
        return self.decode(noise(next(self.parameters()).new_empty(n, self.latent)))


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
