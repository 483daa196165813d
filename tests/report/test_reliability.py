"""Reliability: what was measured of calibration is what is drawn, and nothing is where nothing was measured."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from sigmavae.report import read_run, write_page
from sigmavae.report.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Series
from sigmavae.report.reliability import Calibration, coverage_chart, histogram_chart

COVERAGES = {f"calibration_coverage_{level}": level / 200 for level in (95, 90, 10, 50)}
BINS = {f"calibration_pit_{number:02}": (0.1, 0.4, 0.3, 0.2)[number] for number in range(4)}
ERRORS = {f"{name}_stderr": 0.01 for name in (*COVERAGES, *BINS)}


@pytest.fixture
def examined(make_run):
    return make_run("optimal-sigma", **COVERAGES, **BINS, **ERRORS)


def corners(path):
    return [tuple(float(number) for number in place.split()) for place in path.attrib["d"].strip("M").split("L")]


def value_of(place, highest=1.0):
    """What a place in the chart stands for."""
    x, y = place
    across, up = (x - LEFT) / (WIDTH - RIGHT - LEFT), (HEIGHT - BOTTOM - y) / (HEIGHT - BOTTOM - TOP)
    return pytest.approx((across, up * highest), abs=highest / 1000)


def test_the_metrics_are_read_in_the_order_of_their_numbers(examined):
    found = Calibration.of(read_run(examined), "calibration_")
    assert found.coverage == [(0, 0), (0.1, 0.05), (0.5, 0.25), (0.9, 0.45), (0.95, 0.475)]
    assert found.histogram == [
        (0, 0.4), (0.25, 0.4), (0.25, 1.6), (0.5, 1.6), (0.5, 1.2), (0.75, 1.2), (0.75, 0.8), (1, 0.8),
    ]  # fmt: skip


def test_another_prefix_an_unfinished_run_and_no_numbers_give_nothing(examined, make_run):
    nothing = Calibration([], [])
    assert Calibration.of(read_run(examined), "prior_calibration_") == nothing
    assert Calibration.of(read_run(make_run("gaussian", finished=False)), "calibration_") == nothing
    assert Calibration.of(read_run(make_run("gaussian", calibration_coverage_10=None)), "calibration_") == nothing


def test_curves_lie_where_their_numbers_are():
    points = [(0.0, 0.0), (0.5, 0.25), (0.9, 0.6)]
    svg = ElementTree.fromstring(coverage_chart("a < b", [Series("one", "accent", points), Series("no", "x", [])]))
    ideal, curve = svg.iter("path")
    assert svg.find("title").text == "a < b"
    assert [value_of(place) for place in corners(ideal)] == [(0, 0), (1, 1)]
    assert [value_of(place) for place in corners(curve)] == points
    assert (curve.attrib["class"], curve.find("title").text) == ("curve accent", "one")


def test_the_highest_bin_is_inside_the_chart():
    svg = ElementTree.fromstring(histogram_chart("t", [Series("one", "accent", [(0.0, 12.0), (1.0, 0.5)])]))
    assert all(TOP <= y <= HEIGHT - BOTTOM for path in svg.iter("path") for _, y in corners(path))
    assert [value_of(place, 12 * 1.06) for place in corners(next(svg.iter("path")))] == [(0, 1), (1, 1)]


def test_no_points_draw_nothing():
    assert coverage_chart("t", [Series("a", "accent", [])]) == histogram_chart("t", []) == ""


def test_only_runs_that_were_examined_are_drawn(tmp_path, trio, examined):
    page = tmp_path / "page.html"
    assert "<h2>Calibration</h2>" not in write_page(trio, page, title="t").read_text()
    html = write_page([*trio, examined], page, title="t").read_text()
    section = html.split("<h2>Calibration</h2>")[1].split("</section>")[0]
    drawings = re.findall(r'<svg[^>]*class="chart".*?</svg>', section, re.DOTALL)
    assert len(drawings) == 2  # no prior: it was not measured
    for drawing in drawings:
        assert len(re.findall('class="curve', drawing)) == 1
    assert len(re.findall("<li>", section)) == 1
