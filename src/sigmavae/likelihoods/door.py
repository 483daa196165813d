"""Checks at the door: wrong data is named on the first call, and costs nothing afterwards."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.likelihoods.support import Support


class Door:
    """Looks at data on its way into a likelihood.

    Shapes and dtypes cost nothing to look at and are checked every time. Values need a pass over the data (and on a
    GPU a wait), so they are checked until a batch has passed once, then never again.
    """

    def __init__(self, support: Support) -> None:
        self.support = support
        self.passed = False

    def shapes(self, x: Tensor, batch: torch.Size, event: torch.Size) -> None:
        """Raise ValueError unless x ends in the batch and event shapes and holds floating-point numbers."""
        if not x.is_floating_point():
            remedy = "use x.float() / 255" if x.dtype == torch.uint8 else "convert it to float32"
            raise ValueError(f"x has dtype {x.dtype}, but a likelihood reads floating-point data: {remedy}")
        want = batch + event
        have = x.shape[-len(want) :]
        if len(have) == len(want) and all(a in (1, b) for a, b in zip(have[: len(batch)], batch, strict=True)):
            have = batch + have[len(batch) :]
        if have != want:
            raise ValueError(_shape_message(x.shape, want))

    def values(self, x: Tensor) -> None:
        """Raise ValueError if x has NaN, infinite or out-of-range values; does nothing once a batch has passed."""
        if self.passed or torch.compiler.is_compiling():
            return
        if not bool(torch.isfinite(x).all()):
            bad = (~torch.isfinite(x)).nonzero()
            first = tuple(int(i) for i in bad[0])
            raise ValueError(f"x has {len(bad)} NaN or infinite values, the first at index {first}")
        low, high = (float(v) for v in torch.aminmax(x.detach()))
        if low < self.support.low or high > self.support.high:
            raise ValueError(
                f"x has values from {low:g} to {high:g}, but this likelihood expects data in "
                f"[{self.support.low:g}, {self.support.high:g}]: {_range_remedy(low, high)}"
            )
        self.passed = True


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
