"""sigmavae sample RUN"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
from tyro.conf import arg

from sigmavae.data import Splits, to_unit
from sigmavae.errors import ConfigError
from sigmavae.filmstrip import FUTURES, RANDOM, futures_of, write_animation, write_strip
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
    seed: Annotated[int, arg(help="of the samples")] = 0,
    split: Split = "test",
    video: Annotated[int, arg(metavar="N", help="of videos, which of the split, counted from 0")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: RUN/samples.png")] = None,
) -> None:
    """Draw images from the prior and write them as one picture.

    Of a model of videos, write a picture and a GIF: a real video, the best of N futures of its first frames, and three
    random ones, one a row. Frames that were given have a green border.
    """
    demand_positive("n", 1 if n is None else n)
    _, model, splits = load_run(run)
    torch.manual_seed(seed)
    path = out or run / "samples.png"
    if isinstance(model, VideoModel):
        _film(model, splits, split, video, n or FUTURES, noise, path)
    else:
        print(f"wrote {write_grid(path, model.sample(n or IMAGES, noise))}")


def _film(model: VideoModel, splits: Splits, split: str, number: int, n: int, noise: bool, path: Path) -> None:
    videos = splits.split(split)
    if not 0 <= number < len(videos):
        raise ConfigError(f"--video {number}: the {split} split has videos 0 to {len(videos) - 1}")
    rows = futures_of(model, to_unit(torch.tensor(videos[number], device=model.device)), n, noise)
    print(f"wrote {write_strip(path, rows, model.past)}")
    print(f"wrote {write_animation(path.with_suffix('.gif'), rows, model.past)}")
    print(f"rows: {split} video {number}; the best of {n} futures by PSNR; {min(RANDOM, n - 1)} random ones")
