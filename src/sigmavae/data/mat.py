"""One variable of 8-bit values from a MATLAB file of level 5, which versions 5 to 7 write.

A file is a header of 128 bytes, then elements: kind and length (4 bytes each) and content. A variable is an element of
elements, padded to 8 bytes each: its class, sizes, name and values; or such an element deflated. All is compared with
what it should be before it is used: scipy's reader, written in C, crashes on some files with a single wrong byte.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sigmavae.data.resize import Item
from sigmavae.errors import DataError

_HEADER = 128  # bytes before the first variable
_ORDERS = {b"IM": "<", b"MI": ">"}  # the last two of them
_CHARACTERS, _BYTES, _SIZES, _FLAGS, _MATRIX, _DEFLATED = 1, 2, 5, 6, 14, 15  # kinds of elements
_CLASSES = ("cell", "struct", "object", "char", "sparse", "float64", "float32", "int8", "uint8", "int16", "uint16",
            "int32", "uint32", "int64", "uint64")  # fmt: skip
_SHORT = 4  # bytes of content that fit into the tag of an element


class _DamagedError(Exception):
    """Bytes that no MATLAB file has in such a place."""


def read_bytes(path: Path, name: str, dimensions: int) -> Item:
    """Return a variable of 8-bit values with so many dimensions."""
    found = None
    try:
        with path.open("rb") as file:
            for order, content in _variables(file, path.stat().st_size):  # to the end: a file that was cut has none
                values = _values(order, content, name.encode(), f"{path}: {name!r}", dimensions)
                found = values if found is None else found
    except (_DamagedError, struct.error, zlib.error) as error:
        raise DataError(f"{path}: is no whole MATLAB 5 file ({error}); fetch it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    if found is None:
        raise DataError(f"{path}: has no variable {name!r}; is it the published file?")
    return found


def _variables(file: BinaryIO, size: int) -> Iterator[tuple[str, bytes]]:
    """Give byte order and content of each variable."""
    header = file.read(_HEADER)
    order = _ORDERS.get(header[126:])
    if order is None:
        raise _DamagedError(f"{size} bytes that do not begin as one")
    place = _HEADER
    while place < size:
        kind, length = struct.unpack(f"{order}II", file.read(8))
        place += 8 + length
        if place > size:
            raise _DamagedError(f"it ends {place - size} bytes too early")
        content = file.read(length)
        if kind == _DEFLATED:
            kind, content = _inflated(order, content)
        if kind == _MATRIX:
            yield order, content


def _inflated(order: str, packed: bytes) -> tuple[int, bytes]:
    """Return kind and content of a deflated element, never more than it says there is."""
    stream = zlib.decompressobj()
    kind, length = struct.unpack(f"{order}II", stream.decompress(packed, 8))
    content = stream.decompress(stream.unconsumed_tail, length) if length else b""
    if len(content) != length or stream.decompress(stream.unconsumed_tail, 1) or not stream.eof:
        raise _DamagedError(f"a variable of {length} bytes is not whole")
    return kind, content


def _values(order: str, content: bytes, wanted: bytes, what: str, dimensions: int) -> Item | None:
    """Return the values of a variable, nothing if it has another name."""
    flags, at = _element(order, content, 0, _FLAGS)
    sizes, at = _element(order, content, at, _SIZES)
    name, at = _element(order, content, at, _CHARACTERS)
    if name != wanted:
        return None
    kind = struct.unpack(f"{order}II", flags)[0] & 0xFF
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    if not 0 < kind <= len(_CLASSES):
        raise _DamagedError(f"there is no class {kind} of variables")
    if _CLASSES[kind - 1] != "uint8" or len(shape) != dimensions or min(shape) < 1:
        raise DataError(f"{what} is {_CLASSES[kind - 1]} {shape}, not 8-bit values in {dimensions} dimensions")
    values, _ = _element(order, content, at, _BYTES)
    if len(values) != math.prod(shape):
        raise _DamagedError(f"{len(values)} values for the sizes {shape}")
    return np.frombuffer(values, np.uint8).reshape(shape, order="F")


def _element(order: str, content: bytes, at: int, wanted: int) -> tuple[memoryview, int]:
    """Return the content of the element that begins there, which must be of that kind, and where the next begins."""
    kind, length = struct.unpack_from(f"{order}II", content, at)
    start = at + 8
    if kind >> 16:  # a short one: kind and length are two bytes each
        kind, length, start = kind & 0xFFFF, kind >> 16, at + 4
    if kind != wanted or start + length > len(content) or (start == at + 4 and length > _SHORT):
        raise _DamagedError(f"an element of kind {kind} and {length} bytes is not in its place")
    return memoryview(content)[start : start + length], start + length + -(start + length - at) % 8
