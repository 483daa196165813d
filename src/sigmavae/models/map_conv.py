r"""A convolution with a kernel as large as its map, through Fourier space.

    y[i] = b + sum_d w[d] x[i + d],   d = -floor((n - 1) / 2) .. floor(n / 2) in each of two dimensions, x = 0 outside

An output reads the n positions around its own: at n = 16 a direct convolution multiplies 65,536 times for each pair of
channels and image, 44 % of them by the zeros outside. On a circle of n + floor(n / 2) positions, where what wraps round
meets zeros only, the same sum is one complex product a frequency, 312 of them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.likelihoods import full_precision

LARGEST_DIRECT = 64
"""Kernels of so many positions or fewer are convolved directly, which is faster there (docs/hvae.md)."""


class MapConv2d(nn.Module):
    """A convolution of maps (B, inputs, H, W) with kernel (H, W), stride 1 and outputs as large as the inputs.

    It computes in float32 (or float64 if the maps are) under any autocast. `weight` is (outputs, inputs, H W): no
    images are laid out in memory as it is.
    """

    def __init__(self, inputs: int, outputs: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(outputs, inputs, math.prod(size)))
        self.bias = nn.Parameter(torch.empty(outputs))
        bound = (inputs * math.prod(size)) ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Return the convolution of x (B, inputs, H, W): (B, outputs, H, W)."""
        with torch.autocast(x.device.type, enabled=False):
            weight = self.weight.unflatten(2, self.size)
            convolve = directly if math.prod(self.size) <= LARGEST_DIRECT else through_fourier
            return convolve(full_precision(x), weight) + self.bias[:, None, None]


def directly(x: Tensor, weight: Tensor) -> Tensor:
    """Return the convolution without its bias as libraries compute it."""
    rows, columns = weight.shape[-2:]
    before, after = ((rows - 1) // 2, (columns - 1) // 2), (rows // 2, columns // 2)
    return F.conv2d(F.pad(x, (before[1], after[1], before[0], after[0])), weight)


def through_fourier(x: Tensor, weight: Tensor) -> Tensor:
    """Return the convolution without its bias as products of spectra."""
    rows, columns = x.shape[-2:]
    circle = (rows + rows // 2, columns + columns // 2)
    # Frequencies first: each is a matrix product (B, inputs) (inputs, outputs).
    maps = torch.fft.rfft2(x, s=circle).permute(2, 3, 0, 1).contiguous()
    kernels = torch.fft.rfft2(weight, s=circle).permute(2, 3, 1, 0).contiguous().conj_physical()
    y: Tensor = torch.fft.irfft2((maps @ kernels).permute(2, 3, 0, 1), s=circle)
    # The kernel's first tap is that of distance -floor((n - 1) / 2), not of 0.
    return y.roll(((rows - 1) // 2, (columns - 1) // 2), (2, 3))[:, :, :rows, :columns]
