"""Axes: where a value lies between low and high, and which round values to write beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Points = Sequence[tuple[float, float]]

WARM_UP = 0.15
"""Share of a run's steps that may leave the picture: the first ones lie far from all that follow."""


class Scale(Protocol):
    """A range that can place a value in it and name its round values."""

    def fraction(self, value: float) -> float:
        """0 at the low end, 1 at the high end, linear in whatever the axis is linear in."""

    def ticks(self) -> list[float]:
        """A few round values within the range."""


@dataclass(frozen=True)
class Linear:
    """Equal distances are equal differences."""

    low: float
    high: float

    @classmethod
    def around(cls, low: float, high: float) -> Linear:
        """A range a little wider than the values, never empty."""
        margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
        return cls(low - margin, high + margin)

    def fraction(self, value: float) -> float:
        """Position between low (0) and high (1)."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Multiples of 1, 2, 2.5 or 5 times a power of ten, three to seven of them."""
        widest = (self.high - self.low) / 3
        power = 10.0 ** math.floor(math.log10(widest))
        step = max(power * factor for factor in (1, 2, 2.5, 5) if factor == 1 or power * factor <= widest)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]


@dataclass(frozen=True)
class Log:
    """Equal distances are equal ratios; for positive values only."""

    low: float
    high: float

    @classmethod
    def around(cls, low: float, high: float) -> Log:
        """A range a little wider than the values, never empty."""
        inner = Linear.around(math.log(low), math.log(high)) if high > low else None
        return cls(math.exp(inner.low), math.exp(inner.high)) if inner else cls(low / 2, high * 2)

    def fraction(self, value: float) -> float:
        """Position between low (0) and high (1)."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Powers of ten, with 2 and 5 between them, or finer, where the range is short."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for factors in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9)):
            values = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
            inside = [value for value in values if self.low <= value <= self.high]
            if len(inside) >= 3:
                return inside
        return Linear(self.low, self.high).ticks()


def telling_range(curves: Sequence[Points]) -> tuple[float, float]:
    """Lowest and highest value worth drawing: every curve after its warm-up, rare spikes left out.

    The first steps of a VAE can cost hundreds of times what the last do; a range that held them would press all
    the rest into one flat line. The last value of every curve is always inside.
    """
    values: list[float] = []
    for points in curves:
        start = WARM_UP * points[-1][0]
        late = sorted(value for step, value in points if step >= start)
        spare = len(late) // 50
        values += [late[spare], late[len(late) - 1 - spare], points[-1][1]]
    return min(values), max(values)
