"""Recurrent networks over sequences of vectors (B, T, D): a linear layer, LSTMs, and what is read off them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor] | None
"""What an LSTM remembers; None before the first step."""


class Recurrent(nn.Module):
    """A linear layer into LSTMs: (B, T, inputs) to (B, T, width).

    A sequence at once and step by step with the state handed on give the same numbers; at once is faster.
    """

    def __init__(self, inputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Linear(inputs, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)

    def forward(self, x: Tensor, state: State = None) -> tuple[Tensor, State]:
        """Return the outputs of all steps and the state after the last."""
        return self.lstm(self.embed(x), state)  # type: ignore[no-any-return]


class Predictor(nn.Module):
    """The encoding of the next frame: (B, T, inputs) to (B, T, outputs) in (-1, 1), as encodings are."""

    def __init__(self, inputs: int, outputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.recurrent = Recurrent(inputs, width, layers)
        self.out = nn.Sequential(nn.Linear(width, outputs), nn.Tanh())

    def forward(self, x: Tensor, state: State = None) -> tuple[Tensor, State]:
        """Return the predictions of all steps and the state after the last."""
        found, state = self.recurrent(x, state)
        return self.out(found), state


class Gaussians(nn.Module):
    """A diagonal Gaussian at every step: (B, T, inputs) to means and log-variances (B, T, outputs)."""

    def __init__(self, inputs: int, outputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.recurrent = Recurrent(inputs, width, layers)
        self.mean = nn.Linear(width, outputs)
        self.log_variance = nn.Linear(width, outputs)

    def forward(self, x: Tensor, state: State = None) -> tuple[tuple[Tensor, Tensor], State]:
        """Return means and log-variances of all steps, and the state after the last."""
        found, state = self.recurrent(x, state)
        return (self.mean(found), self.log_variance(found)), state


def kl_of_gaussians(q: tuple[Tensor, Tensor], p: tuple[Tensor, Tensor]) -> Tensor:
    """Return KL(q || p) in nats of every element of diagonal Gaussians, each (mean, log-variance)."""
    difference = q[1] - p[1]
    # expm1(v) - v is e^v - 1 - v without losing the digits of distributions that are nearly equal.
    return 0.5 * (torch.expm1(difference) - difference + (q[0] - p[0]).square() * torch.exp(-p[1]))


def log_ratio_of_gaussians(z: Tensor, q: tuple[Tensor, Tensor], p: tuple[Tensor, Tensor]) -> Tensor:
    """Return ln q(z) - ln p(z) in nats of every element."""
    squares = [(z - mean).square() * torch.exp(-log_variance) for mean, log_variance in (q, p)]
    return 0.5 * (squares[1] - squares[0] + p[1] - q[1])
