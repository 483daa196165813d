"""sigmavae data list | check PATH | fetch NAME | show NAME"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.console import Console
from rich.table import Table
from tyro.conf import Positional, arg

from sigmavae.errors import ConfigError, DataError
from sigmavae.progress import Bars
from sigmavae.verbs.common import Split, demand_positive, parse, progress_console

if TYPE_CHECKING:
    from sigmavae.data.check import Findings
    from sigmavae.data.source import Format, Published

# What reads data takes a second to import, since it needs torch: each function does so when it is called.

HELP = """\
usage: sigmavae data list | check PATH | fetch NAME | show NAME

  sigmavae data list            the data sets, and which are at hand
  sigmavae data check PATH      what a file or folder holds, and what in it is bad
  sigmavae data fetch NAME      download a published set; the same command goes on after an interruption
  sigmavae data show NAME       a sheet of images of a set, or of videos, as a picture

Images, videos and arrays of your own need no name: sigmavae data check tells what they are taken for.

Example: sigmavae data check ~/photos --size 64
Each explains itself: sigmavae data show --help
"""

LISTED = 5  # shapes that are named
IMAGES, VIDEOS, FRAMES = 64, 8, 10  # on a sheet
SIDE = 96  # pixels: smaller images are enlarged up to it

Name = Positional[Annotated[str, arg(metavar="NAME", help="data set; sigmavae data list names them")]]
Size = Annotated[int | None, arg(metavar="N", help="side that images are resized to, pixels")]


def main(words: Sequence[str]) -> None:
    """Find the verb after `data`, parse and run."""
    if not words or words[0] in ("-h", "--help"):
        print(HELP, end="")
        sys.exit(0 if words else 2)
    verbs: dict[str, tuple[Callable[..., None], str]] = {
        "list": (list_sets, "sigmavae data list"),
        "check": (check_path, "sigmavae data check ~/photos --size 64"),
        "fetch": (fetch_set, "sigmavae data fetch svhn"),
        "show": (show_set, "sigmavae data show fashion --n 100 --out fashion.png"),
    }
    if words[0] not in verbs:
        (near,) = difflib.get_close_matches(words[0], verbs, n=1, cutoff=0.0)
        raise ConfigError(f"data: no verb is called {words[0]!r}: did you mean {near!r}? There are {', '.join(verbs)}")
    function, example = verbs[words[0]]
    parse(f"data {words[0]}", function, words[1:], example)


def list_sets() -> None:
    """List the data sets: what they are, the side that recipes ask for, and which are at hand."""
    from sigmavae.data.cache import VARIABLE
    from sigmavae.data.catalogue import COMPOSED, EMBEDDED, FORMATS, downloads_folder

    table = Table("name", "what it is", "side", "download", "at hand")
    table.columns[2].justify = table.columns[3].justify = "right"
    table.add_row(EMBEDDED, "12,000 images of Fashion-MNIST", "28", "-", "always: embedded")
    for known in FORMATS.values():
        side = "as it is" if known.size is None else str(known.size)
        megabytes = sum(download.megabytes for download in known.downloads)
        table.add_row(known.name, known.title, side, _size(megabytes) if megabytes else "-", _at_hand(known))
    table.add_row(COMPOSED, "stochastic Moving MNIST, videos", "64", "-", "wherever mnist is: composed from it")
    Console().print(table)
    print(f"Fetched files are kept below {downloads_folder('')}; {VARIABLE} in the environment names another folder.")


def _at_hand(known: Format) -> str:
    """Return whether a data set has been fetched, and where its files are."""
    from sigmavae.data.catalogue import downloads_folder

    folder = downloads_folder(known.name)
    try:
        files = known.locate(folder) if folder.exists() else ()
    except DataError:
        return f"damaged: data check {folder}"
    if files:
        return f"{known.name}/, {_size(sum(file.stat().st_size for file in files) / 1e6)}"
    if not known.downloads:
        return "your files: --data.path"
    begun = sum(part.stat().st_size for part in folder.glob("*.part")) / 1e6
    return f"begun: {_size(begun)}" if begun else f"no: data fetch {known.name}"


def _size(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.1f} MB"


def check_path(
    path: Positional[Annotated[Path, arg(metavar="PATH", help="file or folder")]],
    name: Annotated[str | None, arg(metavar="NAME", help="read it as this data set; default: as it looks")] = None,
    size: Size = None,
) -> None:
    """Read everything at a path and say what it is, its splits, shapes and values, and what is bad; write nothing.

    The exit code is 2 if something cannot be read.
    """
    from sigmavae.data.check import check

    if size is not None:
        demand_positive("size", size)
    with Bars(progress_console()) as bars:
        findings = check(path, name, size, bars)
    for title, text in _lines(findings):
        print(f"{title:10}{text}")
    if findings.bad:
        total = sum(findings.splits.values())
        if findings.bad == total:
            raise DataError(f"{path}: none of {total} can be read; {findings.reasons[0]}")
        raise DataError(f"{path}: {findings.bad} of {total} cannot be read; --data.skip-bad trains without them")


def _lines(findings: Findings) -> list[tuple[str, str]]:
    """Return what was found, line by line, each with its title."""
    others = f"; {' and '.join(findings.others)} fits too: --name chooses" if findings.others else ""
    lines = [
        ("data set", f"{findings.known.name}: {findings.known.title}{others}"),
        ("files", findings.about),
        ("splits", _counts(findings.found)),
        ("used as", "; ".join([_counts(findings.splits), *findings.made])),
    ]
    for shape, count in [*findings.shapes.items()][:LISTED]:
        where = f", such as {findings.first[shape]}" if len(findings.shapes) > 1 else ""
        lines.append(("shape", f"{_shape(shape)}: {count:,}{where}"))
    if len(findings.shapes) > LISTED:
        lines.append(("", f"and {len(findings.shapes) - LISTED} more shapes"))
    if findings.remedies():
        lines.append(("", f"to train, make them alike: {' '.join(findings.remedies())}"))
    if findings.shapes:
        lines.append(("values", f"{findings.low} to {findings.high}"))
    lines.append(("seconds", f"{findings.seconds:.1f}"))
    lines.append(("bad", f"{findings.bad:,}" if findings.bad else "none"))
    lines += [("", reason) for reason in findings.reasons]
    if findings.bad > len(findings.reasons):
        lines.append(("", f"and {findings.bad - len(findings.reasons):,} more"))
    return lines


def _counts(splits: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in splits.items())


def _shape(shape: Sequence[int]) -> str:
    """Return the shape of an item, (H, W, C) or (T, H, W, C), in words."""
    *frames, height, width, channels = shape
    colours = {1: "gray", 3: "RGB"}.get(channels, f"{channels} channels")
    return f"{f'{frames[0]} frames of ' if frames else ''}{height} x {width} {colours}"


def fetch_set(name: Name) -> None:
    """Download the files of a published data set and verify them; what is there already is left alone.

    `inception` is the network that FID is measured with.
    """
    from sigmavae.data.catalogue import EMBEDDED, downloads_folder, find
    from sigmavae.data.fetch import fetch
    from sigmavae.metrics.inception import NETWORK, features_folder

    if name == EMBEDDED:
        raise DataError(f"{EMBEDDED} comes with sigmavae: there is nothing to fetch")
    known: Published = NETWORK if name == NETWORK.name else find(name)
    with Bars(progress_console()) as bars:
        folder = fetch(known, bars, features_folder() if name == NETWORK.name else downloads_folder(name))
    for download in known.downloads:
        print(f"wrote {folder / download.file}")


def show_set(
    name: Name,
    path: Annotated[Path | None, arg(metavar="PATH", help="default: where data fetch puts it")] = None,
    size: Size = None,
    channels: Annotated[Literal[1, 3] | None, arg(help="1 gray, 3 RGB")] = None,
    frames: Annotated[int | None, arg(metavar="N", help="of each video, from its start")] = None,
    skip_bad: Annotated[bool, arg(help="leave out files that cannot be read")] = False,
    split: Split = "train",
    n: Annotated[int | None, arg(metavar="N", help=f"how many; default: {IMAGES} images or {VIDEOS} videos")] = None,
    seed: Annotated[int, arg(help="of the choice")] = 0,
    out: Annotated[Path | None, arg(metavar="PNG", help="default: NAME.png")] = None,
) -> None:
    """Write some images of a data set as one picture; of videos one a row, with frames from left to right."""
    import torch

    from sigmavae.config import DataConfig
    from sigmavae.data import load, to_unit
    from sigmavae.data.catalogue import COMPOSED, EMBEDDED, find
    from sigmavae.data.splits import chosen
    from sigmavae.pictures import enlarged, spread, write_grid

    for option, value in (("n", n), ("size", size), ("frames", frames)):
        demand_positive(option, 1 if value is None else value)
    if seed < 0:
        raise ConfigError(f"--seed {seed}: must be 0 or more")
    side = size or (None if name in (EMBEDDED, COMPOSED) else find(name).size)
    config = DataConfig(name=name, path=path, size=side, channels=channels, frames=frames, skip_bad=skip_bad)
    with Bars(progress_console()) as bars:
        splits = load(config, bars)
    items = splits.split(split)
    videos = items.ndim == 5
    index, _ = chosen(len(items), min(n or (VIDEOS if videos else IMAGES), len(items)), seed=seed)
    shown = torch.tensor(items[index])
    columns = math.ceil(math.sqrt(len(shown)))
    if videos:
        shown = spread(shown, FRAMES)
        columns = shown.shape[1]
    picture = enlarged(to_unit(shown.flatten(0, -4)), SIDE)
    print(f"wrote {write_grid(out or Path(f'{name}.png'), picture, columns)}: {len(index)} of {len(items):,} ({split})")
    print(splits.source)
