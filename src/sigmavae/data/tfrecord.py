"""TFRecord files, and the tf.train.Example messages in them, without TensorFlow.

A file is records one after another: the length of the content (8 bytes), a checksum of these, the content, and its
checksum, numbers little-endian, checksums crc32c and masked. An Example is a protocol buffer; of its features only
byte strings are read.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sigmavae.errors import DataError

_LENGTH, _CHECKSUM = 8, 4  # bytes
_MASK = 0xA282EAD8
_VARINT, _DELIMITED = 0, 2  # kinds of fields, ...
_FIXED = {1: 8, 5: 4}  # ... and the bytes of those that always take as many

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Record:
    """Where the content of a record lies in a file."""

    path: Path
    start: int
    length: int

    def damaged(self, at: int, what: str) -> DataError:
        """Return an error about byte `at` of the content."""
        return _damaged(self.path, self.start + at, what)


def index(path: Path, start: int = 0, length: int | None = None) -> list[Record]:
    """Return the records in a range of a file, the whole if no length is given; reads their headers only."""
    records: list[Record] = []
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            end = size if length is None else start + length
            if not start < end <= size:
                raise _damaged(path, size, "the file ends where records should be")
            at = start
            while at < end:
                file.seek(at)
                header = file.read(min(_LENGTH + _CHECKSUM, end - at))
                if len(header) < _LENGTH + _CHECKSUM:
                    raise _damaged(path, at, "the file ends within the header of a record")
                if _checksum(header[:_LENGTH]) != header[_LENGTH:]:
                    raise _damaged(path, at, "the length of a record does not match its checksum")
                record = Record(path, at + len(header), int.from_bytes(header[:_LENGTH], "little"))
                at = record.start + record.length + _CHECKSUM
                if at > end:
                    raise _damaged(path, record.start, f"the file ends within a record of {record.length} bytes")
                records.append(record)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    return records


def read_record(record: Record) -> bytes:
    """Return the content of a record, which its checksum has been compared with."""
    try:
        with record.path.open("rb") as file:
            file.seek(record.start)
            content, checksum = file.read(record.length), file.read(_CHECKSUM)
    except OSError as error:
        raise DataError(f"{record.path}: cannot be read ({error.strerror or error})") from error
    if _checksum(content) != checksum:
        raise record.damaged(0, f"a record of {record.length} bytes does not match its checksum")
    return content


def bytes_features(record: Record, content: bytes, wanted: re.Pattern[str]) -> dict[str, bytes]:
    """Return, from the Example that a record contains, byte strings by key; only keys that match as a whole."""
    found = {}
    for features in _inside(record, content, (0, len(content)), 1):
        for entry in _inside(record, content, features, 1):
            key = _key(record, content, entry)
            if not wanted.fullmatch(key):
                continue
            values = [
                value
                for feature in _inside(record, content, entry, 2)
                for strings in _inside(record, content, feature, 1)
                for value in _inside(record, content, strings, 1)
            ]
            if len(values) != 1:
                raise record.damaged(entry[0], f"feature {key} has {len(values)} byte strings instead of one")
            ((start, end),) = values
            found[key] = content[start:end]
    return found


def _key(record: Record, content: bytes, entry: _Span) -> str:
    start, end = entry[0], entry[0]
    for start, end in _inside(record, content, entry, 1):  # noqa: B007, the last one counts
        pass
    try:
        return content[start:end].decode()
    except UnicodeDecodeError as error:
        raise record.damaged(start + error.start, "the key of a feature is not UTF-8") from error


def _inside(record: Record, content: bytes, message: _Span, wanted: int) -> Iterator[_Span]:
    """Give the fields of that number in a message which are messages, strings or bytes themselves."""
    at, end = message
    while at < end:
        start = at
        tag, at = _varint(record, content, at, end)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _, at = _varint(record, content, at, end)
        elif kind == _DELIMITED:
            length, at = _varint(record, content, at, end)
            if number == wanted and length <= end - at:
                yield at, at + length
            at += length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise record.damaged(start, f"there is no kind {kind} of field in an Example")
        if number == 0 or at > end:
            raise record.damaged(start, f"field {number} of an Example ends outside of it")


def _varint(record: Record, content: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number of up to 64 bits, seven to a byte, and where it ends."""
    value = 0
    for place in range(min(10, end - at)):
        byte = content[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise record.damaged(at, "a number in an Example does not end")


def _checksum(content: bytes) -> bytes:
    try:
        crc32c = importlib.import_module("google_crc32c")
    except ImportError as error:
        raise DataError("TFRecord files need google-crc32c: pip install 'sigmavae[video]'") from error
    value = int(crc32c.value(content))
    masked = (value >> 15 | value << 17) + _MASK & 0xFFFFFFFF
    return masked.to_bytes(_CHECKSUM, "little")


def _damaged(path: Path, at: int, what: str) -> DataError:
    return DataError(f"{path}: byte {at}: {what}; fetch it again")
