"""The running statistics of batch normalisation that averaged weights have of their own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, distributed, nn
from torch.nn.modules.batchnorm import _BatchNorm

from sigmavae.models import LatentModel

BATCHES = 20
"""Of training data that statistics are taken over: the mean of theirs."""


@torch.no_grad()
def recompute_statistics(model: LatentModel, batch: Callable[[int], Tensor]) -> None:
    """Set a model's running statistics to those of the first training batches; without any, do nothing.

    Averaged weights have other activations than the weights they are the average of, and so other statistics than
    those copied from there. Everything else is in evaluation mode: the likelihood's own running scale stays.
    """
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm) and module.track_running_stats]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    model.eval()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain mean
        layer.train()
    for number in range(BATCHES):
        model.infer(batch(number))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
        _share(layer)
    model.eval()


def _share(layer: nn.Module) -> None:
    """Let every process have the first one's statistics: each has seen a share of every batch."""
    if distributed.is_available() and distributed.is_initialized():
        for value in layer.buffers():
            distributed.broadcast(value, 0)
