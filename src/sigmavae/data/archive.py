"""Files of a zip, read in place: nothing is ever unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from sigmavae.errors import DataError

LARGEST = 1 << 28  # bytes of one file in an archive


class Archive:
    """A zip whose members may be read from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except Exception as error:  # the parser raises whatever a damaged byte leads it to
            raise DataError(f"{path}: is no whole zip archive ({error}); fetch it again") from error
        self._members = {member.filename: member for member in self._zip.infolist()}
        for name in self._members:
            inside = PureWindowsPath(name)  # knows both slashes, and drives
            if inside.anchor or ".." in inside.parts:
                raise DataError(f"{path}: holds {name!r}, a file outside of itself: do not use this archive")

    def names(self, suffixes: tuple[str, ...]) -> Sequence[str]:
        """Return the members with such endings, in order, without what file managers hide in archives."""
        return sorted(
            name
            for name in self._members
            if name.lower().endswith(suffixes)
            and not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
        )

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        member = self._members[name]
        if member.file_size > LARGEST:
            raise DataError(f"{name} in {self._path}: would be {member.file_size} bytes large")
        try:
            return self._zip.read(member)
        except Exception as error:
            raise DataError(f"{name} in {self._path}: cannot be read ({error})") from error
