"""CelebA, aligned faces of 178 x 218 (Liu et al., 2015): a folder or the zip of JPEGs, and list_eval_partition.txt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from sigmavae.config import DataConfig
from sigmavae.data import images
from sigmavae.data.archive import Archive
from sigmavae.data.images import Pictures
from sigmavae.data.picture import SUFFIXES
from sigmavae.data.resize import Crop, centre
from sigmavae.data.source import Part, Source
from sigmavae.errors import DataError

_PARTITION = "list_eval_partition.txt"
_ARCHIVES = ("*.[zZ][iI][pP]", "*/*.[zZ][iI][pP]")
_SPLITS = {"0": "train", "1": "validation", "2": "test"}
_KEPT, _WIDTH = 148, 178  # pixels: the usual crop, without most of the background


def _face(height: int, width: int) -> tuple[slice, slice]:
    side = min(height, round(width * _KEPT / _WIDTH))  # the same part of a face in copies of half the size
    return centre(height, side), centre(width, side)


FACE = Crop(f"the centre {_KEPT} x {_KEPT} of {_WIDTH} x 218", _face)


def locate(path: Path) -> Sequence[Path]:
    """Return the partition file, then the zip or the images; at most one folder below the path."""
    if path.is_file():
        partition = path.parent / _PARTITION
        return [partition, path] if _is_zip(path) and partition.is_file() else []
    partitions = [file for file in (*path.glob(_PARTITION), *sorted(path.glob(f"*/{_PARTITION}"))) if file.is_file()]
    if not partitions:
        return []
    archives = [file for pattern in _ARCHIVES for file in sorted(path.glob(pattern)) if _is_zip(file)]
    # The published folder has archives of other things too.
    named = [file for file in archives if file.name.startswith("img_align_celeba")]
    faces = (named or archives)[:1] or images.locate(path)
    return [partitions[0], *faces] if faces else []


def open_celeba(files: Sequence[Path], config: DataConfig) -> Source:
    """Return the faces in their official splits."""
    partition, first, *_ = files
    split_of = read_partition(partition)
    if _is_zip(first):
        archive = Archive(first)
        names, about = archive.names(SUFFIXES), first.name
        pictures = Pictures(names, archive.read, config)
    else:
        names, about = [str(file) for file in files[1:]], first.parent.name
        pictures = Pictures(names, Path, config)
    return Source(_parts(names, split_of, partition, pictures.part), FACE, f"CelebA, {len(names)} faces of {about}")


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file()


def read_partition(path: Path) -> dict[str, str]:
    """Return the split of every file name."""
    split_of = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        name, _, split = line.strip().partition(" ")
        if split.strip() not in _SPLITS:
            raise DataError(f"{path}: line {number} is {line[:60]!r}, not a file name and 0, 1 or 2; fetch it again")
        split_of[name] = _SPLITS[split.strip()]
    return split_of


def _parts(
    names: Sequence[str], split_of: Mapping[str, str], partition: Path, part: Callable[[Sequence[int]], Part]
) -> Mapping[str, Part]:
    members: dict[str, list[int]] = {split: [] for split in _SPLITS.values()}
    for number, name in enumerate(names):
        split = split_of.get(PurePosixPath(name).name)
        if split is None:
            raise DataError(f"{name}: is not in {partition}; remove it, or add a line that says its split")
        members[split].append(number)
    empty = [split for split, numbers in members.items() if not numbers]
    if empty:
        raise DataError(f"{partition}: says that none of the {len(names)} faces at hand is for {empty[0]}")
    return {split: part(numbers) for split, numbers in members.items()}
