"""sigmavae sample RUN"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
from tyro.conf import arg

from sigmavae.data import Splits, to_unit
from sigmavae.errors import ConfigError
from sigmavae.filmstrip import FUTURES, futures_of, write_animation, write_strip
from sigmavae.models import VideoModel
from sigmavae.pictures import write_grid
from sigmavae.run import load_run
from sigmavae.verbs.common import Noise, RunFolder, Split, demand_positive, parse

IMAGES = 64


def main(words: Sequence[str]) -> None:
    """Parse and sample."""
    parse("sample", sample, words, "sigmavae sample runs/mine --n 100 --seed 3")


def sample(
    run: RunFolder,
    n: Annotated[
        int | None, arg(metavar="N", help=f"default: {IMAGES} images, or {FUTURES} futures to choose the best of")
    ] = None,
    noise: Noise = False,
    temperature: Annotated[float, arg(help="factor on the standard deviation of the prior")] = 1.0,
    seed: Annotated[int, arg(help="of the samples")] = 0,
    split: Split = "test",
    video: Annotated[int, arg(metavar="N", help="of videos, which of the split, counted from 0")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: RUN/samples.png; of videos also .gif")] = None,
) -> None:
    """Draw images from the prior and write them as one picture.

    Of a model of videos, write a picture and a GIF: a real video, the best of N futures of its first frames, and three
    random ones, one a row. Frames that were given have a green border.
    """
    demand_positive("n", 1 if n is None else n)
    if not 0 <= temperature < math.inf:
        raise ConfigError(f"--temperature {temperature}: must be 0 or more")
    _, model, splits = load_run(run)
    torch.manual_seed(seed)
    path = out or run / "samples.png"
    if isinstance(model, VideoModel):
        video_of = _chosen(splits, split, video).to(model.device)
        if path.suffix == ".gif":  # the animation's name; the strip has the other
            path = path.with_suffix(".png")
        rows = futures_of(model, video_of, n or FUTURES, noise, temperature)
        print(f"wrote {write_strip(path, rows, model.past)}")
        print(f"wrote {write_animation(path.with_suffix('.gif'), rows, model.past)}")
        others = {0: "", 1: "; a random one"}.get(len(rows) - 2, f"; {len(rows) - 2} random ones")
        print(f"rows: {split} video {video}; the best of {n or FUTURES} futures by PSNR{others}")
    else:
        print(f"wrote {write_grid(path, model.sample(n or IMAGES, noise, temperature))}")


def _chosen(splits: Splits, split: str, number: int) -> torch.Tensor:
    videos = splits.split(split)
    if not 0 <= number < len(videos):
        raise ConfigError(f"--video {number}: the {split} split has videos 0 to {len(videos) - 1}")
    return to_unit(torch.tensor(videos[number]))
