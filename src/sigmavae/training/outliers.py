"""Updates that are left out because their gradient is far larger than usual.

A deep hierarchy now and then meets a batch that some narrow prior finds all but impossible. Its gradient would undo
what many steps have learned, and in Adamax shorten a thousand steps after it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

WINDOW = 101
"""Steps over whose gradient norms the median is taken, those left out among them: a lasting change is soon usual."""
FEWEST = 20
"""Norms before which none is judged."""
MOST_IN_A_ROW = 5
"""Updates left out one after another; the next is made whatever its norm."""


class Outliers:
    """Judges gradient norms by the running median of those before; a factor of None lets all pass.

    Its state is a tensor, saved with the training.
    """

    def __init__(self, factor: float | None) -> None:
        self.factor = factor
        self.left_out, self._in_a_row = 0, 0
        self._norms: list[float] = []

    def is_one(self, norm: float) -> bool:
        """Whether the update with this norm is to be left out; it is remembered either way."""
        if self.factor is None:
            return False
        known = sorted(self._norms)
        limit = self.factor * known[len(known) // 2] if len(known) >= FEWEST else math.inf
        found = not norm <= limit and self._in_a_row < MOST_IN_A_ROW  # NaN is beyond every limit
        if math.isfinite(norm):
            self._norms = [*self._norms, norm][-WINDOW:]
        self._in_a_row = self._in_a_row + 1 if found else 0
        self.left_out += found
        return found

    @property
    def state(self) -> Tensor:
        """All that it remembers."""
        return torch.tensor([self.left_out, self._in_a_row, *self._norms], dtype=torch.float64)

    @state.setter
    def state(self, saved: Tensor) -> None:
        left_out, in_a_row, *self._norms = saved.tolist()
        self.left_out, self._in_a_row = int(left_out), int(in_a_row)
