"""What values the data may take, and how a decoder's output becomes a location among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

SupportName = Literal["unit", "real"]


@dataclass(frozen=True)
class Support:
    """A range of data and the function that maps a decoder's raw output into it."""

    low: float
    high: float
    squash: Callable[[Tensor], Tensor]


def _identity(h: Tensor) -> Tensor:
    return h


UNIT = Support(0.0, 1.0, torch.sigmoid)
REAL = Support(-float("inf"), float("inf"), _identity)


def support(name: SupportName) -> Support:
    """Return the support of that name: "unit" for images in [0, 1], "real" for any real data."""
    table = {"unit": UNIT, "real": REAL}
    if name not in table:
        raise ValueError(f"support={name!r}: choose 'unit' (data in [0, 1]) or 'real' (any real data)")
    return table[name]
