"""The limit: the convolutions of the small VAE alone, forward and backward, in the fastest form known here.

    python benchmarks/contenders/limit.py PRECISION STEPS

prints the seconds of every pass. No data, loss, optimizer or linear layers: what no trainer of these layers can beat.
"""

import sys
import time

from sigmavae.memory import keep_freed_memory

keep_freed_memory()  # before torch

import torch  # noqa: E402
from torch import nn  # noqa: E402


def main(precision: str, steps: int) -> None:
    torch.manual_seed(0)
    dtype = torch.bfloat16 if precision == "bf16-mixed" else torch.float32
    # The transposed ones as what they come to: all phases at once on the small grid, nothing shuffled into place.
    layers = nn.ModuleList(
        [
            nn.Conv2d(3, 32, 3, padding=1),
            nn.Conv2d(32, 64, 4, stride=2, padding=1),
            nn.Conv2d(64, 128, 5, stride=2, padding=2),
            nn.Conv2d(128, 4 * 64, 3, padding=1),
            nn.Conv2d(64, 4 * 32, 3, padding=1),
            nn.Conv2d(4 * 32, 4 * 3, 3, padding=1),
        ]
    ).to(dtype=dtype, memory_format=torch.channels_last)
    sizes = [(3, 28), (32, 28), (64, 14), (128, 7), (64, 14), (128, 14)]
    inputs = [torch.randn(128, c, s, s, dtype=dtype).contiguous(memory_format=torch.channels_last) for c, s in sizes]
    for x in inputs[1:]:  # images need no gradient
        x.requires_grad_()
    gradients = [torch.randn_like(layer(x)) for layer, x in zip(layers, inputs, strict=True)]
    for _ in range(steps):
        began = time.perf_counter()
        for layer, x, gradient in zip(layers, inputs, gradients, strict=True):
            layer(x).backward(gradient)
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
