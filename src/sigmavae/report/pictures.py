"""The PNG grids of a run, ready to stand inside a page."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sigmavae.report.files import ReportError

KINDS = ("real", "reconstructions", "samples")
GRID_ROWS = 4
SQUARE_TARGET = 368
"""Wanted width in CSS pixels of the square cut of a grid: three of them fill a desktop page."""

STRIP_FROM = 3
"""Times as wide as high: grids are 2, a strip of five videos of 15 frames."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"


@dataclass(frozen=True)
class Picture:
    """A PNG grid of 8 x 4 images, as a data URI, with its size in pixels."""

    uri: str
    width: int
    height: int

    @property
    def square_width(self) -> int:
        """Width at which the left half of the grid is shown: a whole multiple of its pixels where it fits."""
        return self.height * max(1, SQUARE_TARGET // self.height)

    @property
    def is_strip(self) -> bool:
        """Whether its rows are videos: far wider than a grid of images, and cut to a square it would lose their end."""
        return self.width > STRIP_FROM * self.height

    @property
    def row_height(self) -> float:
        """Height of one row of the grid in pixels, its share of the gaps included."""
        return self.height / GRID_ROWS


def read_pictures(folder: Path) -> Mapping[str, Picture]:
    """The pictures that are there, by kind; none has to be."""
    paths = {kind: folder / f"{kind}.png" for kind in KINDS}
    return {kind: _read_png(path) for kind, path in paths.items() if path.exists()}


def _read_png(path: Path) -> Picture:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from error
    # The closing chunk tells a whole file from one whose writer was killed.
    if not (content.startswith(_SIGNATURE) and content.endswith(_END) and content[12:16] == b"IHDR"):
        raise ReportError(f"{path}: not a complete PNG file")
    width, height = struct.unpack(">II", content[16:24])
    return Picture("data:image/png;base64," + base64.b64encode(content).decode("ascii"), width, height)
