"""Frames to vectors and back by 3 x 3 convolutions in groups, after VGG (Simonyan and Zisserman, 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.models.frame_blocks import Joined, from_vector, rectified, to_vector

_DEPTHS = (2, 2, 3, 3)  # convolutions at each resolution


class VGGEncoder(nn.Module):
    """Four groups of convolutions, halving in between: width, 2, 4 and 8 times width channels."""

    def __init__(self, channels: int, size: Sequence[int], outputs: int, width: int) -> None:
        super().__init__()
        widths = [channels] + [width << i for i in range(len(_DEPTHS))]
        self.groups = nn.ModuleList(
            _convolutions([widths[i], *[widths[i + 1]] * depth]) for i, depth in enumerate(_DEPTHS)
        )
        self.last = to_vector(widths[-1], outputs, size)

    def forward(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the encodings (N, outputs) of frames, and their maps from the largest to the smallest."""
        maps: list[Tensor] = []
        for group in self.groups:
            x = group(x)
            maps.append(x)
            x = F.max_pool2d(x, 2)
        return self.last(x), maps


class VGGDecoder(nn.Module):
    """The encoder turned round, with the maps of an earlier frame beside its own at every resolution."""

    def __init__(self, inputs: int, size: Sequence[int], features: int, width: int) -> None:
        super().__init__()
        self.first = from_vector(inputs, 8 * width, size)
        self.groups = nn.ModuleList()
        for i, depth in reversed(list(enumerate(_DEPTHS))):
            # The last convolution of a group has the width of the next larger maps.
            widths = [width << i] * depth + [width << max(i - 1, 0)]
            self.groups.append(_Group(widths[:-1] if i == 0 else widths))
        self.last = nn.ConvTranspose2d(width, features, 3, padding=1)

    def forward(self, encoded: Tensor, maps: Sequence[Tensor]) -> Tensor:
        """Return features (N, features, H, W) of encodings (N, inputs)."""
        h = self.first(encoded)
        for group, passed in zip(self.groups, reversed(maps), strict=True):
            h = group(F.interpolate(h, scale_factor=2, mode="nearest"), passed)
        return self.last(h)  # type: ignore[no-any-return]


class _Group(nn.Module):
    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.joined = Joined(lambda: nn.Conv2d(widths[0], widths[1], 3, padding=1))
        self.rest = nn.Sequential(rectified(widths[1]), *_convolutions(widths[1:]))

    def forward(self, maps: Tensor, passed: Tensor) -> Tensor:
        return self.rest(self.joined(maps, passed))  # type: ignore[no-any-return]


def _convolutions(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Conv2d(before, after, 3, padding=1), rectified(after)]
    return nn.Sequential(*layers)
