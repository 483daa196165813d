"""sigmavae evaluate RUN"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import torch
from lightning_fabric import Fabric
from tyro.conf import arg

from sigmavae.devices import Others
from sigmavae.errors import ConfigError, MetricError
from sigmavae.evaluation import RECALIBRATED, Measured, measure, merge, recalibrated, recall, settings_of
from sigmavae.files import alone_in
from sigmavae.metrics.catalogue import METRICS, QUICK, Options, Subject
from sigmavae.metrics.items import BATCH
from sigmavae.progress import Bars, Progress, Silent
from sigmavae.run import load_run, subject_of
from sigmavae.verbs.common import RunFolder, Split, demand_positive, parse, progress_console
from sigmavae.verbs.measured import print_measured

ALL = "all"

Metrics = Annotated[
    tuple[str, ...], arg(metavar="NAME ...", help=f"{', '.join(METRICS)}; or all; default: {', '.join(QUICK)}")
]


def main(words: Sequence[str]) -> None:
    """Parse and evaluate."""
    parse("evaluate", evaluate, words, "sigmavae evaluate runs/mine --metrics bound fid --split validation")


def evaluate(
    run: RunFolder,
    metrics: Metrics = (),
    split: Split = "test",
    options: Annotated[Options, arg(name="")] = Options(),  # noqa: B008, frozen
    recalibrate: Annotated[bool, arg(help="also with the scale refitted on validation images")] = False,
    again: Annotated[bool, arg(help="measure anew what has been measured before")] = False,
    batch: Annotated[int, arg(metavar="N", help="images at a time: memory and speed, not results")] = BATCH,
    devices: Annotated[int, arg(metavar="N", help="devices that share the work")] = 1,
) -> None:
    """Measure a finished run on a split of its data; what has been measured before is not measured again.

    Numbers on the test split go into RUN/result.json, those on another into RUN/evaluation-SPLIT.json.
    """
    _names(metrics)  # a misspelt one is refused before anything is loaded
    demand_positive("batch", batch)
    demand_positive("devices", devices)
    path = run / ("result.json" if split == "test" else f"evaluation-{split}.json")
    fabric = Fabric(devices=devices)
    fabric.launch()
    if not fabric.is_global_zero:
        if Others.may_begin(fabric):
            subject = _subject(run, split, batch, Silent(), fabric.device)
            list(_each(subject, metrics, options, path, recalibrate=recalibrate, again=again))
        return
    found = []
    try:
        with Others(fabric) as others, Bars(progress_console()) as bars:
            subject = _subject(run, split, batch, bars, fabric.device)
            with alone_in(run):
                others.begin()
                for measured in _each(subject, metrics, options, path, recalibrate=recalibrate, again=again):
                    if measured.fresh:
                        merge(path, measured, {"split": split, "images": len(subject.images)})
                    found.append(measured)
    finally:
        print_measured(found)  # also what was measured before one failed, or was stopped
    print(f"wrote {path}")


def _subject(run: Path, split: str, batch: int, progress: Progress, device: torch.device) -> Subject:
    experiment, model, splits = load_run(run, progress, device)
    return dataclasses.replace(subject_of(experiment, model, splits, split, progress), batch=batch)


def _names(metrics: Sequence[str]) -> list[str]:
    """Return the metrics to measure, in the order of the catalogue."""
    for name in metrics:
        if name not in METRICS and name != ALL:
            (near,) = difflib.get_close_matches(name, [*METRICS, ALL], n=1, cutoff=0.0)
            raise ConfigError(f"--metrics {name}: did you mean {near!r}? There are: {', '.join(METRICS)}; or {ALL}")
    return [name for name in METRICS if ALL in metrics or name in (metrics or QUICK)]


def _each(
    subject: Subject, metrics: Sequence[str], options: Options, path: Path, *, recalibrate: bool, again: bool
) -> Iterator[Measured]:
    """Yield one metric after another; what was not asked for by name is left out where it cannot be measured."""
    names = _names(metrics)
    jobs = [(name, "", subject) for name in names]
    if recalibrate:
        refitted = recalibrated(subject)
        jobs += [(name, RECALIBRATED, refitted) for name in names if METRICS[name].of_scale]
    for name, ending, each in jobs:
        before = None if again else recall(path, name + ending, settings_of(name, each, options))
        try:
            yield before or measure(name, each, options, ending)
        except MetricError as error:
            if name in metrics:
                raise
            subject.progress.say(f"left out: {error}")
