"""What every likelihood is: a module from decoder features to a distribution over data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door
from sigmavae.likelihoods.support import Support


class Likelihood(nn.Module, ABC):
    """Turns decoder features h (B, features(C), *S) into a distribution p(x | h) over x (B, C, *S).

    S is any spatial shape: (H, W) for images, (L,) for audio, () for vectors. The arithmetic is done in float32 (or
    float64 if the features are), whatever autocast says around it.
    """

    discrete: bool
    """Whether `log_prob` is a mass (True) or a density (False)."""

    held_out = False
    """Whether the scale comes from held-out data that the training loop hands to `observe`."""

    frames: int | None = None
    """How many frames of videos, from the first one described, have parameters of their own; None: none has."""

    def __init__(self, support: Support) -> None:
        super().__init__()
        self.door = Door(support, self.discrete)

    @abstractmethod
    def features(self, channels: int) -> int:
        """Return how many channels the decoder must emit for data of so many channels."""

    @abstractmethod
    def condition(self, h: Tensor, x: Tensor | None) -> Conditional:
        """Return p(x | h) for full-precision features; only analytic scales read x."""

    @torch.no_grad()
    def observe(self, h: Tensor, x: Tensor) -> None:
        """Learn the scale from data that is not trained on; only analytic scales have anything to learn."""
        self.door.batch(x, h, self.channels(h))
        with full_arithmetic(h):
            h = full_precision(h)
            self.learn(h, x.to(h.dtype))

    def learn(self, h: Tensor, x: Tensor) -> None:
        """Learn the scale from full-precision features and data."""

    def refit(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> Likelihood:  # noqa: ARG002
        """Return a likelihood for evaluation whose scale fits pairs (h, x) exactly, in one pass over them."""
        raise ValueError(f"{type(self).__name__} has no scale that one pass over data can fit")

    def forward(self, h: Tensor, x: Tensor | None = None) -> Conditional:
        """Return the distribution over data that the decoder features h describe."""
        channels = self.channels(h)
        if x is not None:
            self.door.batch(x, h, channels)
        with full_arithmetic(h):
            h = full_precision(h)
            return self.condition(h, None if x is None else x.to(h.dtype))

    if TYPE_CHECKING:

        def __call__(self, h: Tensor, x: Tensor | None = None) -> Conditional:
            """Return the distribution over data that the decoder features h describe."""

    def channels(self, h: Tensor) -> int:
        """Return the number of data channels that features h describe, or raise if there is no such number."""
        if h.dim() < 2 or not h.is_floating_point():
            raise ValueError(
                f"h must be floating-point decoder features (B, features, *S), not {h.dtype} {tuple(h.shape)}"
            )
        # features() is affine in the number of channels, so two values give its inverse.
        base = self.features(0)
        each = self.features(1) - base
        channels = (h.shape[1] - base) // each
        if base + channels * each != h.shape[1] or channels < 1:
            raise ValueError(
                f"h has {h.shape[1]} channels, which {type(self).__name__} cannot use: for C data channels it needs "
                f"features(C), that is {self.features(1)} for 1 and {self.features(3)} for 3"
            )
        return channels


def full_precision(t: Tensor) -> Tensor:
    """Return half precision as float32; float64 stays what it is."""
    return t if t.dtype == torch.float64 else t.float()


def full_arithmetic(t: Tensor) -> torch.autocast:
    """Return a context in which what is computed where t lies is not rounded by autocast."""
    return torch.autocast(t.device.type, enabled=False)
