"""A line chart as inline SVG: no script needed to read it, colours left to the page's CSS."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from sigmavae.report.numerals import short
from sigmavae.report.scales import Linear, Log, Points, Scale, telling_range

WIDTH, HEIGHT = 372, 250
TOP, BOTTOM, LEFT, RIGHT = 10, 36, 46, 10
MAX_POINTS = 240  # of one curve: more than the chart has pixels for
LETTER = 6.3  # mean width of a letter of the labels, in chart units
LINE = 13  # their height


@dataclass(frozen=True)
class Series:
    """One curve: its label, the CSS class that colours it, its (step, value) points by rising step."""

    label: str
    css: str
    points: Points


@dataclass(frozen=True)
class Frame:
    """The plotting area and the two scales that map values into it."""

    x: Scale
    y: Scale
    right: float

    def place(self, step: float, value: float) -> tuple[float, float]:
        """Chart coordinates of a point."""
        across = LEFT + self.x.fraction(step) * (self.right - LEFT)
        return across, HEIGHT - BOTTOM - self.y.fraction(value) * (HEIGHT - BOTTOM - TOP)


def line_chart(name: str, title: str, series: Sequence[Series], axis: type[Linear] | type[Log], direct: bool) -> str:
    """The chart as SVG text; `direct` writes the labels at the ends of the curves. Empty without points.

    `name` must be unique in the page: the clipping path is found by it.
    """
    drawn = [Series(one.label, one.css, _usable(one.points, axis)) for one in series]
    drawn = [one for one in drawn if one.points]
    if not drawn:
        return ""
    widest = max(len(one.label) for one in drawn) * LETTER if direct else 0
    last_step = max(1.0, *(one.points[-1][0] for one in drawn))
    low, high = telling_range([one.points for one in drawn])
    frame = Frame(Linear(0, last_step), axis.around(low, high), WIDTH - RIGHT - widest)
    svg = blank(title, frame, "training step")
    svg.attrib.update({"data-left": str(LEFT), "data-right": _round(frame.right), "data-last": str(last_step)})
    _draw_curves(svg, name, drawn, frame)
    if direct:
        _draw_labels(svg, drawn, frame)
    SubElement(svg, "line", {"class": "cursor", "y1": str(TOP), "y2": str(HEIGHT - BOTTOM), "visibility": "hidden"})
    return tostring(svg, encoding="unicode")


def blank(title: str, frame: Frame, axis: str) -> Element:
    """A chart with a title, its two axes and the name of the one across, and nothing in it yet."""
    svg = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "chart"})
    SubElement(svg, "title").text = title
    _draw_axes(svg, frame, axis)
    return svg


def _usable(points: Points, axis: type[Linear] | type[Log]) -> list[tuple[float, float]]:
    kept = [point for point in points if axis is Linear or point[1] > 0]
    stride = -(-len(kept) // MAX_POINTS) or 1
    # Counted from the end: the last value is the one that readers compare.
    return kept[::-1][::stride][::-1]


def _draw_axes(svg: Element, frame: Frame, axis: str) -> None:
    bottom = HEIGHT - BOTTOM
    for value in frame.y.ticks():
        _, y = frame.place(0, value)
        across = {"x1": str(LEFT), "x2": _round(frame.right), "y1": _round(y), "y2": _round(y)}
        SubElement(svg, "line", {"class": "rule"} | across)
        _text(svg, LEFT - 6, y + 4, short(value), "end")
    for step in frame.x.ticks():
        x = LEFT + frame.x.fraction(step) * (frame.right - LEFT)
        _text(svg, x, bottom + 15, short(step), "middle")
    _text(svg, (LEFT + frame.right) / 2, HEIGHT - 4, axis, "middle")


def _draw_curves(svg: Element, name: str, series: Sequence[Series], frame: Frame) -> None:
    clip = SubElement(SubElement(svg, "defs"), "clipPath", {"id": f"clip-{name}"})
    box = {"x": str(LEFT), "y": str(TOP), "width": _round(frame.right - LEFT + 3), "height": str(HEIGHT - BOTTOM - TOP)}
    SubElement(clip, "rect", box)
    curves = SubElement(svg, "g", {"clip-path": f"url(#clip-{name})"})
    for one in series:
        places = [frame.place(*point) for point in one.points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        data = json.dumps([[step, float(f"{value:.5g}")] for step, value in one.points], separators=(",", ":"))
        told = {"data-label": one.label, "data-points": data}
        SubElement(curves, "path", {"class": f"curve {one.css}", "d": path} | told)
        x, y = places[-1]
        SubElement(curves, "circle", {"class": f"end {one.css}", "cx": _round(x), "cy": _round(y), "r": "2.6"})


def _draw_labels(svg: Element, series: Sequence[Series], frame: Frame) -> None:
    ends = sorted((frame.place(*one.points[-1])[1], one.label, one.css) for one in series)
    rows = spread([y for y, _, _ in ends], TOP, HEIGHT - BOTTOM)
    for row, (_, label, css) in zip(rows, ends, strict=True):
        _text(svg, frame.right + 7, row + 4, label, "start", f"label {css}")


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Rising heights near the wanted ones, at least a line apart, pushed up from the bottom where they hit it."""
    rows: list[float] = []
    for height in wanted:
        rows.append(max(height, rows[-1] + LINE if rows else top))
    limit = bottom
    for index in reversed(range(len(rows))):
        rows[index] = min(rows[index], limit)
        limit = rows[index] - LINE
    return rows


def _text(svg: Element, x: float, y: float, text: str, anchor: str, css: str = "tick") -> None:
    SubElement(svg, "text", {"class": css, "x": _round(x), "y": _round(y), "text-anchor": anchor}).text = text


def _round(value: float) -> str:
    return f"{value:.1f}"
