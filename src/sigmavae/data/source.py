"""What a reader finds in files: items that can be read one by one, in the splits that the files have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sigmavae.config import DataConfig
from sigmavae.data.resize import Crop, Item
from sigmavae.errors import DataError


@dataclass(frozen=True)
class Part:
    """Items in a fixed order, each read when it is asked for, from any thread."""

    count: int
    read: Callable[[int], Item]
    """Item i; DataError, with the file's name, where it cannot be read."""
    name: Callable[[int], str]
    """Item i in words, for messages: a file, or a place in one."""


@dataclass(frozen=True)
class Source:
    """Everything at a path, before any of it is prepared."""

    parts: Mapping[str, Part]
    """Splits as published, by name: train and test, perhaps validation; or `all`, where there are none."""
    crop: Crop
    """What is kept of its images when they become squares of a side asked for."""
    about: str
    """What it is, for people: the set and its files."""


@dataclass(frozen=True)
class Download:
    """A published file."""

    file: str
    """The name it is stored under, which its reader knows it by."""
    url: str
    checksum: str | None
    """`md5:...` or `sha256:...`; none where its publisher states none."""
    megabytes: float


class Published(Protocol):
    """Something whose files can be downloaded."""

    @property
    def name(self) -> str:
        """What `sigmavae data fetch` calls it."""

    @property
    def home(self) -> str:
        """Page of its publisher."""

    @property
    def downloads(self) -> tuple[Download, ...]:
        """Its files."""


@dataclass(frozen=True)
class Format:
    """A data set or kind of file: how it is recognised and read, and where it can be had."""

    name: str
    title: str
    """What it is, in a few words."""
    locate: Callable[[Path], Sequence[Path]]
    """The files of this kind at a path; none if it holds something else. Opens no more than it must."""
    open: Callable[[Sequence[Path], DataConfig], Source]
    """The items in those files."""
    size: int | None = None
    """Side that recipes ask for, pixels; none: as it is."""
    home: str = ""
    """Page of its publisher, with licence and terms."""
    downloads: tuple[Download, ...] = ()


@contextmanager
def looking_at(path: Path) -> Iterator[None]:
    """Say in one line what the operating system has against files at a path."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{error.filename or path}: cannot be read ({error.strerror or error})") from error


def of_array(images: Item, name: str) -> Part:
    """Return the part whose items are those of an array (N, ...)."""
    return Part(len(images), lambda i: images[i], lambda i: f"image {i} of {name}")
