"""Videos as folders of numbered frames: every folder that itself holds two or more images is one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.picture import SUFFIXES, decode
from sigmavae.data.resize import Item, with_channels
from sigmavae.errors import DataError

LARGEST = 1 << 31  # bytes of one video in memory


def locate(path: Path) -> Sequence[Path]:
    """Return all frames below a path, folder by folder, in the order of their numbers."""
    return [frame for files in folders(path) for frame in frames_of(files)]


def folders(path: Path) -> Iterator[list[Path]]:
    """Give the files of each folder, this one and all below, in natural order, without hidden ones."""
    for folder, below, names in os.walk(path, onerror=_unreadable):
        below[:] = sorted((name for name in below if not _hidden(name)), key=natural)
        yield [Path(folder, name) for name in sorted(names, key=natural) if not _hidden(name)]


def frames_of(files: Sequence[Path]) -> Sequence[Path]:
    """Return the images among the files of a folder, none if there is only one."""
    images = [file for file in files if file.suffix.lower() in SUFFIXES]
    return images if len(images) > 1 else []


def natural(name: str) -> tuple[list[str | int], str]:
    """Return a key that sorts 2 before 10."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split("([0-9]+)", name))], name


def read_frames(files: Sequence[Path], name: str, config: DataConfig) -> Item:
    """Return the first frames of a folder, as many as are asked for, as a video (T, H, W, C)."""
    return join((decode(file, str(file), config.size) for file in files), name, config)


def join(frames: Iterable[Item], name: str, config: DataConfig) -> Item:
    """Return the first of the frames, as many as are asked for, as a video; no more of them are read."""
    kept: list[Item] = []
    total = 0
    for frame in islice(frames, config.frames):
        kept.append(frame)
        total += frame.nbytes
        if total > LARGEST:
            raise DataError(f"{name}: takes more than {LARGEST >> 30} GiB: --data.frames 16 takes its first 16 frames")
    if not kept:
        raise DataError(f"{name}: has no frames that can be read; remove it")
    if config.frames is not None and len(kept) < config.frames:
        raise DataError(f"{name}: has {len(kept)} frames, fewer than --data.frames {config.frames}")
    channels = max(frame.shape[-1] for frame in kept)  # a black frame of a colour video may be stored as gray
    sizes = sorted({frame.shape[:2] for frame in kept})
    if len(sizes) > 1:
        raise DataError(f"{name}: has frames of different sizes, {' and '.join(f'{h} x {w}' for h, w in sizes[:2])}")
    return np.stack([with_channels(frame, channels) for frame in kept])


def _hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX")) or name == "lost+found"


def _unreadable(error: OSError) -> None:
    raise DataError(f"{error.filename}: cannot be read ({error.strerror})") from error
