"""Measured numbers as a person reads them: a table for each metric, with standard errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sigmavae.evaluation import RECALIBRATED, Measured

_ERROR = "_stderr"
_SERIES = re.compile(r"_(\d\d)(?=_|$)")


def print_measured(found: Sequence[Measured]) -> None:
    """Print every metric's numbers; a numbered series, such as the bins of a histogram, is one entry."""
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
        rows = Table("", "", box=None, show_header=False, padding=(0, 2))
        rows.columns[0].no_wrap = True
        for name, values in series(measured.values).items():
            rows.add_row(name, "  ".join(f"{number}:{value:<6.3g}" for number, value in values.items()))
        if rows.row_count:
            console.print(rows)


def _error_of(name: str) -> str:
    """Return what the standard error of a number is called; `_recalibrated` stays last."""
    ending = RECALIBRATED if name.endswith(RECALIBRATED) else ""
    return f"{name.removesuffix(ending)}{_ERROR}{ending}"


def series(values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the numbers that are a series, name_00, name_01 and so on, by the name that they share and the number."""
    found: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        number = _SERIES.search(name)
        if number and _ERROR not in name:
            found.setdefault(_SERIES.sub("", name), {})[number[1]] = value
    return found
