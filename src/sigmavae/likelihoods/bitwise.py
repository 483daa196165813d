r"""The bitwise-categorical decoder: eight independent bits a value (Appendix D, "Bitwise-categorical VAE").

P(k) = prod_j sigmoid(l_j)^{b_j} sigmoid(-l_j)^{1 - b_j}, where b_j is bit j of k.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.bins import TOP, level, level_below
from sigmavae.likelihoods.support import UNIT
from sigmavae.likelihoods.tiles import Pixels, Pixelwise

BITS = 8


class Bits(Pixels):
    """Eight independent bits for each element; logits are (B, 8, C, *S), the lowest bit first."""

    def __init__(self, likelihood: Pixelwise, h: Tensor) -> None:
        logits = h.unflatten(1, (BITS, -1))
        super().__init__(likelihood, h, logits.shape[2:], likelihood.door)
        self.logits = logits

    @property
    def mean(self) -> Tensor:
        """The expected value: each bit's probability times its worth."""
        return self._value(torch.sigmoid(self.logits))

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw 8-bit values over 255."""
        shape = lead + self.logits.shape
        drawn = torch.bernoulli(torch.sigmoid(self.logits).expand(shape))
        return self._value(drawn)

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x): the chance that X first differs from k at a bit that is 1 in k, or never differs."""
        k = level_below(value)
        bits = self._bits(k.clamp(min=0))
        same = torch.ones_like(value)
        below = torch.zeros_like(value)
        for j in reversed(range(BITS)):
            one = torch.sigmoid(self.logits[:, j])
            below = below + same * bits[j] * (1 - one)
            same = same * torch.where(bits[j] > 0, one, 1 - one)
        return torch.where(k < 0, 0.0, below + same)

    def _log_terms(self, x: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        for j, bit in enumerate(self._bits(level(x))):
            total = total + F.logsigmoid(torch.where(bit > 0, self.logits[:, j], -self.logits[:, j]))
        return total

    def _value(self, bits: Tensor) -> Tensor:
        # A sum and no matrix product: that would be rounded to half precision under autocast.
        dim = -len(self.event_shape) - 1
        worth = torch.exp2(torch.arange(BITS, dtype=bits.dtype, device=bits.device)) / TOP
        return (bits * worth.reshape(-1, *[1] * len(self.event_shape))).sum(dim)

    @staticmethod
    def _bits(k: Tensor) -> list[Tensor]:
        return [torch.floor(k / 2**j) % 2 for j in range(BITS)]


class Bitwise(Pixelwise):
    """Eight binary logits a value: every 8-bit distribution with independent bits."""

    discrete = True

    def __init__(self) -> None:
        super().__init__(UNIT)

    def features(self, channels: int) -> int:
        """Return eight features a channel, ordered bit by bit from the lowest."""
        return BITS * channels

    def condition(self, h: Tensor, x: Tensor | None) -> Bits:  # noqa: ARG002
        """Return independent bits with the features as logits."""
        return Bits(self, h)

    def slope(self, h: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient: each bit less its probability."""
        slope = torch.sigmoid(h.unflatten(1, (BITS, x.shape[1]))).neg_()
        for j, bit in enumerate(Bits._bits(level(x))):
            slope[:, j] += bit
        return slope.mul_(weight.reshape(-1, 1, 1, 1)).flatten(1, 2)
