"""What steps, and how far: the optimizer and its learning rate."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn
from torch.optim import Adam, Adamax, Optimizer

from sigmavae.config import TrainConfig


def make_optimizer(parameters: Iterable[nn.Parameter], train: TrainConfig) -> Optimizer:
    """Return the optimizer of a training."""
    if train.optimizer == "adamax":
        return Adamax(parameters, lr=train.lr, foreach=True)  # torch has no fused one
    return Adam(parameters, lr=train.lr, fused=True)


def learning_rate(train: TrainConfig, step: int) -> float:
    """Return the learning rate of a step: a function of its number, so that there is nothing to resume."""
    return max(train.lr * train.lr_decay**step, min(train.lr, train.lr_floor))


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Let the optimizer's next step use a learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate
