"""Whether decoders are as wrong as they say: coverage of their intervals, and where values fell in what was predicted.

Read from the metrics of runs that were evaluated for it; drawn as inline SVG, one line a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import SubElement, tostring

from sigmavae.report.chart import RIGHT, WIDTH, Frame, Series, blank
from sigmavae.report.runs import Run
from sigmavae.report.scales import Linear, Points

KINDS = (("calibration_", "reconstructions"), ("prior_calibration_", "prior samples"))
"""What was predicted with: the prefix of its metrics, and its name."""

_ACROSS = WIDTH - RIGHT


@dataclass(frozen=True)
class Calibration:
    """One run's coverages and histogram, by prefix of their metrics; each empty where it was not measured."""

    coverage: Points
    histogram: Points

    @classmethod
    def of(cls, run: Run, prefix: str) -> Calibration:
        """What a run's result says."""
        coverage = [(percent / 100, share) for percent, share in run.numbered(f"{prefix}coverage_")]
        shares = [share for _, share in run.numbered(f"{prefix}pit_")]
        # A density, so that one is what it should be however many bins there are; every bin has two corners.
        steps = [
            ((number + side) / len(shares), share * len(shares))
            for number, share in enumerate(shares)
            for side in (0, 1)
        ]
        return cls([(0.0, 0.0), *coverage] if coverage else [], steps)


def coverage_chart(title: str, series: Sequence[Series]) -> str:
    """The share of values in central intervals against their level; empty without series."""
    frame = Frame(Linear(0, 1), Linear(0, 1), _ACROSS)
    return _draw(title, series, frame, "level of the interval", ((0, 0), (1, 1)))


def histogram_chart(title: str, series: Sequence[Series]) -> str:
    """The density of values over the quantiles of what was predicted for them; empty without series."""
    highest = max((value for one in series for _, value in one.points), default=1.0)
    frame = Frame(Linear(0, 1), Linear(0, max(2.0, 1.06 * highest)), _ACROSS)
    return _draw(title, series, frame, "quantile of the prediction", ((0, 1), (1, 1)))


def _draw(title: str, series: Sequence[Series], frame: Frame, axis: str, ideal: Points) -> str:
    drawn = [one for one in series if one.points]
    if not drawn:
        return ""
    svg = blank(title, frame, axis)
    SubElement(svg, "path", {"class": "ideal", "d": path_through(frame, ideal)})
    for one in drawn:
        path = SubElement(svg, "path", {"class": f"curve {one.css}", "d": path_through(frame, one.points)})
        SubElement(path, "title").text = one.label
    return tostring(svg, encoding="unicode")


def path_through(frame: Frame, points: Points) -> str:
    """The path that joins points, as SVG writes it."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (frame.place(*point) for point in points))
