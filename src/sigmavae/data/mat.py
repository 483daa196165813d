"""One variable of a MATLAB file."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigmavae.data.resize import Item
from sigmavae.errors import DataError

_HEADER = 128  # bytes before the first variable


def read_bytes(path: Path, name: str, dimensions: int) -> Item:
    """Return a variable of 8-bit values with so many dimensions."""
    from scipy.io import loadmat  # slow to import, and few sets need it

    _demand_whole(path)
    try:
        content: dict[str, NDArray[Any]] = loadmat(path, variable_names=[name])
    except Exception as error:  # the parser raises whatever a damaged byte leads it to
        raise DataError(
            f"{path}: is no whole MATLAB 5 file ({type(error).__name__}: {error}); fetch it again"
        ) from error
    if name not in content:
        raise DataError(f"{path}: has no variable {name!r}; is it the published file?")
    values = content[name]
    if values.dtype != np.uint8 or values.ndim != dimensions or 0 in values.shape:
        raise DataError(
            f"{path}: {name!r} is {values.dtype} {values.shape}, not 8-bit values in {dimensions} dimensions"
        )
    return values


def _demand_whole(path: Path) -> None:
    """Follow the sizes in a file from one variable to the next: a file that was cut does not end where they do."""
    size, place = path.stat().st_size, _HEADER
    with path.open("rb") as file:
        head = file.read(_HEADER)
        order = {b"IM": "<", b"MI": ">"}.get(head[-2:], "")
        while order and place < size:
            file.seek(place)
            tag = file.read(8)
            place += 8 + (struct.unpack(f"{order}II", tag)[1] if len(tag) == 8 else 0)
    if not order or place != size:
        raise DataError(f"{path}: is no whole MATLAB 5 file ({size} bytes); fetch it again")
