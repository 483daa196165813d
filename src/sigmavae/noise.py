"""Noise for latent variables: fresh from torch's generator, or a function of the item that it is for.

A metric that draws noise must not depend on how many images share a batch or how many devices share a set. So each
number is a hash of (seed, stream, item, draw, element), as in counter-based generators: no state, no order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from sigmavae.seeds import Stream, seed_for

Noise = Callable[[Tensor], Tensor]
"""Standard normal noise of the shape, type and device of a tensor; `torch.randn_like` is one."""

_STEP = -0x61C8864680B583EB  # 2^64 over the golden ratio, as a signed number
_MIX = ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15))  # of splitmix64 (Steele et al., 2014)
_LAST = 31
_HALF = 1 << 32


class ItemNoise:
    """Noise for a batch of numbered items: the same numbers in any batch, in any order, on any device.

    Every call is a new draw, so a model with several latent variables gives each its own; a new object starts over.
    """

    def __init__(self, seed: int, items: Tensor, stream: Stream = Stream.EVALUATION) -> None:
        self._seed, self._stream, self._items, self._draws = seed, stream, items, 0

    def __call__(self, like: Tensor) -> Tensor:
        """Return standard normal noise for a tensor (B, ...), an item a row (Box and Muller, 1958)."""
        high, low = self._halves(like)
        radius = torch.sqrt(-2 * torch.log((high + 1) / _HALF))
        return (radius * torch.cos(2 * math.pi * (low / _HALF))).to(like.dtype)

    def uniform(self, like: Tensor) -> Tensor:
        """Return noise between 0 and 1, both excluded, for a tensor (B, ...)."""
        high, _ = self._halves(like)
        # 23 bits and a half: exact in float32, never 0 and never 1.
        return ((torch.floor(high / (1 << 9)) + 0.5) / (1 << 23)).to(like.dtype)

    def _halves(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return two whole numbers below 2^32 for each element, as float64."""
        key = seed_for(self._seed, self._stream, self._draws)
        self._draws += 1
        items = self._items.to(like.device)
        elements = torch.arange(like[0].numel(), device=like.device)
        rows = _mix(items * _STEP + key)
        bits = _mix(rows[:, None] + elements * _STEP).reshape(like.shape)
        return _shift(bits, 32).double(), (bits & (_HALF - 1)).double()


def _mix(value: Tensor) -> Tensor:
    """Return 64 bits in which every bit of the value has had its say."""
    for shift, factor in _MIX:
        value = (value ^ _shift(value, shift)) * factor
    return value ^ _shift(value, _LAST)


def _shift(value: Tensor, count: int) -> Tensor:
    """Return the bits of signed numbers moved down, zeros coming after them."""
    return (value >> count) & ((1 << (64 - count)) - 1)
