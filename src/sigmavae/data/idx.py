"""MNIST and Fashion-MNIST: idx files, gzipped or not (LeCun; Xiao et al., 2017)."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.resize import WHOLE, Item
from sigmavae.data.source import Source, of_array
from sigmavae.errors import DataError

_FILES = {"train": "train-images-idx3-ubyte", "test": "t10k-images-idx3-ubyte"}
_BYTES, _DIMENSIONS = 0x08, 3  # of the magic number: unsigned bytes, in three dimensions
_PIECE = 1 << 20


def locate(path: Path) -> Sequence[Path]:
    """Return the training and the test file in a folder."""
    found = [_first(path / stem, path / f"{stem}.gz") for stem in _FILES.values()]
    return [file for file in found if file is not None] if all(found) else []


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if path.exists()), None)


def open_idx(files: Sequence[Path], config: DataConfig) -> Source:  # noqa: ARG001
    """Return the images of both files, 1 x 28 x 28."""
    parts = {}
    for name, stem in _FILES.items():
        file = next(file for file in files if file.name.startswith(stem))
        parts[name] = of_array(read_images(file), file.name)
    return Source(parts, WHOLE, " and ".join(file.name for file in files))


def read_images(path: Path) -> Item:
    """Return the images of an idx file, uint8 (N, H, W, 1)."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
            shape = _shape(path, file.read(4 + 4 * _DIMENSIONS))
            values = _exactly(path, file, math.prod(shape))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error}); fetch it again") from error
    return np.frombuffer(values, dtype=np.uint8).reshape(*shape, 1)


def _shape(path: Path, header: bytes) -> tuple[int, ...]:
    if len(header) < 4 + 4 * _DIMENSIONS or header[:4] != bytes((0, 0, _BYTES, _DIMENSIONS)):
        raise DataError(f"{path}: is no idx file of 8-bit images (its first bytes are {header[:4].hex(' ')})")
    shape = tuple(int(size) for size in np.frombuffer(header, dtype=">u4", offset=4))
    if 0 in shape:
        raise DataError(f"{path}: holds no images (its shape is {shape})")
    return shape


def _exactly(path: Path, file: IO[bytes], count: int) -> bytearray:
    """Return the rest of a file, which must be so long; what a header claims is never allocated before it is there."""
    values = bytearray()
    while len(values) <= count and (piece := file.read(min(_PIECE, count + 1 - len(values)))):
        values += piece
    if len(values) != count:
        few = f"only {len(values)}" if len(values) < count else "more"
        raise DataError(f"{path}: its header promises {count} bytes of images, but there are {few}; fetch it again")
    return values
