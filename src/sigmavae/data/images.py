"""One's own images: a folder, nested as one likes, or a zip, of PNG, JPEG and WebP files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath

from sigmavae.config import DataConfig
from sigmavae.data.archive import Archive
from sigmavae.data.frames import folders
from sigmavae.data.picture import SUFFIXES, decode, is_gray
from sigmavae.data.resize import SQUARE, Item, with_channels
from sigmavae.data.source import Part, Source
from sigmavae.errors import DataError

SPLITS = {"train": "train", "validation": "validation", "valid": "validation", "val": "validation", "test": "test"}
"""What a top folder may be called, and the split it is then."""

LOOKED_AT = 256  # pictures whose headers say whether all are gray


def locate(path: Path) -> Sequence[Path]:
    """Return every image file in a folder and those below, in order; or a zip that holds some."""
    if path.is_file():
        return [path] if path.suffix.lower() == ".zip" and Archive(path).names(SUFFIXES) else []
    return sorted(file for files in folders(path) for file in files if file.suffix.lower() in SUFFIXES)


def open_images(files: Sequence[Path], config: DataConfig) -> Source:
    """Return the images in the splits that their top folders are named after, if they are; else all of them."""
    if files[0].suffix.lower() == ".zip":
        archive = Archive(files[0])
        names, about = archive.names(SUFFIXES), f"images of {files[0].name}"
        pictures = Pictures(names, archive.read, config)
        return Source(by_folder(_below_common([PurePath(name) for name in names]), pictures.part), SQUARE, about)
    pictures = Pictures([str(file) for file in files], Path, config)
    root = Path(os.path.commonpath([file.parent for file in files]))
    return Source(by_folder(_below_common(files), pictures.part), SQUARE, f"images of {root.name}")


def _below_common(files: Sequence[PurePath]) -> list[PurePath]:
    """Return paths as they are below the deepest folder that has all of them."""
    root = os.path.commonpath([file.parent for file in files])
    return [file.relative_to(root) for file in files]


class Pictures:
    """Pictures by name, all gray or all in colour."""

    def __init__(self, names: Sequence[str], get: Callable[[str], Path | bytes], config: DataConfig) -> None:
        self._names, self._get, self._side = names, get, config.size
        step = -(-len(names) // LOOKED_AT)
        self._gray = config.channels is None and all(self._seems_gray(name) for name in names[::step])

    def part(self, numbers: Sequence[int]) -> Part:
        """Return those of the given numbers."""
        return Part(len(numbers), lambda i: self._read(self._names[numbers[i]]), lambda i: self._names[numbers[i]])

    def _seems_gray(self, name: str) -> bool:
        try:
            return is_gray(self._get(name))
        except DataError:  # will be said when it is its turn to be read
            return True

    def _read(self, name: str) -> Item:
        picture = decode(self._get(name), name, self._side)
        if self._gray and picture.shape[-1] == 3:
            raise DataError(
                f"{name}: is in colour, unlike the others: --data.channels 3 takes all as RGB, 1 all as gray"
            )
        return with_channels(picture, 1 if self._gray else 3)


def by_folder(paths: Sequence[PurePath], part: Callable[[Sequence[int]], Part]) -> Mapping[str, Part]:
    """Return a part for each split that top folders are named after; `all` unless there are train and test."""
    members: dict[str, list[int]] = {}
    for number, path in enumerate(paths):
        members.setdefault(SPLITS.get(path.parts[0].lower(), "") if len(path.parts) > 1 else "", []).append(number)
    if {"train", "test"} <= members.keys() and "" not in members:
        return {name: part(numbers) for name, numbers in members.items()}
    return {"all": part(range(len(paths)))}
