r"""Weight normalisation with data-dependent initialisation (Salimans and Kingma, 2016).

    w = g v / |v|,   one g for each output channel

`initialising` sets g and bias of every such layer by one batch, layer after layer, each fed with what the layers before
it give once they are set: (y - E y) scale, of standard deviation STD. Only parameters hold the result, so that it goes
wherever they go: into checkpoints, averaged copies and other processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

from sigmavae.likelihoods.running import sum_over_processes

Layer = TypeVar("Layer", bound=nn.Module)

DIRECTION_STD = 0.05
"""Of the entries of v at the beginning: w does not depend on it, but how far a step of v turns it does."""
STD = 0.01
"""Standard deviation of a layer's outputs at the beginning; that of the public code of BIVA."""
SMALLEST_VARIANCE = 1e-12
"""Keeps the scale of an output that does not vary finite."""


def normed(layer: Layer) -> Layer:
    """Return the layer with a normalised weight, whose first or, if transposed, second dimension are its outputs."""
    weight: Any = layer.weight
    nn.init.normal_(weight, std=DIRECTION_STD)
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    weight_norm(layer, dim=1 if isinstance(layer, nn.ConvTranspose2d) else 0)
    nn.init.ones_(_gain(layer))
    return layer


def normed_layers(model: nn.Module) -> list[nn.Module]:
    """Return the layers of a model with a normalised weight."""
    return [module for module in model.modules() if nn.utils.parametrize.is_parametrized(module, "weight")]


@contextmanager
def initialising(model: nn.Module) -> Iterator[None]:
    """Let the one pass that is made meanwhile set gain and bias of every normalised layer in the model.

    Statistics are those of the batch over all processes.
    """
    handles = [layer.register_forward_hook(_settle) for layer in normed_layers(model)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def _settle(layer: nn.Module, inputs: Any, output: Tensor) -> Tensor:  # noqa: ARG001
    """Set gain and bias by outputs (B, channels, H, W), and return the outputs that they give."""
    mean = _mean(output)
    variance = _mean((output - mean).square())
    scale = STD / variance.clamp(min=SMALLEST_VARIANCE).sqrt()
    gain, bias = _gain(layer), layer.bias
    gain.mul_(scale.reshape(gain.shape))
    bias.sub_(mean.flatten()).mul_(scale.flatten())  # type: ignore[operator]
    return (output - mean) * scale


def _mean(values: Tensor) -> Tensor:
    """Return the mean of every channel, (1, channels, 1, 1)."""
    count = values.new_tensor([values.numel() / values.shape[1]])
    total = sum_over_processes(torch.cat([values.sum((0, 2, 3)), count]))
    return (total[:-1] / total[-1]).reshape(1, -1, 1, 1)


def _gain(layer: nn.Module) -> Tensor:
    gain: Tensor = layer.parametrizations.weight.original0  # type: ignore[union-attr, assignment]
    return gain
