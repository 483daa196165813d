"""Curves with bands as a small PNG: lines, a few ticks, a legend, and nothing that needs more than Pillow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

INK, PALE, GRID, PAPER = "#1c2126", "#5d6670", "#e3e6e9", "#ffffff"
COLOURS = ("#c2571a", "#1f6fb4", "#3d8b40")
PANEL, MARGIN = (430, 250), (64, 34, 16, 34)  # width and height; left, top, right, bottom of the axes
SHARP = 2  # drawn so many times as large, then shrunk: Pillow's lines have no soft edges


@dataclass(frozen=True)
class Curve:
    """Points of a mean, and how far its band reaches on either side."""

    name: str
    x: Sequence[float]
    mean: Sequence[float]
    reach: Sequence[float]


def draw(path: Path, panels: Sequence[tuple[str, Sequence[Curve]]]) -> None:
    """Write panels side by side, each a title and its curves."""
    width, height = PANEL
    sheet = Image.new("RGB", (SHARP * width * len(panels), SHARP * height), PAPER)
    for number, (title, curves) in enumerate(panels):
        sheet.paste(_panel(title, curves), (SHARP * width * number, 0))
    path.parent.mkdir(parents=True, exist_ok=True)
    small = sheet.resize((width * len(panels), height), Image.Resampling.LANCZOS)
    small.quantize(64).save(path, optimize=True)


def _panel(title: str, curves: Sequence[Curve]) -> Image.Image:
    width, height = PANEL
    left, top, right, bottom = MARGIN
    sheet = Image.new("RGBA", (SHARP * width, SHARP * height), PAPER)
    xs = [x for curve in curves for x in curve.x]
    ys = [y for curve in curves for m, r in zip(curve.mean, curve.reach, strict=True) for y in (m - r, m + r)]
    across, up = _range(xs), _range(ys)

    def place(x: float, y: float) -> tuple[float, float]:
        a = (x - across[0]) / (across[1] - across[0]) * (width - left - right) + left
        b = (y - up[0]) / (up[1] - up[0]) * (height - top - bottom) + bottom
        return SHARP * a, SHARP * (height - b)

    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(11 * SHARP)
    for y in _ticks(*up):
        pen.line([place(across[0], y), place(across[1], y)], GRID, SHARP)
        pen.text((SHARP * (left - 6), place(0, y)[1]), f"{round(y):,}", PALE, font, anchor="rm")
    for x in _ticks(*across):
        pen.text((place(x, 0)[0], SHARP * (height - bottom + 6)), f"{round(x):,}", PALE, font, anchor="ma")
    pen.text((SHARP * left, SHARP * 9), title, INK, font)
    for curve, colour in zip(curves, COLOURS, strict=False):
        sides = [[place(x, m + sign * r) for x, m, r in _rows(curve)] for sign in (1, -1)]
        layer = Image.new("RGBA", sheet.size)
        if len(curve.x) > 1:
            ImageDraw.Draw(layer).polygon([*sides[0], *reversed(sides[1])], f"{colour}38")
        sheet.alpha_composite(layer)
    pen = ImageDraw.Draw(sheet)
    for number, (curve, colour) in enumerate(zip(curves, COLOURS, strict=False)):
        pen.line([place(x, m) for x, m, _ in _rows(curve)], colour, 2 * SHARP, joint="curve")
        at = SHARP * (width - right - 4), SHARP * (top + 6 + 15 * number)
        pen.text(at, curve.name, colour, font, anchor="ra")
    return sheet.convert("RGB")


def _rows(curve: Curve) -> Iterable[tuple[float, float, float]]:
    return zip(curve.x, curve.mean, curve.reach, strict=True)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range, four to nine of them."""
    step = 10 ** np.floor(np.log10((high - low) / 4))
    step *= next(factor for factor in (5, 2, 1) if (high - low) / (factor * step) >= 4)
    return [float(tick) for tick in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]
