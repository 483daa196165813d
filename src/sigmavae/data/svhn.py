"""Street View House Numbers, cropped digits: train_32x32.mat and test_32x32.mat (Netzer et al., 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.mat import read_bytes
from sigmavae.data.resize import WHOLE
from sigmavae.data.source import Part, Source, of_array
from sigmavae.errors import DataError

_PATTERN = "*_32x32*.mat"


def locate(path: Path) -> Sequence[Path]:
    """Return the training and the test file of a folder, or a file alone."""
    if path.is_file():
        return [path] if path.match(_PATTERN) else []
    both = [path / "train_32x32.mat", path / "test_32x32.mat"]
    if all(file.is_file() for file in both):
        return both
    found = sorted(file for file in path.glob(_PATTERN) if file.is_file())
    return found if len(found) == 1 else []


def open_svhn(files: Sequence[Path], config: DataConfig) -> Source:  # noqa: ARG001
    """Return the images of both files, 3 x 32 x 32, or all of one."""
    names = ("train", "test") if len(files) > 1 else ("all",)
    parts = {name: _part(file) for name, file in zip(names, files, strict=True)}
    about = "SVHN, train_32x32.mat and test_32x32.mat" if len(files) > 1 else f"SVHN, {files[0].name} alone"
    return Source(parts, WHOLE, about)


def _part(file: Path) -> Part:
    images = read_bytes(file, "X", 4)
    if images.shape[:3] != (32, 32, 3):
        raise DataError(f"{file}: 'X' is {images.shape}, not (32, 32, 3, images)")
    return of_array(np.moveaxis(images, -1, 0), file.name)
