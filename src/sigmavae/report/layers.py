"""What each layer of latent variables carries, a bar a layer, as inline SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import SubElement, tostring

from sigmavae.report.chart import BOTTOM, HEIGHT, RIGHT, WIDTH, Frame, blank
from sigmavae.report.numerals import significant
from sigmavae.report.runs import Run, as_number
from sigmavae.report.scales import Linear

BAR = 0.7  # of the room that a layer has


def rates_of(run: Run) -> list[float]:
    """The rate of each of several layers in nats: as evaluated, else as last validated; empty where there are none."""
    names = run.result["metrics"] if run.result is not None else {}
    values = [as_number(names[name]) for name in sorted(names) if re.fullmatch(r"rate_\d+", name)]
    if not values:
        lines = [line["rates"] for line in run.journal if line.get("split") == "validation" and line.get("rates")]
        values = [as_number(value) for value in lines[-1]] if lines and isinstance(lines[-1], list) else []
    rates = [value for value in values if value is not None]
    return rates if len(rates) == len(values) > 1 else []


def layers_chart(title: str, css: str, rates: Sequence[float]) -> str:
    """The rate of every layer, the one nearest the image first; empty without rates."""
    if not rates:
        return ""
    low, high = min(0.0, *rates), 1.06 * max(1.0, *rates)
    frame = Frame(Linear(0.5, len(rates) + 0.5), Linear(low, high), WIDTH - RIGHT)
    svg = blank(title, frame, "layer, from the image up")
    for number, rate in enumerate(rates, 1):
        (left, top), (right, base) = (
            frame.place(number - BAR / 2, max(rate, 0)),
            frame.place(number + BAR / 2, min(rate, 0)),
        )
        box = {"x": left, "y": top, "width": right - left, "height": min(base, HEIGHT - BOTTOM) - top}
        bar = SubElement(svg, "rect", {"class": f"layer {css}"} | {key: f"{value:.1f}" for key, value in box.items()})
        SubElement(bar, "title").text = f"layer {number}: {significant(rate)} nats"
    return tostring(svg, encoding="unicode")
