r"""Transposed convolutions as ordinary ones on the small grid: the same numbers, sooner.

A transposed convolution of stride s writes output s j + a, a = 0 .. s - 1, from the inputs near j:

    y[s j + a] = sum_d x[j - d] w[s d + a + p]

So each of the s^2 phases (a, b) is a convolution of the input with every s-th tap of the weight, and all phases are one
convolution with s^2 times the channels, whose output is shuffled into place (Shi et al., 2016). Convolutions are what
libraries are tuned for; their scatter-add twin is not.
"""

from __future__ import annotations

import torch
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
        return shuffle(self.in_phases(x), self.stride[0])

    def in_phases(self, x: Tensor) -> Tensor:
        """Return the output as its phases, (B, stride^2 outputs, H, W)."""
        return _same_size(x, phases(self.weight.to(x.dtype), self.stride[0]), self.bias, self.stride[0])


def last_two(x: Tensor, up: TransposedConv2d, last: nn.ConvTranspose2d) -> Tensor:
    """Return last(relu(up(x))), the last layer one of stride 1 that keeps the size, all of it on the small grid.

    What is shuffled are then a few output channels, and not the many between the two layers.
    """
    if not keeps_size(last):
        raise ValueError(f"{last}: last_two takes a layer that keeps the size, of stride 1 and padding (k - 1) / 2")
    if x.is_cuda:
        large: Tensor = last(F.relu_(up(x)))
        return large
    stride = up.stride[0]
    hidden = F.relu_(up.in_phases(x))
    return shuffle(_same_size(hidden, between_phases(last.weight.to(hidden.dtype), stride), last.bias, stride), stride)


def keeps_size(layer: nn.ConvTranspose2d) -> bool:
    """Whether a layer's output has the size of its input: stride 1, padding (k - 1) / 2 and nothing else."""
    plain = (layer.stride, layer.dilation, layer.output_padding, layer.groups) == ((1, 1), (1, 1), (0, 0), 1)
    return plain and layer.padding == tuple((side - 1) / 2 for side in layer.kernel_size)


def shuffle(y: Tensor, stride: int) -> Tensor:
    """Return phases (B, s^2 O, H, W) put into place, (B, O, s H, s W), in channels_last.

    The outputs of a phase lie side by side there, so whole runs of them are copied; `pixel_shuffle` has them apart.
    """
    batch, channels, height, width = y.shape
    outputs = channels // stride**2
    grid = y.permute(0, 2, 3, 1).reshape(batch, height, width, stride, stride, outputs)
    rows: Tensor = grid.transpose(2, 3).reshape(batch, stride * height, stride * width, outputs)
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


def between_phases(weight: Tensor, stride: int) -> Tensor:
    """Return the weight (I, O, k, k) of a transposed convolution of stride 1, as one from phases to phases.

    Its padding is (k - 1) / 2, a multiple of s. Output s j + a reads its input s (j + e) + b with tap
    t = s (e + reach) + b - a of the turned kernel: phase a has the taps moved on by a.
    """
    inputs, outputs, kernel, _ = weight.shape
    if (kernel - 1) % (2 * stride):
        raise ValueError(f"kernel={kernel}, stride={stride}: half of kernel - 1 must be a multiple of stride")
    taps = (kernel - 1) // stride + 1
    turned = weight.flip(2, 3).transpose(0, 1)
    spare = stride - 1
    moved = [F.pad(turned, (b, spare - b, a, spare - a)) for a in range(stride) for b in range(stride)]
    every = torch.stack(moved).reshape(stride * stride, outputs, inputs, taps, stride, taps, stride)
    size = (stride * stride * outputs, stride * stride * inputs, taps, taps)
    return every.permute(0, 1, 4, 6, 2, 3, 5).reshape(size)


def _same_size(x: Tensor, weight: Tensor, bias: Tensor | None, stride: int) -> Tensor:
    every = None if bias is None else bias.repeat(stride * stride)
    return F.conv2d(x, weight, every, padding=weight.shape[-1] // 2)
