"""The table of results: one row a run, numbers ready to print, the best ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sigmavae.report.numerals import fixed, significant
from sigmavae.report.runs import Run, as_number


@dataclass(frozen=True)
class Cell:
    """A number as printed, the value that sorting goes by, and what is remarkable about it."""

    text: str
    value: float | None
    best: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Column:
    """A heading and what it means in a few words."""

    heading: str
    meaning: str


COLUMNS = (
    Column("nll", "negative ELBO in nats per test image, of videos per predicted frame; lower is better"),
    Column("bits/dim", "the same bound on the 8-bit data, comparable across all decoders; lower is better"),
    Column("rate", "nats the code carries (KL divergence)"),
    Column("distortion", "nats the decoder adds, given the code"),
    Column("sigma", "how wrong the decoder says it will be; pixels run from 0 to 1"),
    Column("beta", "the beta that this sigma amounts to, 2 sigma\u00b2"),
    Column("seconds", "training time"),
)
FID = Column("FID", "Frechet distance of samples from the test images; compare equal numbers of them; lower is better")
MASS_MARK = "†"


def columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    """The headings of a table: one more where the samples of any run were measured."""
    return (*COLUMNS, FID) if _measured(runs) else COLUMNS


def _measured(runs: Sequence[Run]) -> bool:
    return any(run.metric("fid") is not None for run in runs)


def table_rows(runs: Sequence[Run]) -> list[list[Cell]]:
    """The cells of each run under `columns`; the best are those among runs on the same data."""
    return [_row(run, [other for other in runs if other.data == run.data], _measured(runs)) for run in runs]


def _row(run: Run, alike: Sequence[Run], with_fid: bool) -> list[Cell]:
    nll, nll_error, fid = run.nats("nll"), run.nats("nll_stderr"), run.metric("fid")
    nll_text = fixed(nll, 1) + (f" ± {nll_error:.1f}" if nll is not None and nll_error is not None else "")
    seconds = as_number(run.result.get("seconds")) if run.result is not None else None
    mark = MASS_MARK if run.is_mass and nll is not None else ""
    same_kind = [other for other in alike if other.is_mass == run.is_mass]
    cells = [
        Cell(nll_text, nll, _is_lowest("nll", run, same_kind), mark),
        Cell(fixed(run.metric("bits_per_dim"), 3), run.metric("bits_per_dim"), _is_lowest("bits_per_dim", run, alike)),
        *(Cell(fixed(run.nats(key), 1), run.nats(key)) for key in ("rate", "distortion")),
        *(Cell(significant(run.metric(key)), run.metric(key)) for key in ("sigma", "beta")),
        Cell(fixed(seconds, 1), seconds),
    ]
    return [*cells, Cell(fixed(fid, 1), fid, _is_lowest("fid", run, alike))] if with_fid else cells


def _is_lowest(metric: str, run: Run, others: Sequence[Run]) -> bool:
    # Among fewer than two there is no best.
    known = [value for other in others if (value := other.metric(metric)) is not None]
    return len(known) > 1 and run.metric(metric) == min(known)
