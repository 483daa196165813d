"""One's own arrays, .npy or .npz: images or videos, 8-bit, or floats in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigmavae.config import DataConfig
from sigmavae.data.resize import SQUARE, Item
from sigmavae.data.source import Part, Source
from sigmavae.errors import DataError

_SUFFIXES = (".npy", ".npz")
_SPLITS = ("train", "validation", "test")
_COLOURS = (1, 3)
_LAYOUTS = "(N, H, W), (N, H, W, C), (N, C, H, W), (N, T, H, W, C) or (N, T, C, H, W), with C = 1 or 3"
_USUAL = ("images", "frames", "videos", "data", "x", "X", "arr_0")  # names that the array of an .npz may have


def locate(path: Path) -> Sequence[Path]:
    """Return a file, the only one of a folder, or those called train, test and perhaps validation."""
    if path.is_file():
        return [path] if path.suffix.lower() in _SUFFIXES else []
    found = sorted(file for file in path.glob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    named = [file for file in found if file.stem in _SPLITS]
    if {"train", "test"} <= {file.stem for file in named}:
        return named
    return found if len(found) == 1 else []


def open_arrays(files: Sequence[Path], config: DataConfig) -> Source:
    """Return the arrays of all files, or of the members of one .npz, in the splits that they are named after."""
    if len(files) == 1:
        arrays = _of_file(files[0])
        about = files[0].name
    else:
        arrays = {file.stem: next(iter(_of_file(file).values())) for file in files}
        about = files[0].parent.name
    parts = {
        name: part_of(array, f"{about}, {name}" if name != "all" else about, config) for name, array in arrays.items()
    }
    return Source(parts, SQUARE, f"arrays of {about}")


def part_of(array: NDArray[Any], name: str, config: DataConfig) -> Part:
    """Return the items of an array, whatever its layout."""
    items = _channels_last(array, name)
    if config.frames is not None and items.ndim == 5:
        if items.shape[1] < config.frames:
            raise DataError(f"{name}: has videos of {items.shape[1]} frames, fewer than --data.frames {config.frames}")
        items = items[:, : config.frames]
    kind = "video" if items.ndim == 5 else "image"

    def read(i: int) -> Item:
        return _bytes(np.asarray(items[i]), f"{name}: {kind} {i}")

    return Part(len(items), read, lambda i: f"{kind} {i} of {name}")


def _of_file(path: Path) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a file by the names of splits; one that is not split is `all`."""
    try:
        if path.suffix.lower() == ".npy":
            return {"all": np.lib.format.open_memmap(path, mode="r")}
        with path.open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as content:
            return {name: np.asarray(content[member]) for name, member in _members(path, content.files).items()}
    except (OSError, ValueError, EOFError, MemoryError, KeyError) as error:
        raise DataError(f"{path}: is no whole file of plain arrays ({error}); save it again") from error
    except Exception as error:  # zipfile and zlib have errors of their own
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: is damaged ({error}); save it again") from error


def _members(path: Path, names: Sequence[str]) -> dict[str, str]:
    if {"train", "test"} <= set(names):
        return {name: name for name in _SPLITS if name in names}
    usual = [name for name in _USUAL if name in names]
    if usual or len(names) == 1:
        return {"all": usual[0] if usual else names[0]}
    raise DataError(f"{path}: holds {', '.join(names[:8])}; call one of them images, or two train and test")


def _channels_last(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim == 3:
        array = array[..., None]
    elif array.ndim in (4, 5) and array.shape[-1] not in _COLOURS and array.shape[-3] in _COLOURS:
        array = np.moveaxis(array, -3, -1)
    if array.ndim not in (4, 5) or array.shape[-1] not in _COLOURS or 0 in array.shape:
        raise DataError(f"{name}: has shape {array.shape}; images and videos are {_LAYOUTS}")
    if array.dtype.kind not in "buif":
        raise DataError(f"{name}: is {array.dtype}; give 8-bit values, or floats in [0, 1]")
    return array


def _bytes(item: NDArray[Any], name: str) -> Item:
    """Return values as 8-bit ones: floats are those over 255, true is 255."""
    if item.dtype == np.uint8:
        return item
    if item.dtype.kind == "b":
        return item.astype(np.uint8) * np.uint8(255)
    low, high = float(item.min()), float(item.max())
    top = 1 if item.dtype.kind == "f" else 255
    if not (low >= 0 and high <= top):  # NaN fails too
        raise DataError(f"{name} has values from {low:g} to {high:g}: {item.dtype} must lie in [0, {top}]; rescale it")
    return (item * 255).round().astype(np.uint8) if top == 1 else item.astype(np.uint8)
