"""Linear layers from and to maps (B, C, H, W) that lie channels last in memory, without copies into another order.

They store and load the weights of an ordinary linear layer on the flattened map and give the same numbers to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional as F


def from_map(x: Tensor, linear: nn.Linear) -> Tensor:
    """Return linear(x.flatten(1)): as a convolution whose kernel is as large as the map."""
    weight, bias = linear.weight.to(x.dtype), linear.bias.to(x.dtype)
    if x.is_cuda:  # a product of matrices is what it has the fastest form of
        return F.linear(x.flatten(1), weight, bias)
    return F.conv2d(x, weight.unflatten(1, x.shape[1:]), bias).flatten(1)


def to_map(z: Tensor, linear: nn.Linear, shape: Sequence[int]) -> Tensor:
    """Return linear(z) as a map (B, *shape), channels last: the rows of the weight are taken in that order."""
    channels, height, width = shape
    weight = linear.weight.unflatten(0, (channels, height * width)).transpose(0, 1).flatten(0, 1)
    bias = linear.bias.unflatten(0, (channels, height * width)).t().flatten()
    rows = F.linear(z.to(weight.dtype), weight, bias)
    return rows.view(-1, height, width, channels).permute(0, 3, 1, 2)
