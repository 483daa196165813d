"""Charts: well-formed, titled, and drawn over the range that matters."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sigmavae.report.chart import Series, line_chart, spread
from sigmavae.report.dumbbell import Claim, dumbbell_chart
from sigmavae.report.numerals import DASH, fixed, short, significant
from sigmavae.report.scales import Linear, Log, telling_range

SVG = "{http://www.w3.org/2000/svg}"
FALLING = [(step, 100_000.0 / step**2 - 400) for step in range(1, 1001)]


def test_the_range_shows_the_tail_not_the_first_steps():
    low, high = telling_range([FALLING])
    assert low == pytest.approx(-399.9, abs=0.1)
    assert high < -390


def test_a_spike_does_not_set_the_range_but_the_last_value_is_always_in_it():
    flat = [(step, 1.0 + step / 1000) for step in range(500)]
    flat[300] = (300, 1e6)
    assert telling_range([flat])[1] < 2
    flat[-1] = (499, 9.0)
    assert telling_range([flat])[1] == 9.0


def test_every_curve_has_its_end_in_the_range():
    low, high = telling_range([FALLING, [(10, 737.0)]])
    assert (low, high) == pytest.approx((-399.9, 737), abs=0.1)


@pytest.mark.parametrize(("low", "high"), [(-540, 740), (0.1, 0.12), (7, 7), (0, 0), (1e5, 3e6)])
def test_linear_ticks_are_round_and_inside(low, high):
    scale = Linear.around(low, high)
    ticks = scale.ticks()
    assert 3 <= len(ticks) <= 7
    assert all(scale.low <= tick <= scale.high for tick in ticks)
    assert len({short(tick) for tick in ticks}) == len(ticks)
    assert all(len(short(tick)) <= 6 for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(0.1, 1), (1, 1), (0.02, 0.03), (1e-4, 10), (0.113, 0.118)])
def test_log_ticks_are_inside_and_evenly_placed(low, high):
    scale = Log.around(low, high)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 9
    assert all(scale.low <= tick <= scale.high for tick in ticks)
    assert scale.fraction((scale.low * scale.high) ** 0.5) == pytest.approx(0.5)


def test_the_chart_is_well_formed_titled_and_hostile_labels_stay_text():
    hostile = '<script>alert("&")</script>'
    svg = ElementTree.fromstring(line_chart("nll", hostile, [Series(hostile, "accent", FALLING)], Linear, True))
    assert svg.find("title").text == hostile
    assert [text.text for text in svg.iter("text")][-1] == hostile
    assert list(svg.iter("script")) == []


def test_long_curves_are_thinned_and_keep_their_last_point():
    svg = ElementTree.fromstring(line_chart("nll", "t", [Series("a", "accent", FALLING)], Linear, False))
    path = next(svg.iter("path"))
    assert path.attrib["d"].count("L") < 250
    assert path.attrib["data-points"].endswith("[1000,-399.9]]")


def test_a_log_chart_drops_what_has_no_logarithm_and_no_points_draw_nothing():
    svg = line_chart("sigma", "t", [Series("a", "accent", [(1, 0.0), (2, 0.5)])], Log, False)
    assert "[[2,0.5]]" in svg
    assert line_chart("sigma", "t", [Series("a", "accent", [])], Log, False) == ""


def test_labels_keep_a_line_apart_and_inside():
    rows = spread([50, 51, 199, 200], 10, 200)
    assert rows == [50, 63, 187, 200]


def test_the_dumbbell_says_both_numbers():
    svg = ElementTree.fromstring(dumbbell_chart("t", [Claim("MSE & co", "hue-0", 1.0, 0.17)]))
    assert next(svg.iter("text")).text is not None
    assert any(text.text == "MSE & co: says 1.00, is 0.170" for text in svg.iter("text"))
    said, measured = svg.iter("circle")
    assert {said.attrib["class"], measured.attrib["class"]} == {"said hue-0", "measured hue-0"}
    assert dumbbell_chart("t", []) == ""


def test_numbers_are_written_plainly():
    assert [significant(value) for value in (1.0, 0.1132, 0.02565, 1234.5, 12.0, None)] == [
        "1.00", "0.113", "0.0256", "1234", "12.0", DASH,
    ]  # fmt: skip
    assert [short(value) for value in (0.30000000000000004, 1500.0, 20000.0, 2.5e6, -500.0)] == [
        "0.3", "1500", "20k", "2.5M", "-500",
    ]  # fmt: skip
    assert fixed(-402.12, 1) == "-402.1"
