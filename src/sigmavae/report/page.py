"""The page: runs are read, turned into views that the template can print, and written in one go."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sigmavae.report import claims
from sigmavae.report.chart import Series, line_chart
from sigmavae.report.dumbbell import Claim, dumbbell_chart
from sigmavae.report.files import ReportError
from sigmavae.report.frames import SERIES, frames_chart
from sigmavae.report.labels import labels, styles
from sigmavae.report.layers import layers_chart, rates_of
from sigmavae.report.reliability import KINDS, Calibration, coverage_chart, histogram_chart
from sigmavae.report.runs import Run, read_run
from sigmavae.report.scales import Linear, Log
from sigmavae.report.table import MASS_MARK, Cell, columns, table_rows

TEMPLATES = Path(__file__).parent / "templates"
DIRECT_LABELS = 4  # curves up to which labels at their ends are easier to read than a legend
DIRECT_LETTERS = 16


@dataclass(frozen=True)
class View:
    """A run as the template prints it."""

    run: Run
    label: str
    css: str
    cells: Sequence[Cell]

    @property
    def config(self) -> str:
        """The experiment as indented JSON."""
        return json.dumps(self.run.experiment, indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class Chart:
    """A drawn chart with its caption."""

    heading: str
    note: str
    svg: Markup


def write_page(folders: Sequence[Path], out: Path, *, title: str, demo: bool = False) -> Path:
    """Read the runs and write one self-contained page; `demo` adds the text that explains what is seen."""
    if not folders:
        raise ReportError(f"no run folders were given, so {out} has nothing to show")
    runs = [read_run(folder) for folder in folders]
    html = render(runs, title=title, demo=demo)
    _write_atomically(out, html)
    return out


def render(runs: Sequence[Run], *, title: str, demo: bool) -> str:
    """The page as text."""
    views = [
        View(run, label, css, cells)
        for run, label, css, cells in zip(runs, labels(runs, plain=demo), styles(runs), table_rows(runs), strict=True)
    ]
    # Autoescape: every text from a run folder is escaped unless it is wrapped in Markup, as only our SVG is.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    direct = len(views) <= DIRECT_LABELS and all(len(view.label) <= DIRECT_LETTERS for view in views)
    return environment.get_template("demo.html.j2" if demo else "page.html.j2").render(
        title=title,
        views=views,
        columns=columns(runs),
        mass_mark=MASS_MARK,
        charts=_charts(views, direct),
        legend=not direct,
        opening=claims.opening(runs) if demo else [],
        trio=claims.Trio.among(runs) if demo else None,
        claims=claims,
        calibration=_calibration(views) if demo else "",
        layers=[] if demo else _layers(views),
        frames=[] if demo else _frames(views),
        reliability=[] if demo else _reliability(views),
        examined=[view for view in views if any(Calibration.of(view.run, prefix).coverage for prefix, _ in KINDS)],
    )


def _charts(views: Sequence[View], direct: bool) -> list[Chart]:
    def series(key: str) -> list[Series]:
        return [Series(view.label, view.css, _curve(view.run, key)) for view in views]

    kinds = {"a predicted frame" if view.run.of_videos else "an image" for view in views}
    unit = " or ".join(sorted(kinds))
    specifications = (
        ("nll", f"Cost of {unit}", "nll in nats, lower is better", Linear),
        ("sigma", "What the decoder says: sigma", "in pixel units, logarithmic axis", Log),
        ("rate", "What the code carries: rate", "in nats", Linear),
    )
    charts = []
    for key, heading, note, axis in specifications:
        svg = line_chart(key, f"{heading} ({note}) against training step", series(key), axis, direct)
        if svg:
            charts.append(Chart(heading, note, Markup(svg)))
    return charts


def _curve(run: Run, key: str) -> list[tuple[float, float]]:
    return run.nats_curve(key) if key != "sigma" else run.curve(key, "validation") or run.curve(key, "train")


def _frames(views: Sequence[View]) -> list[Chart]:
    charts = []
    for prefix, heading, note in SERIES:
        series = [Series(view.label, view.css, view.run.numbered(f"{prefix}_frame_")) for view in views]
        charts.append(Chart(heading, note, Markup(frames_chart(f"{heading} ({note}) by frame", series))))
    return [chart for chart in charts if chart.svg]


def _calibration(views: Sequence[View]) -> Markup:
    pairs = [(view, view.run.metric("sigma"), view.run.error) for view in views]
    stated = [Claim(view.label, view.css, said, was) for view, said, was in pairs if said and was]
    return Markup(dumbbell_chart("How wrong each decoder says it will be, and how wrong it is", stated))


def _layers(views: Sequence[View]) -> list[Chart]:
    charts = []
    for view in views:
        note = "nats an image"
        svg = layers_chart(f"{view.label}: the rate of each layer ({note})", view.css, rates_of(view.run))
        charts.append(Chart(view.label, note, Markup(svg)))
    return [chart for chart in charts if chart.svg]


def _reliability(views: Sequence[View]) -> list[Chart]:
    charts = []
    for prefix, kind in KINDS:
        found = [(view, Calibration.of(view.run, prefix)) for view in views]
        coverages = [Series(view.label, view.css, one.coverage) for view, one in found]
        histograms = [Series(view.label, view.css, one.histogram) for view, one in found]
        heading, note = f"Coverage: {kind}", "values inside central intervals; diagonal is calibrated"
        charts.append(Chart(heading, note, Markup(coverage_chart(f"{heading} ({note})", coverages))))
        heading, note = f"Where values fell: {kind}", "density over predicted quantiles; flat is calibrated"
        charts.append(Chart(heading, note, Markup(histogram_chart(f"{heading} ({note})", histograms))))
    return [chart for chart in charts if chart.svg]


def _write_atomically(out: Path, text: str) -> None:
    # A reader, or a second writer, never meets half a page.
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        temporary.chmod(0o644)  # mkstemp makes files that only their owner can read
        temporary.replace(out)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
