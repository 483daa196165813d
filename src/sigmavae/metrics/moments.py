"""Mean and covariance of features, a batch at a time, in double precision."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from sigmavae.likelihoods.running import sum_over_processes


@dataclass
class Moments:
    """How many features (N, D) were added, their mean (D,) and their scatter about it, (D, D).

    Scatters are merged about the common mean (Chan, Golub and LeVeque, 1979): no difference of large sums is taken, so
    a mean far from zero costs no digits.
    """

    width: int
    count: int = 0
    mean: Tensor = field(init=False)
    scatter: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.mean = torch.zeros(self.width, dtype=torch.float64)
        self.scatter = torch.zeros(self.width, self.width, dtype=torch.float64)

    def add(self, features: Tensor) -> None:
        """Count in a batch of features (B, D)."""
        if not len(features):
            return
        values = features.detach().cpu().double()
        mean = values.mean(0)
        centred = values - mean
        total = self.count + len(values)
        gap = mean - self.mean
        self.scatter += centred.T @ centred + torch.outer(gap, gap) * (self.count * len(values) / total)
        self.mean += gap * (len(values) / total)
        self.count = total

    def over_processes(self, device: torch.device) -> Moments:
        """Return the moments of what all processes of the default group have added; `device` is what they talk by."""

        def total(value: Tensor) -> Tensor:
            return sum_over_processes(value.to(device)).cpu()

        whole = Moments(self.width, int(total(torch.tensor(self.count))))
        if whole.count:
            whole.mean = total(self.mean * self.count) / whole.count
            gap = self.mean - whole.mean
            whole.scatter = total(self.scatter + torch.outer(gap, gap) * self.count)
        return whole

    @property
    def covariance(self) -> Tensor:
        """The unbiased covariance (D, D): the scatter divided by N - 1."""
        return self.scatter / (self.count - 1)
