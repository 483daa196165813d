"""BAIR robot pushing, 64 x 64 (Ebert et al., 2017): TFRecords, the tar of them, PNG frames, or arrays of sequences."""

from __future__ import annotations

import dataclasses
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

import numpy as np
from PIL import Image

from sigmavae.config import DataConfig
from sigmavae.data import arrays, frames
from sigmavae.data.frames import natural
from sigmavae.data.images import SPLITS
from sigmavae.data.picture import SUFFIXES as PICTURES
from sigmavae.data.resize import WHOLE, Item
from sigmavae.data.source import Part, Source
from sigmavae.data.tfrecord import Record, bytes_features, index, read_record
from sigmavae.data.videos import source_of
from sigmavae.errors import DataError

_NEEDED = {"train", "test"}
_INNER, _TAR, _RECORDS = "softmotion30_44k", "bair_robot_pushing_dataset_v0.tar", ".tfrecords"
_SHAPE = (64, 64, 3)
_FRAME = re.compile("(0|[1-9][0-9]{0,3})/image_aux1/encoded")  # the main camera; image_main is the other


def locate(path: Path) -> Sequence[Path]:
    """Return TFRecords in train and test; or the tar of them; or PNG frames in train and test; or arrays."""
    return _records(path / _INNER) or _records(path) or _tar(path) or _pictures(path) or _arrays(path)


def open_bair(files: Sequence[Path], config: DataConfig) -> Source:
    """Return the sequences (T, 64, 64, 3) of the main camera, 30 frames each or as many as are asked for."""
    kind = files[0].suffix.lower()
    if kind == _RECORDS:
        shards = [Shard(str(file), _split(file), file) for file in files]
        return Source(_parts(shards, config), WHOLE, f"BAIR robot pushing, TFRecords of {files[0].parent.parent.name}")
    if kind == ".tar":
        parts = _parts(list(_members(files[0])), config)
        for split in sorted(_NEEDED - parts.keys()):
            raise DataError(f"{files[0]}: has no records of the {split} split; fetch it again")
        return Source(parts, WHOLE, f"BAIR robot pushing, {files[0].name}")
    if kind in PICTURES:
        return source_of(files, config, WHOLE, "BAIR robot pushing, PNG frames")
    source = arrays.open_arrays(files, config)
    return dataclasses.replace(source, crop=WHOLE, about=f"BAIR robot pushing, {source.about}")


@dataclass(frozen=True)
class Shard:
    """TFRecords of a split: a file, or a range of one."""

    name: str
    split: str
    path: Path
    start: int = 0
    length: int | None = None


def _parts(shards: Sequence[Shard], config: DataConfig) -> Mapping[str, Part]:
    splits = dict.fromkeys(shard.split for shard in shards)
    return {split: _part([shard for shard in shards if shard.split == split], config) for split in splits}


def _part(shards: Sequence[Shard], config: DataConfig) -> Part:
    found = [
        (record, f"record {number} of {shard.name}")
        for shard in shards
        for number, record in enumerate(index(shard.path, shard.start, shard.length))
    ]
    return Part(len(found), lambda i: read_sequence(found[i][0], config.frames), lambda i: found[i][1])


def read_sequence(record: Record, count: int | None) -> Item:
    """Return the first frames in a record, all if no count is given, uint8 (T, 64, 64, 3)."""
    features = bytes_features(record, read_record(record), _FRAME)
    images = {int(key.partition("/")[0]): values for key, values in features.items()}
    if not images or max(images) >= len(images):
        raise record.damaged(0, f"{len(images)} frames image_aux1 are not numbered 0, 1, 2 and so on")
    if count is not None and len(images) < count:
        where = f"{record.path}: the record at byte {record.start}"
        raise DataError(f"{where} has {len(images)} frames, fewer than --data.frames {count}")
    size = int(np.prod(_SHAPE))
    for number, values in images.items():
        if len(values) != size:
            raise record.damaged(0, f"frame {number} of a record has {len(values)} bytes instead of {size}")
    kept = range(len(images) if count is None else count)
    return np.stack([np.frombuffer(images[number], np.uint8).reshape(_SHAPE) for number in kept])


def _split(file: PurePath) -> str:
    return SPLITS.get(file.parent.name, "")


def _records(folder: Path) -> Sequence[Path]:
    found = [file for split in SPLITS for file in _in_order(folder.glob(f"{split}/*{_RECORDS}"))]
    return found if {_split(file) for file in found} >= _NEEDED else []


def _in_order(files: Iterator[Path]) -> list[Path]:
    return sorted((file for file in files if not file.name.startswith(".")), key=lambda file: natural(file.name))


def _tar(path: Path) -> Sequence[Path]:
    file = path if path.suffix.lower() == ".tar" else path / _TAR
    return [file] if file.is_file() and tarfile.is_tarfile(file) and any(_members(file)) else []


def _members(path: Path) -> Iterator[Shard]:
    """Give the TFRecords of a tar, where they lie in it."""
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if name.suffix == _RECORDS and _split(name) and not name.name.startswith(".") and member.isreg():
                    yield Shard(f"{path}: {name}", _split(name), path, member.offset_data, member.size)
            file.seek(tar.offset)
            if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):  # tarfile takes damage for the end
                raise tarfile.ReadError(f"byte {tar.offset} is neither a file nor the end")
    except Exception as error:
        raise DataError(f"{path}: is no whole tar archive ({error}); fetch it again") from error


def _pictures(path: Path) -> Sequence[Path]:
    if not all((path / split).is_dir() for split in _NEEDED):
        return []
    found = {split: frames.locate(path / split) for split in SPLITS if (path / split).is_dir()}
    ours = all(found[split] and _is_frame(found[split][0], path / split) for split in _NEEDED)
    return [file for files in found.values() for file in files] if ours else []


def _is_frame(file: Path, split: Path) -> bool:
    """Whether a file is a numbered frame in a folder of its own below the split's, as they are usually unpacked."""
    if file.parent == split or not file.stem.isdigit():
        return False
    try:
        with Image.open(file, formats=["PNG"]) as picture:
            return picture.size == _SHAPE[:2]
    except Exception:
        return False


def _arrays(path: Path) -> Sequence[Path]:
    files = arrays.locate(path)
    return files if any(len(shape) == 5 and shape[2:] == _SHAPE for file in files for shape in _shapes(file)) else []


def _shapes(file: Path) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays in a file; none if it cannot be read."""
    try:
        if file.suffix.lower() == ".npy":
            with file.open("rb") as content:
                return [_shape(content)]
        with zipfile.ZipFile(file) as members:
            return [_shape(content) for name in members.namelist() for content in (members.open(name),)]
    except Exception:
        return []


def _shape(file: IO[bytes]) -> tuple[int, ...]:
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape: tuple[int, ...] = header(file)[0]
    return shape
