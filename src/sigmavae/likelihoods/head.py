"""A decoder's last layer, 1x1, with its likelihood: the features h of a large image never exist as a whole.

A 256-way categorical over 3 x 1024 x 1024 values has 3 GiB of logits, and a training step holds several times that.
Here a tile of pixels gets its logits, adds to ln p(x) and forgets them; the backward pass computes them again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sigmavae.likelihoods import tiles
from sigmavae.likelihoods.base import Likelihood, full_arithmetic, full_precision
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.tiles import Pixels, Pixelwise, Tile, flat


class FusedHead(Likelihood):
    """A likelihood and the 1x1 layer before it, as one likelihood of `width` features for data of so many channels.

    Every likelihood can be inside. The `Pixelwise` ones, which have many features a pixel, are computed in tiles whose
    features h take no more than `memory` bytes; the others as a whole. `weight` (features(channels), width) and `bias`
    start as those of `nn.Conv2d(width, features(channels), 1)`, whose state can be loaded. They are brought to the
    precision of the features, float32 or float64, whatever autocast says.
    """

    def __init__(self, likelihood: Likelihood, width: int, channels: int = 3, memory: int = tiles.BUDGET) -> None:
        if not isinstance(likelihood, Likelihood):
            raise TypeError(f"{likelihood!r} is no likelihood: sigmavae.likelihood(name) makes one")
        if width < 1 or channels < 1 or memory < 1:
            raise ValueError(f"width={width}, channels={channels}, memory={memory}: each is at least 1")
        self.discrete = likelihood.discrete
        super().__init__(likelihood.door.support)
        self.door = likelihood.door
        self.held_out = likelihood.held_out
        self.frames = likelihood.frames
        self.likelihood = likelihood
        self.width = width
        self.data_channels = channels
        self.memory = memory
        layer = nn.Linear(width, likelihood.features(channels))  # drawn as a 1x1 convolution's are
        self.weight, self.bias = layer.weight, layer.bias

    def features(self, channels: int) -> int:
        """Return the width, for data of the channels that the head was made for."""
        if channels != self.data_channels:
            raise ValueError(f"this FusedHead was made for channels={self.data_channels}, not {channels}")
        return self.width

    def channels(self, h: Tensor) -> int:
        """Return the number of data channels, or raise unless h has the head's width."""
        if h.dim() < 2 or not h.is_floating_point() or h.shape[1] != self.width:
            raise ValueError(
                f"h must be floating-point decoder features (B, {self.width}, *S), not {h.dtype} {tuple(h.shape)}"
            )
        return self.data_channels

    def condition(self, h: Tensor, x: Tensor | None) -> Conditional:
        """Return p(x | h), in tiles where that pays."""
        if isinstance(self.likelihood, Pixelwise):
            return Tiled(self, self.likelihood, h)
        return self.likelihood.condition(self.apply_layer(h), x)

    def learn(self, h: Tensor, x: Tensor) -> None:
        """Learn the scale of the likelihood inside; the `Pixelwise` ones have none."""
        if isinstance(self.likelihood, Pixelwise):
            return
        self.likelihood.learn(self.apply_layer(h), x)

    @torch.no_grad()
    def refit(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> FusedHead:
        """Return this head with its likelihood refitted."""
        fitted = copy.deepcopy(self)
        fitted.likelihood = self.likelihood.refit((self.apply_layer(full_precision(h)), x) for h, x in pairs)
        fitted.door = fitted.likelihood.door
        return fitted.eval()

    def apply_layer(self, inputs: Tensor) -> Tensor:
        """Return what the last layer makes of inputs (B, width, *S), whole."""
        with full_arithmetic(inputs):  # refit comes here without `forward`
            h = tiles.apply_layer(flat(inputs), self.weight.to(inputs.dtype), self.bias.to(inputs.dtype))
        return h.reshape(*h.shape[:2], *inputs.shape[2:])

    def extra_repr(self) -> str:
        """Return the width and the channels."""
        return f"width={self.width}, channels={self.data_channels}"

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        weight = state_dict.get(prefix + "weight")
        if weight is not None and weight.shape[2:].numel() == 1:  # that of a 1x1 convolution
            state_dict[prefix + "weight"] = weight.flatten(1)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class Tiled(Conditional):
    """The distribution of a `Pixelwise` likelihood behind a layer, computed tile by tile whatever it is asked."""

    def __init__(self, head: FusedHead, likelihood: Pixelwise, inputs: Tensor) -> None:
        super().__init__(inputs, torch.Size([head.data_channels, *inputs.shape[2:]]), head.door)
        self._likelihood, self._inputs = likelihood, inputs
        self._weight, self._bias = head.weight.to(inputs.dtype), head.bias.to(inputs.dtype)
        self._memory = head.memory

    @property
    def mean(self) -> Tensor:
        """The expected data, (B, C, *S)."""
        return self._gather(lambda p, _: p.mean, torch.Size())

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element."""
        space = len(self.event_shape) - 1
        columns = value.flatten(-space) if space else value.unsqueeze(-1)
        return self._gather(lambda p, at: p._cdf(columns[(..., *at)]), value.shape[: -self._inputs.dim()])

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw 8-bit values over 255."""
        return self._gather(lambda p, _: p._draw(lead), lead)

    @torch.no_grad()
    def frame_log_prob(self, value: Tensor) -> Tensor:
        """Return ln p(x) of every frame of videos (B, C, T, H, W), (B, T). A constant."""
        x = self._enter(value)
        return torch.stack([self._score(x[:, :, t], self._inputs[:, :, t]) for t in range(x.shape[2])], dim=1)

    def frame_bin_log_prob(self, value: Tensor) -> Tensor:
        """Return the same: these masses are on nothing but 8-bit values."""
        return self.frame_log_prob(value)

    def _log_terms(self, x: Tensor) -> Tensor:
        if x.dim() == self._inputs.dim():
            return self._score(x, self._inputs)
        samples = [self._log_terms(sample) for sample in x]
        return torch.stack(samples) if samples else self._inputs.new_zeros(x.shape[: 1 - self._inputs.dim()])

    def _score(self, x: Tensor, inputs: Tensor) -> Tensor:
        return tiles.log_prob(self._likelihood, x, inputs, self._weight, self._bias, self._memory)

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        return self._log_terms(x)

    def _gather(self, read: Callable[[Pixels, Tile], Tensor], lead: torch.Size) -> Tensor:
        """Return (*lead, B, C, *S) put together from what is read from every tile's distribution."""

        def tile(inputs: Tensor, weight: Tensor, bias: Tensor, at: Tile) -> Tensor:
            return read(self._likelihood.condition(tiles.apply_layer(inputs, weight, bias), None), at)

        inputs = flat(self._inputs)
        whole = inputs.new_empty(*lead, inputs.shape[0], self.event_shape[0], inputs.shape[2])
        with full_arithmetic(inputs):
            for at in tiles.cut(inputs, self._weight.shape[0], self._memory):
                parts = inputs[at], self._weight, self._bias, at
                # Followed back, a tile is computed again.
                again = torch.is_grad_enabled() and not torch.compiler.is_compiling()
                whole[(..., *at)] = checkpoint(tile, *parts, use_reentrant=False) if again else tile(*parts)
        return whole.reshape(lead + self.batch_shape + self.event_shape)
