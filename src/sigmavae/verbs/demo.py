"""sigmavae demo"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from sigmavae.demo import run_demo
from sigmavae.progress import Bars
from sigmavae.verbs.common import parse, print_results, progress_console


def main(words: Sequence[str]) -> None:
    """Parse and run."""
    parse("demo", demo, words, "sigmavae demo --out demo")


def demo(
    out: Annotated[Path, arg(metavar="DIR", help="where the runs and the page go")] = Path("demo"),
    seed: Annotated[int, arg(help="of weights, order and noise")] = 0,
) -> None:
    """Train three decoders side by side on embedded images and write a page that explains what differs.

    gaussian is what most code does (mean squared error), beta has a hand-picked weight, optimal-sigma none.
    """
    with Bars(progress_console()) as bars:
        results, page = run_demo(out, seed, bars)
    print_results(results)
    print(f"wrote {page}: open it in a browser")
