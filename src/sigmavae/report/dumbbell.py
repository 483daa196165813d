"""How wrong each decoder says it will be beside how wrong it is, one line a run, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from sigmavae.report.numerals import short, significant
from sigmavae.report.scales import Log

WIDTH, ROW, TOP, BOTTOM = 372, 46, 6, 26
LEFT, RIGHT = 12, 12


@dataclass(frozen=True)
class Claim:
    """A run that says `said` and is wrong by `measured`."""

    label: str
    css: str
    said: float
    measured: float


def dumbbell_chart(title: str, claims: Sequence[Claim]) -> str:
    """The chart as SVG text, on a logarithmic axis; empty without claims."""
    if not claims:
        return ""
    values = [value for claim in claims for value in (claim.said, claim.measured)]
    scale = Log.around(min(values) * 0.9, max(values) * 1.1)
    bottom = TOP + ROW * len(claims)
    svg = Element("svg", {"viewBox": f"0 0 {WIDTH} {bottom + BOTTOM}", "role": "img", "class": "chart"})
    SubElement(svg, "title").text = title
    for tick in scale.ticks():
        x = _across(scale, tick)
        SubElement(svg, "line", {"class": "rule", "x1": x, "x2": x, "y1": str(TOP), "y2": str(bottom)})
        _text(svg, x, bottom + 16, short(tick), "tick")
    for number, claim in enumerate(claims):
        _draw_claim(svg, claim, scale, TOP + ROW * number)
    return tostring(svg, encoding="unicode")


def _draw_claim(svg: Element, claim: Claim, scale: Log, top: float) -> None:
    said, measured, y = _across(scale, claim.said), _across(scale, claim.measured), f"{top + 32:.1f}"
    words = f"{claim.label}: says {significant(claim.said)}, is {significant(claim.measured)}"
    _text(svg, str(LEFT), top + 17, words, f"label {claim.css}", "start")
    SubElement(svg, "line", {"class": f"bar {claim.css}", "x1": said, "x2": measured, "y1": y, "y2": y})
    SubElement(svg, "circle", {"class": f"measured {claim.css}", "cx": measured, "cy": y, "r": "4"})
    SubElement(svg, "circle", {"class": f"said {claim.css}", "cx": said, "cy": y, "r": "7"})


def _across(scale: Log, value: float) -> str:
    return f"{LEFT + scale.fraction(value) * (WIDTH - LEFT - RIGHT):.1f}"


def _text(svg: Element, x: str, y: float, text: str, css: str, anchor: str = "middle") -> None:
    SubElement(svg, "text", {"class": css, "x": x, "y": f"{y:.1f}", "text-anchor": anchor}).text = text
