"""What the verbs share: parsing, a run folder as argument, and the table of results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Positional, arg

from sigmavae.errors import ConfigError

RunFolder = Positional[Annotated[Path, arg(metavar="RUN", help="folder of a finished run")]]
Split = Literal["test", "validation", "train"]
Noise = Annotated[bool, arg(help="draw from the decoder instead of showing its mean")]

_COLUMNS = (
    ("nll", "nll, nats", "{:.1f}"),
    ("bits_per_dim", "bits/dim", "{:.3f}"),
    ("rate", "rate, nats", "{:.1f}"),
    ("sigma", "sigma", "{:.4f}"),
)


def parse(verb: str, function: Callable[..., None], words: Sequence[str], example: str) -> None:
    """Call the function with arguments from the command line."""
    description = f"{inspect.getdoc(function)}\n\nExample: {example}"
    # Which of several models a run has is its recipe's to say, not a word on the command line.
    config = (tyro.conf.AvoidSubcommands, tyro.conf.FlagCreatePairsOff)
    tyro.cli(function, prog=f"sigmavae {verb}", args=list(words), description=description, config=config)


def progress_console() -> Console:
    """Return where progress is shown: standard error, so that standard output holds results alone."""
    return Console(stderr=True)


def print_results(results: Sequence[Mapping[str, Any]]) -> None:
    """Print one table of finished runs; nats are of an image, or, of videos, of a predicted frame."""
    of_videos = all("nll_per_frame" in result["metrics"] for result in results)
    unit = "nats a frame" if of_videos else "nats"
    table = Table("run", *(title.replace("nats", unit) for _, title, _ in _COLUMNS), "seconds")
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        metrics = dict(result["metrics"])
        if per_frame := metrics.get("nll_per_frame"):
            metrics |= {"rate": metrics["rate"] * per_frame / metrics["nll"], "nll": per_frame}
        cells = [form.format(metrics[key]) if key in metrics else "-" for key, _, form in _COLUMNS]
        table.add_row(result["name"], *cells, f"{result['seconds']:.0f}")
    Console().print(table)


def demand_positive(name: str, value: int) -> None:
    """Refuse a count below one."""
    if value < 1:
        raise ConfigError(f"--{name} {value}: must be 1 or more")
