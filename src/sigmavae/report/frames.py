"""What was measured of predicted frames one by one, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import SubElement, tostring

from sigmavae.report.chart import RIGHT, WIDTH, Frame, Series, blank
from sigmavae.report.reliability import path_through
from sigmavae.report.scales import Linear

SERIES = (
    ("video_nll", "Cost of each frame", "nll in nats given all frames before, lower is better"),
    ("psnr", "PSNR of futures", "from the given frames alone, decibel, higher is better"),
    ("psnr_best", "PSNR of the best future", "of those predicted, decibel, higher is better"),
    ("ssim", "SSIM of futures", "from the given frames alone, higher is better"),
    ("ssim_best", "SSIM of the best future", "of those predicted, higher is better"),
)
"""The metrics that are charted, NAME_frame_07 and so on, with heading and note."""


def frames_chart(title: str, series: Sequence[Series]) -> str:
    """Values against the number of the frame, counted from 0; empty without series of two frames."""
    drawn = [one for one in series if len(one.points) > 1]
    if not drawn:
        return ""
    numbers, values = zip(*(point for one in drawn for point in one.points), strict=True)
    frame = Frame(Linear(min(numbers), max(numbers)), Linear.around(min(values), max(values)), WIDTH - RIGHT)
    svg = blank(title, frame, "frame, counted from 0")
    for one in drawn:
        path = SubElement(svg, "path", {"class": f"curve {one.css}", "d": path_through(frame, one.points)})
        SubElement(path, "title").text = one.label
    return tostring(svg, encoding="unicode")
