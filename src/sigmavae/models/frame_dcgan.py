"""Frames to vectors and back by strided convolutions, after DCGAN (Radford et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from sigmavae.models.frame_blocks import HALVINGS, Joined, from_vector, rectified, to_vector
from sigmavae.models.transposed import TransposedConv2d

_KERNEL, _STRIDE = 4, 2


class DCGANEncoder(nn.Module):
    """Four convolutions that halve: width, 2, 4 and 8 times width channels."""

    def __init__(self, channels: int, size: Sequence[int], outputs: int, width: int) -> None:
        super().__init__()
        widths = [channels] + [width << i for i in range(HALVINGS)]
        self.halvings = nn.ModuleList(
            nn.Sequential(nn.Conv2d(before, after, _KERNEL, _STRIDE, padding=1), rectified(after))
            for before, after in pairwise(widths)
        )
        self.last = to_vector(widths[-1], outputs, size)

    def forward(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the encodings (N, outputs) of frames, and their maps from the largest to the smallest."""
        maps: list[Tensor] = []
        for halve in self.halvings:
            x = halve(x)
            maps.append(x)
        return self.last(x), maps


class DCGANDecoder(nn.Module):
    """The encoder turned round, with the maps of an earlier frame beside its own at every resolution."""

    def __init__(self, inputs: int, size: Sequence[int], features: int, width: int) -> None:
        super().__init__()
        widths = [width << i for i in reversed(range(HALVINGS))]
        self.first = from_vector(inputs, widths[0], size)
        self.doublings = nn.ModuleList(
            Joined(lambda before=before, after=after: TransposedConv2d(before, after, _KERNEL, _STRIDE))  # type: ignore[misc]
            for before, after in zip(widths, [*widths[1:], features], strict=True)
        )
        self.between = nn.ModuleList(rectified(after) for after in widths[1:])

    def forward(self, encoded: Tensor, maps: Sequence[Tensor]) -> Tensor:
        """Return features (N, features, H, W) of encodings (N, inputs)."""
        h: Tensor = self.first(encoded)
        for i, (double, passed) in enumerate(zip(self.doublings, reversed(maps), strict=True)):
            h = double(self.between[i - 1](h) if i else h, passed)
        return h
