"""sigmavae sample RUN"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
from tyro.conf import arg

from sigmavae.pictures import write_grid
from sigmavae.run import load_run
from sigmavae.verbs.common import Noise, RunFolder, demand_positive, parse


def main(words: Sequence[str]) -> None:
    """Parse and sample."""
    parse("sample", sample, words, "sigmavae sample runs/mine --n 100 --seed 3")


def sample(
    run: RunFolder,
    n: Annotated[int, arg(help="how many images")] = 64,
    noise: Noise = False,
    seed: Annotated[int, arg(help="of the samples")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: RUN/samples.png")] = None,
) -> None:
    """Draw images from the prior and write them as one picture."""
    demand_positive("n", n)
    _, model, _ = load_run(run)
    torch.manual_seed(seed)
    print(f"wrote {write_grid(out or run / 'samples.png', model.sample(n, noise))}")
