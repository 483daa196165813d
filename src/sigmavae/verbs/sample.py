"""sigmavae sample RUN"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
from tyro.conf import arg

from sigmavae.errors import ConfigError
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
    temperature: Annotated[float, arg(help="factor on the standard deviation of the prior")] = 1.0,
    seed: Annotated[int, arg(help="of the samples")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: RUN/samples.png")] = None,
) -> None:
    """Draw images from the prior and write them as one picture."""
    demand_positive("n", n)
    if not 0 <= temperature < math.inf:
        raise ConfigError(f"--temperature {temperature}: must be 0 or more")
    _, model, _ = load_run(run)
    torch.manual_seed(seed)
    print(f"wrote {write_grid(out or run / 'samples.png', model.sample(n, noise, temperature))}")
