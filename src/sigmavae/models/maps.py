"""Linear layers from and to maps (B, C, H, W) that lie channels last in memory, without copies into another order.

They store and load the weights of an ordinary linear layer on the flattened map and give the same numbers to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def from_map(x: Tensor, *linears: nn.Linear) -> tuple[Tensor, ...]:
    """Return linear(x.flatten(1)) of each layer: as one convolution whose kernel is as large as the map."""
    weight = torch.cat([linear.weight for linear in linears]).to(x.dtype)
    bias = torch.cat([linear.bias for linear in linears]).to(x.dtype)
    if x.is_cuda:  # a product of matrices is what it has the fastest form of
        every = F.linear(x.flatten(1), weight, bias)
    else:
        every = F.conv2d(x, weight.unflatten(1, x.shape[1:]), bias).flatten(1)
    sizes = [linear.out_features for linear in linears]
    return torch.split(every, sizes, dim=1)


def to_map(z: Tensor, linear: nn.Linear, shape: Sequence[int]) -> Tensor:
    """Return linear(z) as a map (B, *shape), channels last: the rows of the weight are taken in that order."""
    channels, height, width = shape
    weight = linear.weight.unflatten(0, (channels, height * width)).transpose(0, 1).flatten(0, 1)
    bias = linear.bias.unflatten(0, (channels, height * width)).t().flatten()
    rows = F.linear(z.to(weight.dtype), weight, bias)
    return rows.view(-1, height, width, channels).permute(0, 3, 1, 2)
