r"""Transposed convolutions as ordinary ones on the small grid: the same numbers, sooner.

A transposed convolution of stride s writes output s j + a, a = 0 .. s - 1, from the inputs near j:

    y[s j + a] = sum_d x[j - d] w[s d + a + p]

So each of the s^2 phases (a, b) is a convolution of the input with every s-th tap of the weight, and all phases are one
convolution with s^2 times the channels, whose output is shuffled into place (Shi et al., 2016). Convolutions are what
libraries are tuned for; their scatter-add twin is not.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class TransposedConv2d(nn.ConvTranspose2d):
    """An `nn.ConvTranspose2d` with a square kernel that makes each side `stride` times as long.

    It has the same weight, in the same layout, and the same output to rounding.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        if kernel < stride or (kernel - stride) % 2:
            raise ValueError(f"kernel={kernel}, stride={stride}: their difference must be even and not negative")
        super().__init__(inputs, outputs, kernel, stride, padding=(kernel - stride) // 2)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        """Return the transposed convolution of x (B, inputs, H, W): (B, outputs, stride H, stride W)."""
        if output_size is not None:
            raise ValueError("output_size is stride times the input's: leave it out")
        if x.is_cuda:  # cuDNN has this one: nothing to gain, and a small network waits for every further launch
            return super().forward(x)
        stride = self.stride[0]
        weight = phases(self.weight, stride)
        bias = None if self.bias is None else self.bias.repeat(stride * stride)
        return shuffle(F.conv2d(x, weight, bias, padding=weight.shape[-1] // 2), stride)


def shuffle(y: Tensor, stride: int) -> Tensor:
    """Return phases (B, s^2 O, H, W) put into place, (B, O, s H, s W), in channels_last.

    The outputs of a phase lie side by side there, so whole runs of them are copied; `pixel_shuffle` has them apart.
    """
    batch, _, height, width = y.shape
    grid = y.permute(0, 2, 3, 1).unflatten(3, (stride, stride, -1))
    rows: Tensor = grid.transpose(2, 3).reshape(batch, stride * height, stride * width, -1)
    return rows.permute(0, 3, 1, 2)


def phases(weight: Tensor, stride: int) -> Tensor:
    """Return the weight (I, O, k, k) of a transposed convolution as that of a convolution, (s^2 O, I, n, n), n odd."""
    inputs, outputs, kernel, _ = weight.shape
    reach = (kernel + stride - 2) // (2 * stride)  # inputs on either side that some phase needs
    padding = (kernel - stride) // 2
    # Tap t = s d + a + p of the weight is phase a, distance d; zeros where a phase has no such tap.
    before = stride * reach - padding
    after = stride * (2 * reach + 1) - before - kernel
    taps = F.pad(weight, (before, after, before, after)).reshape(inputs, outputs, *[2 * reach + 1, stride] * 2)
    # x[j - d] of a transposed convolution is x[j + e] of a convolution: distances are turned round.
    turned = taps.flip(2, 4)
    return turned.permute(3, 5, 1, 0, 2, 4).reshape(stride * stride * outputs, inputs, 2 * reach + 1, 2 * reach + 1)
