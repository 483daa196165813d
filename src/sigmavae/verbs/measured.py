"""Measured numbers as a person reads them: a table for each metric, with standard errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sigmavae.evaluation import RECALIBRATED, Measured

_ERROR = "_stderr"
_SERIES = re.compile(r"_\d\d(?=_|$)")


def print_measured(found: Sequence[Measured]) -> None:
    """Print every metric's numbers; a numbered series, such as the bins of a histogram, takes one line."""
    console = Console(highlight=False)
    for measured in found:
        when = f"{measured.seconds:.1f} s" if measured.fresh else "measured before"
        console.print(f"\n[bold]{measured.name}[/bold]  {escape(measured.protocol)}  [dim]{when}[/dim]", soft_wrap=True)
        table = Table("", "", "", box=None, show_header=False, padding=(0, 2))
        table.columns[1].justify = "right"
        for name, value in measured.values.items():
            if _ERROR not in name and not _SERIES.search(name):
                error = measured.values.get(_error_of(name))
                table.add_row(name, f"{value:,.6g}", "" if error is None else f"± {error:.2g}")
        console.print(table)
        for name, values in series(measured.values).items():
            console.print(f"  {name}: {' '.join(f'{value:.3g}' for value in values)}")


def _error_of(name: str) -> str:
    """Return what the standard error of a number is called; `_recalibrated` stays last."""
    ending = RECALIBRATED if name.endswith(RECALIBRATED) else ""
    return f"{name.removesuffix(ending)}{_ERROR}{ending}"


def series(values: Mapping[str, float]) -> dict[str, list[float]]:
    """Return the numbers that are a series, name_00, name_01 and so on, by the name that they share."""
    found: dict[str, list[float]] = {}
    for name, value in values.items():
        if _SERIES.search(name) and _ERROR not in name:
            found.setdefault(_SERIES.sub("", name), []).append(value)
    return found
