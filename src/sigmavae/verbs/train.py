"""sigmavae train RECIPE"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from sigmavae.config import Experiment
from sigmavae.data.catalogue import NAMES, VIDEOS
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.progress import Bars
from sigmavae.recipes import recipe
from sigmavae.run import run
from sigmavae.verbs.common import parse, print_results, progress_console

HELP = """\
usage: sigmavae train RECIPE [--field.path value ...] [--out DIR]

Trains and evaluates; the same command resumes a run that was stopped and leaves a finished one alone.
A recipe is DATA-LIKELIHOOD, such as fashion-optimal. Every field of it can be changed: sigmavae train RECIPE --help

DATA: fashion is embedded; the others are fetched (sigmavae data list) or named with --data.path; of videos each frame
is an image
{data}
LIKELIHOOD
{likelihoods}
Models of videos (docs/video.md) are DATA-svg-LIKELIHOOD, and DATA-svg-original; moving-mnist-narrow-... is smaller
{videos}
Example: sigmavae train fashion-optimal --seed 1 --train.epochs 5 --out runs/mine
Example: sigmavae train images-optimal --data.path ~/photos --data.size 64
"""


def main(words: Sequence[str]) -> None:
    """Parse and run."""
    if not words or words[0] in ("-h", "--help"):
        print(
            HELP.format(
                data=_columns(NAMES), videos=_columns(VIDEOS), likelihoods=_columns(list(SHORT_NAMES.values()))
            ),
            end="",
        )
        sys.exit(0 if words else 2)
    default = recipe(words[0])

    def train(
        experiment: Annotated[Experiment, arg(name="")] = default,
        out: Annotated[Path | None, arg(metavar="DIR", help="run folder; default: runs/NAME-seedN")] = None,
    ) -> None:
        """Train and evaluate; the same command resumes."""
        folder = out or Path("runs") / f"{experiment.name}-seed{experiment.seed}"
        with Bars(progress_console()) as bars:
            result = run(experiment, folder, bars, shlex.join(["sigmavae", "train", *words]))
        if result:  # processes other than the first have none
            print_results([result])
            print(f"wrote {folder}/: result.json, model.safetensors, metrics.jsonl, pictures/")

    parse(f"train {words[0]}", train, words[1:], f"sigmavae train {words[0]} --seed 1 --train.epochs 5 --out runs/mine")


def _columns(words: Sequence[str], per_row: int = 5) -> str:
    width = max(len(word) for word in words) + 2
    rows = [words[i : i + per_row] for i in range(0, len(words), per_row)]
    return "".join("  " + "".join(word.ljust(width) for word in row).rstrip() + "\n" for row in rows)
