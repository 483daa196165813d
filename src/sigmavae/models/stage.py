"""One of the hierarchy's stages: its latent variables, the blocks below them and those that read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.models.diagonal import Diagonal
from sigmavae.models.gated import GatedBlock
from sigmavae.models.map_conv import MapConv2d
from sigmavae.models.weight_norm import normed

Side = tuple[int, int]


class Head(nn.Module):
    """Features to a Gaussian over maps, every one of which may depend on all positions."""

    def __init__(self, width: int, latent: int, size: Side, log_variance: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.parameters_of = normed(MapConv2d(width, 2 * latent, size))
        self.log_variance = log_variance

    def forward(self, h: Tensor) -> Diagonal:
        """Return the Gaussian of features (B, width, H, W), in full precision."""
        mean, raw = self.parameters_of(F.elu(h)).chunk(2, dim=1)
        return Diagonal(mean, self.log_variance(raw))


class Stage(nn.Module):
    """q(z | what is below), p(z | what is above), and the blocks either way.

    On the way up the last block halves the sides where `halves` says so; on the way down the first doubles them.
    """

    def __init__(
        self,
        inputs: int,
        latent: int,
        size: Side,
        *,
        width: int,
        blocks: int,
        kernel: int,
        halves: bool,
        lowest: bool,
        highest: bool,
        skips: bool,
        dropout: float,
        log_variance: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.size, self.latent = size, latent
        last = blocks - 1
        self.up = nn.ModuleList(
            GatedBlock(
                width if number else inputs,
                width,
                kernel,
                "down" if halves and number == last else "same",
                raw=lowest and number == 0,
                skip=int(skips and not lowest),
                dropout=dropout,
            )
            for number in range(blocks)
        )
        self.down = nn.ModuleList(
            GatedBlock(
                width if number else latent,
                width,
                kernel,
                "up" if halves and number == 0 else "same",
                raw=number == 0,
                skip=int(skips and not highest) * (2 if halves and number else 1),
            )
            for number in range(blocks)
        )
        self.posterior = Head(width, latent, size, log_variance)
        self.prior = None if highest else Head(width, latent, size, log_variance)

    def ascend(self, x: Tensor, skip: Tensor | None) -> tuple[Tensor, Diagonal]:
        """Return features of data or of a sample from below, and q(z | x); `skip` are the features from below."""
        skip = None if skip is None else F.elu(skip)
        for block in self.up:
            x = block(x, skip)
        return x, self.posterior(x)

    def descend(self, z: Tensor, skips: Sequence[Tensor | None]) -> list[Tensor]:
        """Return what each block makes of a sample; `skips` are the same of the stage above."""
        features = []
        for block, skip in zip(self.down, skips, strict=True):
            z = block(z, None if skip is None else F.elu(skip))
            features.append(z)
        return features


def output(width: int, features: int) -> nn.Module:
    """Return what turns the lowest stage's features into those of the decoder."""
    return nn.Sequential(nn.ELU(), normed(nn.Conv2d(width, features, 1)))
