"""sigmavae report DIR"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from sigmavae.report import find_runs, write_page
from sigmavae.verbs.common import parse


def main(words: Sequence[str]) -> None:
    """Parse and write the page."""
    parse("report", report, words, "sigmavae report runs")


def report(
    folder: Positional[Annotated[Path, arg(metavar="DIR", help="a run, or a folder of runs")]],
    out: Annotated[Path | None, arg(metavar="HTML", help="default: DIR/report.html")] = None,
    title: Annotated[str, arg(help="heading of the page")] = "Runs",
) -> None:
    """Write one self-contained page about all runs below a folder."""
    print(f"wrote {write_page(find_runs(folder), out or folder / 'report.html', title=title)}")
