"""A running mean of statistics, the same on every process."""

from __future__ import annotations

import torch
from torch import Tensor, distributed, nn


def sum_over_processes(totals: Tensor) -> Tensor:
    """Return totals summed over all processes of the default group; without one, totals as they are."""
    if distributed.is_available() and distributed.is_initialized():
        totals = totals.clone()
        distributed.all_reduce(totals)
    return totals


def process_rank() -> int:
    """Return this process's number in the default group; 0 without one."""
    return distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else 0


class RunningMean(nn.Module):
    """A mean over updates that weighs the first 1 / (1 - decay) of them equally and later ones exponentially.

    Kept in float32 buffers, so that it is saved, loaded and moved with the model it belongs to. decay = 1 never
    forgets: an exact mean over all updates.
    """

    value: Tensor
    updates: Tensor

    def __init__(self, initial: list[float], decay: float, each: bool = False) -> None:
        super().__init__()
        if not 0 <= decay <= 1:
            raise ValueError(
                f"decay={decay}: the running average needs a decay between 0 (no memory) and 1 (never forgets)"
            )
        self.decay = decay
        self.register_buffer("value", torch.tensor(initial))
        self.register_buffer("updates", torch.zeros(len(initial)) if each else torch.tensor(0.0))

    @torch.no_grad()
    def update(self, new: Tensor, told: Tensor | None = None) -> None:
        """Move the mean towards new values; with `each`, only those that `told` says are there."""
        told = torch.ones_like(self.updates) if told is None else told.to(self.updates.dtype)
        self.updates += told
        weight = told * (1 / self.updates.clamp(min=1)).clamp(min=1 - self.decay)
        self.value.lerp_(new.detach().to(self.value.dtype), weight)
