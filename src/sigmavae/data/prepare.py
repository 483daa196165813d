"""A source to a folder of raw 8-bit arrays that can be mapped into memory, one file a split.

train.u8, validation.u8, test.u8    items one after another, (C, H, W) or (T, C, H, W) each, nothing else
about.json                          shape, counts, fingerprint and where they came from; written last
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.resize import Crop, Item, with_channels, with_size
from sigmavae.data.source import Part, Source
from sigmavae.data.splits import NAMES, chosen
from sigmavae.errors import DataError
from sigmavae.files import write_json
from sigmavae.progress import Progress

SHARE = 10  # a split that files do not have is one in so many of their items
CHUNK = 64  # items that are in memory at once
LISTED = 10  # bad items that are named


@dataclass(frozen=True)
class Assigned:
    """A split: some of the items of a part."""

    part: Part
    items: Sequence[int]


@dataclass
class Ledger:
    """What has been read so far."""

    digest: Any = field(default_factory=hashlib.sha256)
    shape: tuple[int, ...] | None = None
    shape_of: str = ""
    bad: list[str] = field(default_factory=list)


def prepare(source: Source, config: DataConfig, folder: Path, progress: Progress) -> None:
    """Write a source's splits into the folder, with size and channels as the configuration asks."""
    splits, how = assign(source)
    progress.begin(f"preparing {config.name}", sum(len(split.items) for split in splits.values()), 0)
    ledger, counts, done = Ledger(), dict.fromkeys(NAMES, 0), 0
    for name in NAMES:
        with (folder / f"{name}.u8").open("wb") as file:
            for chunk in read(splits[name], source.crop, config):
                good = _good(chunk, config, ledger)
                if good:
                    values = np.moveaxis(np.stack(good), -1, -3).tobytes()
                    file.write(values)
                    ledger.digest.update(values)
                counts[name] += len(good)
                done += len(chunk)
                progress.advance(done, {})
            file.flush()
            os.fsync(file.fileno())
        if not counts[name]:
            raise DataError(f"{source.about}: nothing of the {name} split can be read; {ledger.bad[0]}")
    if ledger.bad:
        progress.say(f"skipped {_bad_items(ledger)}; {ledger.bad[0]}")
    *grid, height, width, channels = ledger.shape or ()
    write_json(
        folder / "about.json",
        {
            "source": "; ".join([source.about, *_changes(source.crop, config, ledger), *how]),
            "shape": [*grid, channels, height, width],
            "counts": counts,
            "skipped": ledger.bad[:LISTED],
            "fingerprint": ledger.digest.hexdigest()[:16],
        },
    )


def assign(source: Source) -> tuple[Mapping[str, Assigned], list[str]]:
    """Return the three splits of a source, and in words how those it does not have are made."""
    parts = source.parts
    if "all" in parts:
        count = parts["all"].count
        if count < len(NAMES):
            raise DataError(f"{source.about}: {count} cannot be split into train, validation and test: give 3 or more")
        share = max(1, count // SHARE)
        test, validation, train = chosen(count, share, share)
        indices = zip(NAMES, (train, validation, test), strict=True)
        how = f"split at random (seed 0) into {len(train)}, {share} and {share}"
        return {name: Assigned(parts["all"], which.tolist()) for name, which in indices}, [how]
    whole = {name: Assigned(part, range(part.count)) for name, part in parts.items()}
    if "validation" in parts:
        return whole, []
    count = parts["train"].count
    if count < 2:
        raise DataError(f"{source.about}: {count} cannot be split into train and validation: give 2 or more")
    share = max(1, count // SHARE)
    validation, train = chosen(count, share)
    halves = {"train": train, "validation": validation}
    made = {name: Assigned(parts["train"], which.tolist()) for name, which in halves.items()}
    return whole | made, [f"{share} of the training items held out at random (seed 0) for validation"]


def read(split: Assigned, crop: Crop, config: DataConfig) -> Iterator[list[tuple[str, Item | DataError]]]:
    """Yield names and items of a split in order, some at a time; an error in the place of what cannot be read."""

    def one(i: int) -> tuple[str, Item | DataError]:
        name = split.part.name(i)
        try:
            return name, with_channels(with_size(split.part.read(i), config.size, crop), config.channels)
        except DataError as error:
            return name, error

    # Decoding and resizing let go of the interpreter's lock, so threads are enough.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        for start in range(0, len(split.items), CHUNK):
            yield list(threads.map(one, split.items[start : start + CHUNK]))


def _good(chunk: list[tuple[str, Item | DataError]], config: DataConfig, ledger: Ledger) -> list[Item]:
    """Return the items that can be used; the others are entered as bad, or stop everything."""
    good = []
    for name, item in chunk:
        if not isinstance(item, DataError):
            if ledger.shape is None:
                ledger.shape, ledger.shape_of = item.shape, name
            if item.shape == ledger.shape:
                good.append(item)
                continue
            item = DataError(
                f"{name} is {_by(item.shape)}, but {ledger.shape_of} is {_by(ledger.shape)}: "
                "--data.size 64 makes them alike, --data.channels 3 their colours, --data.frames their lengths"
            )
        if not config.skip_bad:
            raise DataError(f"{item}; or --data.skip-bad leaves out what is bad")
        ledger.bad.append(str(item))
    return good


def _changes(crop: Crop, config: DataConfig, ledger: Ledger) -> list[str]:
    """Return in words what was done to the items."""
    words = []
    if config.size is not None:
        words.append(f"{crop.words} resized to {config.size} x {config.size}, bilinear")
    if config.channels is not None:
        words.append("gray" if config.channels == 1 else "as RGB")
    if ledger.bad:
        words.append(f"{_bad_items(ledger)} left out")
    return words


def _bad_items(ledger: Ledger) -> str:
    return f"{len(ledger.bad)} bad item{'s' if len(ledger.bad) > 1 else ''}"


def _by(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))
