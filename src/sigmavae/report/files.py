"""Reading JSON from disk such that every complaint names the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class ReportError(Exception):
    """A run folder that cannot be reported; the message names the file."""


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object that is the whole file."""
    return _parse_object(_read_text(path), str(path))


def read_journal(path: Path) -> tuple[Mapping[str, Any], ...]:
    """The objects of a JSON-lines file; a killed run may have left half a last line, which is dropped."""
    numbered = [(number, line) for number, line in enumerate(_read_text(path).splitlines(), 1) if line.strip()]
    records: list[Mapping[str, Any]] = []
    for number, line in numbered:
        try:
            records.append(_parse_object(line, f"{path}, line {number}"))
        except ReportError:
            if number != numbered[-1][0]:
                raise
    return tuple(records)


def require(record: Mapping[str, Any], key: str, kind: type[T], path: Path) -> T:
    """The value at `key`, which must be there and of that kind."""
    value = record.get(key)
    if not isinstance(value, kind):
        raise ReportError(f"{path}: {key!r} is missing or not a {kind.__name__}")
    return value


def _read_text(path: Path) -> str:
    # A file cut in the middle of a character still has readable lines before it: hence `replace`.
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from error


def _parse_object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ReportError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise ReportError(f"{where}: expected a JSON object, found {type(value).__name__}")
    return value
