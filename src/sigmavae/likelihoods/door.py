"""Checks at the door: wrong data is named on the first call, and costs nothing afterwards."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.likelihoods.support import Support

SLACK = 1e-5
"""How far data may lie outside their range: what resizing in float32 leaves, a four-hundredth of a grey level."""


class Door:
    """Looks at data on its way into a likelihood.

    Shapes and dtypes cost nothing to look at and are checked every time. Values need a pass over the data (and on a
    GPU a wait), so they are checked until a batch has passed once, then never again.
    """

    def __init__(self, support: Support, discrete: bool) -> None:
        self.support = support
        self.discrete = discrete
        self.passed = False
        self._drawn_passed = False

    def batch(self, x: Tensor, h: Tensor, channels: int) -> None:
        """Raise ValueError unless x is the data (B, C, *S) that features h describe."""
        self.shapes(x, h.shape[:1], torch.Size([channels, *h.shape[2:]]))
        if x.dim() != h.dim():
            raise ValueError(_shape_message(x.shape, torch.Size([h.shape[0], channels, *h.shape[2:]])))
        self.values(x)

    def shapes(self, x: Tensor, batch: torch.Size, event: torch.Size) -> None:
        """Raise ValueError unless x ends in the batch and event shapes and holds floating-point numbers."""
        if not x.is_floating_point():
            remedy = "use x.float() / 255" if x.dtype == torch.uint8 else "convert it to float32"
            raise ValueError(f"x has dtype {x.dtype}, but a likelihood reads floating-point data: {remedy}")
        want = batch + event
        if x.shape[-len(want) :] != want:
            raise ValueError(_shape_message(x.shape, want))

    def values(self, x: Tensor, drawn: bool = False) -> None:
        """Raise ValueError if x has NaN, infinite or out-of-range values; does nothing once a batch has passed.

        `drawn` admits what a density may draw, any real number, but not whole numbers that must be unscaled 8-bit.
        """
        done = self.passed or (drawn and self._drawn_passed)
        if done or x.numel() == 0 or torch.compiler.is_compiling():
            return
        if not bool(torch.isfinite(x).all()):
            bad = (~torch.isfinite(x)).nonzero()
            first = tuple(int(i) for i in bad[0])
            raise ValueError(f"x has {len(bad)} NaN or infinite values, the first at index {first}")
        low, high = (float(v) for v in torch.aminmax(x.detach()))
        outside = low < self.support.low - SLACK or high > self.support.high + SLACK
        if outside and not (drawn and not _whole_numbers(x)):
            raise ValueError(
                f"x has values from {low:.7g} to {high:.7g}, but this likelihood expects data in "
                f"[{self.support.low:g}, {self.support.high:g}]: {_range_remedy(low, high)}"
            )
        self.passed, self._drawn_passed = self.passed or not drawn, True


def _whole_numbers(x: Tensor) -> bool:
    return bool(((x - x.round()).abs() < 1e-3).all())  # 255 (k / 255) in float32 is not always k


def _shape_message(have: torch.Size, want: torch.Size) -> str:
    if len(have) == len(want) and have[0] == want[0] and have[2:] == want[2:]:
        return f"x has {have[1]} channels, but the decoder features describe {want[1]}"
    return f"x has shape {tuple(have)}, but the decoder features describe {tuple(want)} (batch, channels, *space)"


def _range_remedy(low: float, high: float) -> str:
    if low >= 0 and 1 < high <= 255:
        return "divide 8-bit values by 255"
    if low >= -1 and high <= 1:
        return "map [-1, 1] to [0, 1] with (x + 1) / 2"
    return 'rescale it, or choose a continuous likelihood with support="real" for standardised data'
