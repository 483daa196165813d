"""Prepared data on disk: made once, whole or not at all, and mapped into memory from then on."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from sigmavae.data.splits import NAMES, Images, Splits
from sigmavae.errors import DataError
from sigmavae.files import absolute, waiting_for

VARIABLE = "SIGMAVAE_CACHE"
LAYOUT = 1  # of the files; another number makes everything be prepared again


def cache_folder() -> Path:
    """Return where downloads and prepared data are kept: $SIGMAVAE_CACHE, or the platform's cache folder."""
    named = os.environ.get(VARIABLE)
    return absolute(Path(named)) if named else Path(platformdirs.user_cache_dir("sigmavae"))


def prepared(name: str, files: Sequence[Path], options: dict[str, Any], make: Callable[[Path], None]) -> Splits:
    """Return the splits that `make` writes into a folder, from an earlier time if files and options are the same.

    Files are the same if their paths, sizes and times of change are.
    """
    identity = json.dumps([LAYOUT, name, options, [_stamp(path) for path in files]])
    folder = cache_folder() / "prepared" / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    found = _mapped(folder)
    if found is not None:
        return found
    try:
        return _made(folder, make)
    except OSError as error:
        raise DataError(
            f"prepared data cannot be written below {folder.parent} ({error.strerror or error}): "
            f"name a folder with more room in the environment variable {VARIABLE}"
        ) from error


def _made(folder: Path, make: Callable[[Path], None]) -> Splits:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with waiting_for(folder.parent / f".{folder.name}.lock"):
        found = _mapped(folder)  # another process may have been faster
        if found is not None:
            return found
        for leftover in folder.parent.glob(f".{folder.name}.*.tmp"):  # of a process that was killed
            shutil.rmtree(leftover)
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            dir=folder.parent, prefix=f".{folder.name}.", suffix=".tmp", ignore_cleanup_errors=True
        ) as temporary:
            inner = Path(temporary) / "data"
            inner.mkdir()
            make(inner)
            inner.replace(folder)
    made = _mapped(folder)
    if made is None:
        raise DataError(f"{folder} was written but cannot be read: is the disk sound?")
    return made


def _mapped(folder: Path) -> Splits | None:
    """Return the folder's arrays, mapped; nothing if it is not there or damaged."""
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        shape, counts = tuple(about["shape"]), about["counts"]
        for name in NAMES:
            if (folder / f"{name}.u8").stat().st_size != counts[name] * math.prod(shape):
                return None
        arrays = {name: _map(folder / f"{name}.u8", (counts[name], *shape)) for name in NAMES}
        return Splits(**arrays, source=about["source"], fingerprint=about["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _map(path: Path, shape: tuple[int, ...]) -> Images:
    # To read only: of pages that can be written, private ones too, Linux maps no more than there is memory.
    return np.memmap(path, dtype=np.uint8, mode="r", shape=shape)


def _stamp(path: Path) -> list[str | int]:
    try:
        status = path.stat()
    except OSError:  # a link to nowhere: said when it is its turn to be read
        return [str(path.absolute())]
    return [str(path.absolute()), status.st_size, status.st_mtime_ns]
