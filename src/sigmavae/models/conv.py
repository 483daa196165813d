"""The paper's small convolutional VAE (Appendix B): three convolutions down, three transposed ones up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.errors import ConfigError
from sigmavae.likelihoods import Likelihood, full_precision
from sigmavae.models.gaussian_latent import GaussianLatentModel
from sigmavae.models.maps import from_map, to_map
from sigmavae.models.transposed import TransposedConv2d, last_two

SMALLEST_SIDE = 8


class ConvVAE(GaussianLatentModel):
    """The paper's network at 28 x 28 - 992,427 parameters with three output channels - and its like at other sizes.

    Two of the three layers either way change the resolution by two. A side that four does not divide is decoded on
    the next larger grid and cropped.
    """

    def __init__(self, shape: Sequence[int], likelihood: Likelihood, latent: int = 20, width: int = 32) -> None:
        channels, height, sides = _check(shape)
        super().__init__((channels, height, sides), likelihood, latent)
        half = (height // 2, sides // 2)
        encoded = ((half[0] + 1) // 2, (half[1] + 1) // 2)
        grid = ((height + 3) // 4, (sides + 3) // 4)
        self.encoder = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride=1, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(2 * width, 4 * width, 5, stride=2, padding=2),
            nn.ReLU(inplace=True),
        )
        self.mean = nn.Linear(4 * width * encoded[0] * encoded[1], latent)
        self.log_variance = nn.Linear(4 * width * encoded[0] * encoded[1], latent)
        self.decoder = Decoder(latent, width, grid, likelihood.features(channels))

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and log-variance of q(z | x), (B, latent) each, in full precision."""
        if x.shape[1:] != self.shape:
            raise ValueError(f"x is {tuple(x.shape)}: this model takes images (B, {', '.join(map(str, self.shape))})")
        features = self.encoder(x)
        # The rate is a difference of large terms: half precision from autocast ends here.
        with torch.autocast(features.device.type, enabled=False):
            features = full_precision(features)
            mean, log_variance = from_map(features, self.mean, self.log_variance)
            return mean, log_variance

    def decode(self, z: Tensor) -> Tensor:
        """Return decoder features for latent codes (B, latent)."""
        h: Tensor = self.decoder(z)
        return h[..., : self.shape[1], : self.shape[2]]


class Decoder(nn.Module):
    """The way up: a linear layer onto the smallest grid, and three transposed convolutions.

    linear -> first -> ReLU -> second -> ReLU -> last, each in the form in which it is soonest done.
    """

    def __init__(self, latent: int, width: int, grid: tuple[int, int], features: int) -> None:
        super().__init__()
        self.shape = (4 * width, *grid)
        self.linear = nn.Linear(latent, 4 * width * grid[0] * grid[1])
        self.first = TransposedConv2d(4 * width, 2 * width, 6, stride=2)
        self.second = TransposedConv2d(2 * width, width, 6, stride=2)
        self.last = nn.ConvTranspose2d(width, features, 5, stride=1, padding=2)

    def forward(self, z: Tensor) -> Tensor:
        """Return features (B, features, 4 H, 4 W) for latent codes (B, latent) and a smallest grid of (H, W)."""
        # Not relu_: what `first` returns is a view, and writing into a view makes its gradient be copied thrice.
        x = F.relu(self.first(to_map(z, self.linear, self.shape)))
        return last_two(x, self.second, self.last)


@dataclass(frozen=True)
class ConvConfig:
    """The small convolutional VAE."""

    videos: ClassVar[bool] = False
    kind: Literal["conv"] = field(default="conv", init=False)
    latent: int = 20
    """latent dimensions"""
    width: int = 32
    """channels of the first layer, doubled twice"""

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        for name in ("latent", "width"):
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}={getattr(self, name)}: must be 1 or more")

    def build(self, shape: Sequence[int], likelihood: Likelihood) -> ConvVAE:
        """Return the model for data of a shape."""
        return ConvVAE(shape, likelihood, self.latent, self.width)


def _check(shape: Sequence[int]) -> tuple[int, int, int]:
    if len(shape) != 3 or min(shape) < 1 or min(shape[1:]) < SMALLEST_SIDE:
        raise ValueError(
            f"shape={tuple(shape)}: ConvVAE takes (channels, height, width) with sides of {SMALLEST_SIDE} or more"
        )
    channels, height, width = shape
    return channels, height, width
