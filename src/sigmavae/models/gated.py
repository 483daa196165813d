"""The gated residual block of the hierarchical model."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.models.weight_norm import normed

Scale = Literal["same", "down", "up"]


class GatedBlock(nn.Module):
    """y = a sigmoid(b) + x, with (a, b) = conv2(dropout(elu(conv1(elu(x)) + side(skip)))).

    conv2 halves or doubles the sides if `scale` says so; the sum with x then takes x's average over 3 x 3, or is left
    out, as it is where the channels differ. `raw` inputs, data and samples, are neither activated nor added. `skip`
    says how many times as large the block's input is as the features beside it that are added in, 0 for none.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        kernel: int = 3,
        scale: Scale = "same",
        *,
        raw: bool = False,
        skip: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.raw, self.halves = raw, scale == "down"
        self.residual = not raw and inputs == width and scale != "up"
        self.conv1 = normed(nn.Conv2d(inputs, width, kernel, padding=kernel // 2))
        self.side = None
        if skip:
            self.side = normed(nn.Conv2d(width, width, 1)) if skip == 1 else doubling(width, width, kernel)
        if scale == "up":
            self.conv2: nn.Module = doubling(width, 2 * width, kernel)
        else:
            stride = 2 if self.halves else 1
            self.conv2 = normed(nn.Conv2d(width, 2 * width, kernel, stride=stride, padding=kernel // 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, skip: Tensor | None = None) -> Tensor:
        """Return the block's features of x; `skip` comes activated."""
        y = self.conv1(x if self.raw else F.elu(x))
        if self.side is not None:
            y = y + self.side(skip)
        y = F.glu(self.conv2(self.dropout(F.elu(y))), dim=1)
        if not self.residual:
            return y
        return y + (F.avg_pool2d(x, 3, stride=2, padding=1) if self.halves else x)


def doubling(inputs: int, outputs: int, kernel: int) -> nn.ConvTranspose2d:
    """Return a transposed convolution that doubles the sides."""
    return normed(nn.ConvTranspose2d(inputs, outputs, kernel, stride=2, padding=kernel // 2, output_padding=1))
