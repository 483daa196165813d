"""What is shown while a run trains."""

import io

from rich.console import Console

from sigmavae.progress import Bars, describe

VALUES = {"nll": -123.456, "rate": 12.3, "sigma": 0.0678, "images_per_second": 2345.6}


def test_values_carry_their_units():
    assert describe(VALUES) == "-123.5 nats  rate 12.3  sigma 0.068  2346 images/s"
    assert describe({"nll": 5.0, "sigma": None}) == "5.0 nats"


def test_without_a_terminal_a_line_now_and_then_and_one_at_the_end():
    out, now = io.StringIO(), [0.0]
    with Bars(Console(file=out, width=200), clock=lambda: now[0]) as bars:
        bars.begin("mine", 100, 0)
        for step in range(1, 101):
            now[0] += 0.5
            bars.advance(step, VALUES)
    lines = out.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("mine  20/100  -123.5 nats")
    assert lines[0].endswith("40 s left")
    assert lines[-1].startswith("mine  100/100")


def test_on_a_terminal_a_bar():
    out = io.StringIO()
    with Bars(Console(file=out, width=120, force_terminal=True)) as bars:
        bars.begin("mine", 10, 5)
        bars.advance(10, VALUES)
        bars.say("a sentence")
    text = out.getvalue()
    assert "10/10" in text
    assert "2346 images/s" in text
    assert "a sentence" in text


def test_names_of_files_are_shown_as_they_are():
    for terminal in (False, True):
        out = io.StringIO()
        with Bars(Console(file=out, width=120, force_terminal=terminal, color_system=None)) as bars:
            bars.begin("[bold]a[/b]", 1, 0)
            bars.advance(1, {})
            bars.say("/photos/[old]/x[/].png")
        assert "[bold]a[/b]" in out.getvalue()
        assert "/photos/[old]/x[/].png" in out.getvalue()
