"""A bar for every layer, as high as its rate."""

import json
from xml.etree import ElementTree

import pytest

from sigmavae.report import read_run, write_page
from sigmavae.report.chart import BOTTOM, HEIGHT, TOP
from sigmavae.report.layers import layers_chart, rates_of
from sigmavae.report.numerals import significant


def validated(folder, *rates):
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        for step, each in enumerate(rates, 101):
            file.write(json.dumps({"step": step, "split": "validation", "nll": 1.0, "rates": each}) + "\n")
    return folder


def test_evaluated_rates_come_before_those_last_validated(make_run):
    assert rates_of(read_run(validated(make_run("gaussian"), [1.0, 2.0], [3.0, 4.0]))) == [3.0, 4.0]
    evaluated = make_run("gaussian", rate_02=6.0, rate_01=5.0, rate_01_stderr=0.1)
    assert rates_of(read_run(validated(evaluated, [1.0, 2.0]))) == [5.0, 6.0]


def test_one_layer_no_layers_and_bad_numbers_give_nothing(make_run):
    assert rates_of(read_run(make_run("gaussian"))) == []
    assert rates_of(read_run(make_run("gaussian", rate_01=5.0))) == []
    assert rates_of(read_run(make_run("gaussian", rate_01=5.0, rate_02=None))) == []
    assert rates_of(read_run(validated(make_run("gaussian"), [1.0, "x"]))) == []
    assert layers_chart("none", "accent", []) == ""


def test_bars_are_as_high_as_their_rates():
    svg = ElementTree.fromstring(layers_chart("a < b", "accent", [50.0, 0.0, 100.0]))
    bars = list(svg.iter("rect"))
    heights = [float(bar.attrib["height"]) for bar in bars]
    assert heights[2] == pytest.approx((HEIGHT - BOTTOM - TOP) / 1.06, abs=0.2)
    assert heights[0] == pytest.approx(heights[2] / 2, abs=0.2)
    assert heights[1] == 0
    for bar in bars:
        assert float(bar.attrib["y"]) + float(bar.attrib["height"]) == pytest.approx(HEIGHT - BOTTOM, abs=0.2)
    assert [bar.find("title").text for bar in bars] == [
        f"layer {n}: {significant(v)} nats" for n, v in ((1, 50.0), (2, 0.0), (3, 100.0))
    ]


def test_a_page_shows_them_for_runs_that_have_layers(make_run, tmp_path):
    plain, deep = make_run("gaussian"), validated(make_run("optimal-sigma"), [1.0, 2.0, 3.0])
    page = write_page([plain, deep], tmp_path / "page.html", title="Two").read_text()
    assert "<h2>Layers</h2>" in page
    assert page.count('<rect class="layer') == 3
    assert "<h2>Layers</h2>" not in write_page([plain], tmp_path / "other.html", title="One").read_text()
