"""What a path holds: every item of it read once, nothing written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sigmavae.config import DataConfig
from sigmavae.data.catalogue import FORMATS, files_of, find, located, opened, recognise
from sigmavae.data.prepare import LISTED, assign, read
from sigmavae.data.resize import Item
from sigmavae.data.source import Format
from sigmavae.data.splits import NAMES
from sigmavae.errors import DataError
from sigmavae.files import absolute
from sigmavae.progress import Progress

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Findings:
    """What a path holds."""

    known: Format
    others: Sequence[str]
    """Other data sets that the same files could be."""
    about: str
    found: Mapping[str, int]
    """Splits that the files have, with counts."""
    splits: Mapping[str, int]
    """Splits that training will see, with counts."""
    made: Sequence[str]
    """How those come about that the files do not have."""
    shapes: Mapping[Shape, int]
    """Of how many items each, the most frequent first; (H, W, C) or (T, H, W, C)."""
    first: Mapping[Shape, str]
    """An item of each shape."""
    low: int
    high: int
    bad: int
    reasons: Sequence[str]
    """The first bad items, each with what is wrong."""
    seconds: float

    def remedies(self) -> list[str]:
        """Return the options that make alike the shapes that are not."""
        shortest = min((shape[0] for shape in self.shapes if len(shape) == 4), default=1)
        axes = {
            "--data.size 64": slice(-3, -1),
            "--data.channels 3": slice(-1, None),
            f"--data.frames {shortest}": slice(None, -3),
        }
        return [option for option, part in axes.items() if len({shape[part] for shape in self.shapes}) > 1]


@dataclass
class Tally:
    """What has been read so far."""

    shapes: dict[Shape, int] = field(default_factory=dict)
    first: dict[Shape, str] = field(default_factory=dict)
    low: int = 255
    high: int = 0
    bad: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, name: str, item: Item | DataError) -> None:
        """Count one item."""
        if isinstance(item, DataError):
            self.bad += 1
            if self.bad <= LISTED:
                self.reasons.append(str(item))
            return
        self.shapes[item.shape] = self.shapes.get(item.shape, 0) + 1
        self.first.setdefault(item.shape, name)
        self.low, self.high = int(item.min(initial=self.low)), int(item.max(initial=self.high))


def check(path: Path, name: str | None, size: int | None, progress: Progress) -> Findings:
    """Read everything at a path, as the data set of that name or as whatever it is recognised as."""
    began = time.monotonic()
    path = absolute(path)
    known, files = recognise(path) if name is None else (find(name), files_of(name, path))
    others = [other.name for other in FORMATS.values() if name is None and other is not known and located(other, path)]
    config = DataConfig(name=known.name, path=path, size=size)
    source = opened(known, files, config)
    splits, made = assign(source)
    tally, done = Tally(), 0
    progress.begin(f"checking {path.name}", sum(len(split.items) for split in splits.values()), 0)
    for split in NAMES:
        for chunk in read(splits[split], source.crop, config):
            for item_name, item in chunk:
                tally.add(item_name, item)
            done += len(chunk)
            progress.advance(done, {})
    return Findings(
        known=known,
        others=others,
        about=source.about,
        found={part: items.count for part, items in source.parts.items()},
        splits={split: len(splits[split].items) for split in NAMES},
        made=made,
        shapes=dict(sorted(tally.shapes.items(), key=lambda counted: -counted[1])),
        first=tally.first,
        low=tally.low,
        high=tally.high,
        bad=tally.bad,
        reasons=tally.reasons,
        seconds=time.monotonic() - began,
    )
