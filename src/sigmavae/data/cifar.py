"""CIFAR-10 (Krizhevsky, 2009): its binary and its Python batches, in a folder or in the archive as published."""

from __future__ import annotations

import gzip
import io
import pickletools
import tarfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.resize import WHOLE, Item
from sigmavae.data.source import Source, of_array
from sigmavae.errors import DataError

_TRAIN = tuple(f"data_batch_{number}" for number in range(1, 6))
_TEST = "test_batch"
_SHAPE = (3, 32, 32)
_PIXELS = 3 * 32 * 32
_PIECE = 1 << 20
_LARGEST = 1 << 26  # bytes; a published batch has 31 million
_ARCHIVES = ("cifar-10-binary.tar.gz", "cifar-10-python.tar.gz")
_FOLDERS = (".", "cifar-10-batches-bin", "cifar-10-batches-py")


def locate(path: Path) -> Sequence[Path]:
    """Return an archive, or the batches of a folder."""
    if path.is_file():
        return [path] if path.name in _ARCHIVES else []
    for folder in _FOLDERS:
        for end in (".bin", ""):
            batches = [path / folder / f"{name}{end}" for name in (*_TRAIN, _TEST)]
            if all(batch.is_file() for batch in batches):
                return batches
    return [path / name for name in _ARCHIVES if (path / name).is_file()][:1]


def open_cifar(files: Sequence[Path], config: DataConfig) -> Source:  # noqa: ARG001
    """Return the 50,000 and 10,000 images, 3 x 32 x 32."""
    batches = dict(_from_archive(files[0]) if len(files) == 1 else _from_folder(files))
    missing = [name for name in (*_TRAIN, _TEST) if name not in batches]
    if missing:
        raise DataError(f"{files[0]}: has no {missing[0]}; fetch it again")
    train = np.concatenate([batches[name] for name in _TRAIN])
    parts = {"train": of_array(train, "the five training batches"), "test": of_array(batches[_TEST], _TEST)}
    return Source(parts, WHOLE, f"CIFAR-10, {files[0].name if len(files) == 1 else files[0].parent.name}")


def parse_binary(content: bytes, name: str) -> Item:
    """Return the images (N, 32, 32, 3) of a binary batch: for each a byte of label, then 1024 of red, green, blue."""
    if not content or len(content) % (1 + _PIXELS):
        raise DataError(f"{name}: its {len(content)} bytes are no whole number of images; fetch it again")
    return _channels_last(np.frombuffer(content, dtype=np.uint8).reshape(-1, 1 + _PIXELS)[:, 1:])


def parse_python(content: bytes, name: str) -> Item:
    """Return the images (N, 32, 32, 3) of a Python batch.

    It is a pickle, which can run any program when it is loaded; so it is not. Its instructions are only listed, and
    of all the strings among them the longest are the pixels.
    """
    words, pixels = set(), b""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of escapes that only damaged strings have
            for _, argument, _ in pickletools.genops(io.BytesIO(content)):
                text = argument.encode("latin-1") if isinstance(argument, str) else argument
                if isinstance(text, bytes | bytearray):
                    words.add(bytes(text[:8]))
                    pixels = max(pixels, bytes(text), key=len)
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        raise DataError(f"{name}: is no whole batch ({error}); fetch it again") from error
    if not {b"data", b"labels"} <= words or not pixels or len(pixels) % _PIXELS:
        raise DataError(f"{name}: holds no images of {_PIXELS} bytes under 'data'; is it a published batch?")
    return _channels_last(np.frombuffer(pixels, dtype=np.uint8).reshape(-1, _PIXELS))


def _channels_last(rows: Item) -> Item:
    return np.moveaxis(rows.reshape(-1, *_SHAPE), 1, -1)


def _parse(content: bytes, name: str) -> Item:
    return parse_binary(content, name) if name.endswith(".bin") else parse_python(content, name)


def _from_folder(files: Sequence[Path]) -> Iterator[tuple[str, Item]]:
    for file in files:
        if file.stat().st_size > _LARGEST:
            raise DataError(f"{file}: is far larger than a batch; is it a published one?")
        yield file.name.removesuffix(".bin"), _parse(file.read_bytes(), str(file))


def _from_archive(path: Path) -> Iterator[tuple[str, Item]]:
    try:
        with gzip.open(path) as unpacked, tarfile.open(fileobj=unpacked, mode="r:") as archive:
            for member in archive:
                name = PurePosixPath(member.name).name.removesuffix(".bin")
                if member.isfile() and name in (*_TRAIN, _TEST):
                    if member.size > _LARGEST:
                        raise DataError(f"{path}: {member.name} is far larger than a batch; fetch it again")
                    file = archive.extractfile(member)
                    assert file is not None  # only members that are no files have none
                    yield name, _parse(file.read(), member.name)
            while unpacked.read(_PIECE):
                pass  # to the end, where the checksum of everything is
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: is no whole archive ({error}); fetch it again") from error
