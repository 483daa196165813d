"""Frey Face: 1,965 frames of one face, 28 rows of 20 gray pixels (frey_rawface.mat, from Brendan Frey, via Roweis)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sigmavae.config import DataConfig
from sigmavae.data.mat import read_bytes
from sigmavae.data.resize import WHOLE
from sigmavae.data.source import Source, of_array
from sigmavae.errors import DataError

_FILE = "frey_rawface.mat"
_ROWS, _COLUMNS = 28, 20


def locate(path: Path) -> Sequence[Path]:
    """Return the file, named itself or by its folder."""
    file = path if path.is_file() else path / _FILE
    return [file] if file.name == _FILE and file.is_file() else []


def open_frey(files: Sequence[Path], config: DataConfig) -> Source:  # noqa: ARG001
    """Return all images, 1 x 28 x 20; nobody has published a split."""
    (file,) = files
    columns = read_bytes(file, "ff", 2)
    if len(columns) != _ROWS * _COLUMNS:
        raise DataError(f"{file}: 'ff' is {columns.shape}, not ({_ROWS * _COLUMNS}, images)")
    images = columns.T.reshape(-1, _ROWS, _COLUMNS, 1)
    return Source({"all": of_array(images, file.name)}, WHOLE, f"Frey Face, {file.name}")
