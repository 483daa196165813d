"""A training step of the small VAE as it is shipped, but for one thing.

    python benchmarks/contenders/without.py THING PRECISION STEPS

prints the seconds of every step. THING is a key of THINGS below, or "nothing".
"""

import sys
import time
from contextlib import nullcontext
from pathlib import Path

from sigmavae.memory import keep_freed_memory

if "kept memory" not in sys.argv:
    keep_freed_memory()  # before torch

import torch

import sigmavae
from sigmavae.models import ConvVAE

sys.path.append(str(Path(__file__).parents[1]))
import plainly

THINGS = {
    "nothing": nullcontext,
    "kept memory": nullcontext,
    "channels_last": nullcontext,
    "the fused optimizer": nullcontext,
    "transposed convolutions by phases": plainly.own_transposed,
    "the last two layers together": plainly.last_two_apart,
    "linear layers without copies": plainly.flat_linears,
    "reading the loss only now and then": nullcontext,
}


def main(thing: str, precision: str, steps: int) -> None:
    torch.manual_seed(0)
    layout = torch.contiguous_format if thing == "channels_last" else torch.channels_last
    model = ConvVAE((3, 28, 28), sigmavae.likelihood("optimal-sigma")).to(memory_format=layout)
    fused = None if thing == "the fused optimizer" else True
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)
    images = torch.randint(0, 256, (128, 3, 28, 28), dtype=torch.uint8).contiguous(memory_format=layout)
    with THINGS[thing]():
        for _ in range(steps):
            began = time.perf_counter()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16-mixed"):
                elbo = model(images.float().div_(255))
            optimizer.zero_grad()
            elbo.loss.backward()
            optimizer.step()
            if thing == "reading the loss only now and then":
                elbo.loss.item()
            print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
