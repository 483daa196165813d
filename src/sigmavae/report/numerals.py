"""How numbers are written; a missing one is a dash."""

from __future__ import annotations

DASH = "–"  # noqa: RUF001


def fixed(value: float | None, digits: int) -> str:
    """So many digits after the point."""
    return DASH if value is None else f"{value:.{digits}f}"


def significant(value: float | None) -> str:
    """Three significant digits, all of those before the point."""
    if value is None:
        return DASH
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def short(value: float) -> str:
    """As on an axis: no trailing zeros, a letter for the thousands and millions."""
    for size, unit, letter in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= size:
            return f"{value / unit:.6g}{letter}"
    return f"{value:.6g}"
