"""What every model is: latent variables with a rate, decoder features, and a likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from sigmavae.likelihoods import Likelihood
from sigmavae.noise import Noise


@dataclass
class Elbo:
    """The evidence lower bound of each item in nats, in two parts: ln p(x) >= -(distortion + rate).

    `distortion, rate = model(x)` takes it apart.
    """

    distortion: Tensor
    """-ln p(x | z), (B,): nats to describe x once z is known."""
    rate: Tensor
    """KL(q(z | x) || p(z)), (B,): nats to describe z; with what the likelihood's own latent variables cost."""
    sigma: Tensor | None = None
    """The root mean square of the decoder's scale, where it has one; a constant to autograd."""
    rates: Tensor | None = None
    """The rate of each of several layers of latent variables, (B, layers)."""
    penalty: Tensor | None = None
    """What training minimises besides, (B,); no part of the bound."""

    def __iter__(self) -> Iterator[Tensor]:
        """Yield distortion and rate."""
        yield self.distortion
        yield self.rate

    @property
    def bound(self) -> Tensor:
        """The lower bound on ln p(x), (B,)."""
        return -(self.distortion + self.rate)

    @property
    def loss(self) -> Tensor:
        """What training minimises: the mean over the batch of the sum over dimensions."""
        total = self.distortion + self.rate
        return (total if self.penalty is None else total + self.penalty).mean()


class LatentModel(nn.Module, ABC):
    """A model of data (B, *shape) in [0, 1]; shape is (C, H, W) for images, (T, C, H, W) for videos."""

    clip: int | None = None
    """How many frames, from anywhere in a video, it trains on; None: items are whole."""
    widest = 0
    """Channels of its widest maps at full resolution, where there are more than decoder features."""

    def __init__(self, shape: tuple[int, ...], likelihood: Likelihood) -> None:
        super().__init__()
        self.shape = shape
        self.likelihood = likelihood

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return next(self.parameters()).device

    def initialise(self, x: Tensor) -> None:
        """Set weights that a first batch decides; training calls it once, before its first step."""

    @abstractmethod
    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample, and the rate (B,) of the latent variables.

        All randomness comes from `noise`: a metric hands in noise that belongs to the items.
        """

    @abstractmethod
    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features of n samples from the prior; all randomness comes from `noise`."""

    def weigh(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample z, and ln q(z | x) - ln p(z) there, (B,).

        Its mean over samples is the rate. A model whose rate is such an estimate already has nothing to add.
        """
        return self.infer(x, noise)

    def draws(self, x: Tensor, k: int, noise: Noise = torch.randn_like) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield what `weigh` returns, for k posterior samples; a model can compute once what these share."""
        for _ in range(k):
            yield self.weigh(x, noise)

    def target(self, x: Tensor) -> Tensor:
        """Return what of x the likelihood describes, (B, C, *S) as its features are laid out: all of an image."""
        return x

    def layers(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample, and the rate of each layer of latents, (B, layers)."""
        h, rate = self.infer(x, noise)
        return h, rate[:, None]

    def mix(self, x: Tensor, drawn: Collection[int], noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features of posterior samples of x, but with the layers `drawn` (1 ..) from the prior."""
        if drawn:
            raise ValueError(f"{type(self).__name__} has one layer of latent variables: none can be drawn by itself")
        return self.infer(x, noise)[0]

    def forward(self, x: Tensor) -> Elbo:
        """Return the single-sample bound of every item."""
        return self.score(x, *self.infer(x))

    def score(self, x: Tensor, h: Tensor, rate: Tensor) -> Elbo:
        """Return the bound of every item, given decoder features and the rate of the latent variables."""
        x = self.target(x)
        p = self.likelihood(h, x)
        sigma = None if p.scale is None else p.scale.detach().square().mean().sqrt()
        return Elbo(-p.log_prob(x), rate + p.rate, sigma)

    if TYPE_CHECKING:

        def __call__(self, x: Tensor) -> Elbo:
            """Return the single-sample bound of every item."""

    @torch.no_grad()
    def sample(self, n: int, noise: bool = False, temperature: float = 1.0) -> Tensor:
        """Return n images from the prior: the decoder's mean, or with noise a draw from the decoder.

        `temperature` multiplies the standard deviation of the prior, of every layer of latent variables.
        """
        return self._show(self.generate(n, lambda like: temperature * torch.randn_like(like)), noise)

    @torch.no_grad()
    def reconstruct(self, x: Tensor, noise: bool = False, drawn: Collection[int] = ()) -> Tensor:
        """Return x through a posterior sample and back; the layers `drawn` (1 ..) come from the prior instead."""
        return self._show(self.mix(x, drawn), noise)

    @torch.no_grad()
    def observe(self, x: Tensor) -> None:
        """Show the likelihood held-out data, for a scale that is to be learned from it.

        In evaluation mode, which is where the scale is used: the data move no statistics, and dropout adds no errors.
        """
        training = [module for module in self.modules() if module.training]
        self.eval()
        try:
            self.likelihood.observe(self.infer(x)[0], self.target(x))
        finally:
            for module in training:
                module.training = True

    def _show(self, h: Tensor, noise: bool) -> Tensor:
        p = self.likelihood(h)
        return p.sample() if noise else p.mean
