"""The peak: the arithmetic of one step's convolutions, forward and backward, as products of large square matrices.

    python benchmarks/contenders/product.py PRECISION STEPS

prints the seconds of every pass. The product is a 1 x 1 convolution, which is what oneDNN makes of one; torch.mm goes
through another library in float32, on some machines a slower one.
"""

import sys
import time

import torch
from torch.nn import functional as F

MULTIPLICATIONS = 128 * (784 * 27 * 32 + 196 * 512 * 64 + 49 * 1600 * 128 + 2 * 49 * 128 * 2304 + 784 * 800 * 3)
SIDE = 1024


def main(precision: str, steps: int) -> None:
    dtype = torch.bfloat16 if precision == "bf16-mixed" else torch.float32
    x = torch.randn(1, SIDE, SIDE, 1, dtype=dtype).contiguous(memory_format=torch.channels_last)
    weight = torch.randn(SIDE, SIDE, 1, 1, dtype=dtype)
    times = 3 * MULTIPLICATIONS / SIDE**3  # a pass forward and two back
    with torch.inference_mode():
        for _ in range(steps):
            began = time.perf_counter()
            for _ in range(round(times)):
                F.conv2d(x, weight)
            print((time.perf_counter() - began) * times / round(times), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
