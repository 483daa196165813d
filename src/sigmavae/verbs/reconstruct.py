"""sigmavae reconstruct RUN"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
from tyro.conf import arg

from sigmavae.data import to_unit
from sigmavae.errors import ConfigError
from sigmavae.filmstrip import write_strip
from sigmavae.metrics.items import BATCH, fitting
from sigmavae.models import VideoModel
from sigmavae.pictures import beside, write_grid
from sigmavae.run import load_run
from sigmavae.verbs.common import Noise, RunFolder, Split, demand_positive, parse


def main(words: Sequence[str]) -> None:
    """Parse and reconstruct."""
    parse("reconstruct", reconstruct, words, "sigmavae reconstruct runs/mine --n 16")


def reconstruct(
    run: RunFolder,
    n: Annotated[int, arg(help="how many images or videos")] = 32,
    split: Split = "test",
    noise: Noise = False,
    drawn: Annotated[
        tuple[int, ...], arg(metavar="LAYER ...", help="layers drawn from the prior; 1 is nearest the image")
    ] = (),
    seed: Annotated[int, arg(help="of the latent codes")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: RUN/reconstructions.png")] = None,
) -> None:
    """Write real images, each with its reconstruction to the right, as one picture.

    Of videos, each frame is predicted from those before it, below the real ones; those given have a green border.

    With --drawn 15 14 13 the highest three of fifteen layers come from the prior, the others from the image's code.
    """
    demand_positive("n", n)
    _, model, splits = load_run(run)
    torch.manual_seed(seed)
    real = to_unit(torch.tensor(splits.split(split)[:n], device=model.device))
    path = out or run / "reconstructions.png"
    try:
        parts = real.split(fitting(model, BATCH))  # hundreds of videos at once are many GiB
        reconstructed = torch.cat([model.reconstruct(part, noise, drawn) for part in parts])
    except ValueError as error:
        raise ConfigError(f"--drawn: {error}") from error
    if isinstance(model, VideoModel):
        taught = torch.cat([real[:, : model.past], reconstructed], 1)
        print(f"wrote {write_strip(path, beside(real, taught), model.past)}")
    else:
        print(f"wrote {write_grid(path, beside(real, reconstructed))}")
