"""A loss that is not finite stops the run; the look at it costs no wait on the device."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Guard:
    """Remembers, on the device, the first step at which each watched quantity was NaN or infinite."""

    def __init__(self, names: tuple[str, ...], device: torch.device) -> None:
        self.names = names
        self._first = torch.full((len(names),), -1, device=device)

    def watch(self, step: int, values: Tensor) -> None:
        """Look at one value for each name."""
        fresh = ~torch.isfinite(values) & (self._first < 0)
        self._first = torch.where(fresh, step, self._first)

    def verdict(self) -> tuple[int, list[str]] | None:
        """Return the first bad step and what was bad in it, or None; waits for the device."""
        first = self._first.tolist()
        bad = [step for step in first if step >= 0]
        if not bad:
            return None
        return min(bad), [name for name, step in zip(self.names, first, strict=True) if step == min(bad)]


def not_finite(model: nn.Module) -> list[str]:
    """Return the names of the parameters and buffers that hold NaN or infinity."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return [name for name, value in named if value.is_floating_point() and not bool(torch.isfinite(value).all())]
