"""Models about which everything is known, and images for them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

import sigmavae
from sigmavae.likelihoods import Likelihood
from sigmavae.likelihoods.gaussian import FixedSigma
from sigmavae.models import SVG, LatentModel
from sigmavae.models.gaussian_latent import GaussianLatentModel
from sigmavae.noise import Noise
from sigmavae.progress import Silent

SHAPE = (1, 4, 5)
PAST, FRAMES, SIDE = 2, 5, 16  # of videos


def random_images(count: int = 600, shape: tuple[int, ...] = SHAPE, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, *shape)).astype(np.uint8)


def small_vae(name: str = "optimal-sigma", **options) -> LatentModel:
    """A narrow network of random weights that has seen one batch in training."""
    torch.manual_seed(0)
    model = sigmavae.ConvVAE((1, 8, 8), sigmavae.likelihood(name, **options), width=4, latent=3)
    model(torch.rand(4, 1, 8, 8))
    return model


def small_svg(name: str = "optimal-sigma", fused: bool = False, **options) -> SVG:
    """A narrow model of videos of random weights that has seen some batches in training."""
    torch.manual_seed(0)
    likelihood = sigmavae.likelihood(name, **options)
    if fused:
        likelihood = sigmavae.FusedHead(likelihood, 3, 1)
    net = SVG((6, 1, SIDE, SIDE), likelihood, past=PAST, future=3, backbone="dcgan", g=4, z=2, rnn=4, width=2)
    for _ in range(3):
        net(torch.rand(4, FRAMES, 1, SIDE, SIDE))
    return net


def random_videos(count: int = 6) -> np.ndarray:
    return random_images(count, (FRAMES, 1, SIDE, SIDE))


class Constant(LatentModel):
    """A decoder that ignores z, with a rate of 3 nats: everything about it can be computed by hand."""

    def __init__(self, likelihood: Likelihood, value: float = 0.0) -> None:
        super().__init__(SHAPE, likelihood)
        self.h = torch.nn.Parameter(torch.full((likelihood.features(1), *SHAPE[1:]), value))

    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        return self.h.expand(len(x), *self.h.shape), torch.full((len(x),), 3.0)

    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:  # noqa: ARG002
        return self.h.expand(n, *self.h.shape)


class LinearGaussian(GaussianLatentModel):
    """z ~ N(0, I), x ~ N(W z + 1/2, sigma^2 I): ln p(x), the posterior and the rate have closed forms.

    The columns of W are orthogonal, so the posterior is diagonal. `widen` multiplies its standard deviation, `shift`
    moves its mean: the encoder is then wrong by a known amount.
    """

    def __init__(self, scales: list[float], sigma: float, widen: float = 1.0, shift: float = 0.0) -> None:
        super().__init__(SHAPE, FixedSigma(sigma, support="real"), len(scales))
        self.dimensions, self.sigma, self.widen, self.shift = math.prod(SHAPE), sigma, widen, shift
        generator = torch.Generator().manual_seed(0)
        basis = torch.linalg.qr(torch.randn(self.dimensions, len(scales), generator=generator, dtype=torch.float64))[0]
        self.weight = torch.nn.Parameter(basis * torch.tensor(scales, dtype=torch.float64))

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weight = self.weight
        variance = 1 / (1 + weight.square().sum(0) / self.sigma**2)
        mean = variance * ((x.double() - 0.5).flatten(1) @ weight) / self.sigma**2
        return mean + self.shift, (variance * self.widen**2).log().expand_as(mean)

    def decode(self, z: Tensor) -> Tensor:
        return (z @ self.weight.T + 0.5).reshape(-1, *SHAPE)

    def log_evidence(self, images: np.ndarray) -> Tensor:
        """Return ln p(x) of every image, exactly."""
        covariance = self.weight @ self.weight.T + self.sigma**2 * torch.eye(self.dimensions, dtype=torch.float64)
        mean = torch.full((self.dimensions,), 0.5, dtype=torch.float64)
        exact = torch.distributions.MultivariateNormal(mean, covariance.detach())
        return exact.log_prob(torch.from_numpy(images).double().flatten(1) / 255)

    def draw_images(self, count: int, seed: int = 0) -> np.ndarray:
        """Return 8-bit data from the model itself; values outside of [0, 1] are clipped."""
        generator = torch.Generator().manual_seed(seed)
        z = torch.randn(count, self.weight.shape[1], generator=generator, dtype=torch.float64)
        noise = torch.randn(count, *SHAPE, generator=generator, dtype=torch.float64)
        x = self.decode(z).detach() + self.sigma * noise
        return (x.clamp(0, 1) * 255).round().to(torch.uint8).numpy()


class Heard(Silent):
    """Keeps how many steps were said to be done."""

    def __init__(self) -> None:
        self.said: list[int] = []

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:  # noqa: ARG002
        self.said.append(done)
