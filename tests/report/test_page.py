"""The page: one file that needs no other, shows the numbers of the results, and escapes what it was given."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from PIL import Image

from sigmavae.report import ReportError, read_run, write_page
from sigmavae.report.labels import labels, styles

CHROMIUM = shutil.which("chromium")


class Page(HTMLParser):
    """Tags with their attributes, in the order of the page, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, wanted):
        return [attributes for tag, attributes in self.tags if tag == wanted]


@pytest.fixture
def write(tmp_path):
    def write(folders, *, title="A title", demo=False):
        return write_page(folders, tmp_path / "page.html", title=title, demo=demo).read_text()

    return write


@pytest.mark.parametrize("demo", [False, True])
def test_the_page_needs_nothing_from_outside(write, trio, demo):
    html = write(trio, demo=demo)
    page = Page(html)
    resources = [tag.get(key) for _, tag in page.tags for key in ("src", "href", "srcset") if key in tag]
    assert resources
    assert all(resource.startswith("data:") for resource in resources)
    assert "://" not in html
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)
    assert len(page.all("img")) == 9 + 4 * demo
    assert all(image["alt"] for image in page.all("img"))
    assert len(html) < 200_000


@pytest.mark.parametrize("demo", [False, True])
def test_every_drawing_is_well_formed_and_named(write, trio, demo):
    drawings = re.findall(r'<svg[^>]*class="chart".*?</svg>', write(trio, demo=demo), re.DOTALL)
    assert len(drawings) == 3 + demo
    assert all(ElementTree.fromstring(drawing).find("title").text for drawing in drawings)


def test_the_table_shows_the_results(write, trio, edit):
    edit(trio[2], nll=-4321.06, nll_stderr=3.25, rate=98.76, sigma=0.06543, bits_per_dim=3.1415)
    html = write(trio)
    text = Page(html).text
    assert 'data-value="31.25">31.2<' in html
    for number in ("-4321.1 ± 3.2", "98.8", "0.0654", "3.142", "990123", "sigmavae train fashion-beta"):
        assert number in text


def best_cells(html):
    return re.findall(r'<td class="best"[^>]*>([^<]+)', html)


def test_the_best_are_marked_among_their_likes(write, make_run):
    folders = [
        make_run("gaussian", nll=-100.0, bits_per_dim=5.0),
        make_run("optimal-sigma", nll=-200.0, bits_per_dim=4.0),
        make_run("categorical", nll=2500.0, bits_per_dim=4.6),
        make_run("discretized-logistic", nll=2400.0, bits_per_dim=4.5),
    ]
    html = write(folders)
    assert best_cells(html) == ["-200.0", "4.000", "2400.0"]
    assert html.count("</sup></td>") == 2
    assert "not a density" in html
    assert "not a density" not in write(folders[:2])
    assert best_cells(write(folders[:1])) == []


def test_the_best_are_sought_among_runs_on_the_same_data(write, make_run):
    folders = [make_run("gaussian", nll=-100.0), make_run("beta", nll=-200.0), make_run("optimal-sigma", nll=-900.0)]
    assert best_cells(write(folders)) == ["-900.0"]
    result = folders[2] / "result.json"
    other = json.loads(result.read_text()) | {"data": {"fingerprint": "of another set"}}
    result.write_text(json.dumps(other))
    assert best_cells(write(folders)) == ["-200.0"]


def test_a_column_of_fid_is_there_where_one_was_measured(write, make_run):
    without = make_run("gaussian", nll=700.0)
    assert ">FID<" not in write([without])
    better = make_run("optimal-sigma", nll=-400.0, fid=41.26)
    worse = make_run("beta", nll=-300.0, fid=70.0)
    html = write([without, better, worse])
    assert ">FID<" in html
    assert "41.3" in best_cells(html)
    assert "70.0" not in best_cells(html)


def test_hostile_names_are_shown_not_run(write, make_run):
    hostile = '<script>alert("x")</script>\'"><img src=x>'
    folder = make_run(hostile, name=hostile, nll=1.0)
    page = Page(write([folder, make_run("beta", finished=False)], title=hostile))
    assert len(page.all("script")) == 1
    assert all(image["src"].startswith("data:") for image in page.all("img"))
    assert page.text.count(hostile) > 4


def test_an_unfinished_run_is_shown_as_such(write, trio):
    (trio[0] / "result.json").unlink()
    html = write(trio)
    assert "3 runs, 1 of them unfinished" in html
    assert html.count("<em>unfinished</em>") == 3  # table, pictures, details
    assert html.count('class="curve hue-0 dash-0" d="M') == 3 + 1  # the charts and the legend
    assert "nothing to conclude yet" in write(trio, demo=True)


def test_strips_of_videos_are_shown_whole(write, make_run):
    folder = make_run("gaussian")
    assert 'class="pictures"' in write([folder])
    for kind in ("real", "reconstructions", "samples"):
        Image.new("L", (620, 102)).save(folder / "pictures" / f"{kind}.png")
    html = write([folder])
    assert 'class="pictures strips"' in html
    assert "the best of its futures" in html
    assert "sampled" not in html


def test_a_run_without_pictures_and_curves_still_has_a_page(write, make_run):
    folder = make_run("gaussian", finished=False)
    (folder / "metrics.jsonl").unlink()
    shutil.rmtree(folder / "pictures")
    for demo in (False, True):
        html = write([folder], demo=demo)
        assert "<svg" not in html
        assert "<img" not in html
        assert "1 run, 1 of them" in html or demo


def test_only_the_demonstration_teaches(write, trio):
    assert "sigma² = beta / 2" in write(trio, demo=True)
    assert "-likelihood(h, x).log_prob(x) + kl" in write(trio, demo=True)
    assert "sigma² = beta / 2" not in write(trio)


def test_labels_and_colours_tell_runs_apart(make_run):
    runs = [read_run(make_run(likelihood, name="same", seed=seed)) for likelihood, seed in [("beta", 0), ("beta", 1)]]
    twins = [*runs, read_run(make_run("beta", name="same", seed=1)), read_run(make_run("optimal-sigma", name="own"))]
    assert labels(runs, plain=False) == ["same, seed 0", "same, seed 1"]
    assert labels(twins, plain=False) == ["same, seed 0", "same, seed 1, 01", "same, seed 1, 02", "own"]
    assert labels([runs[0], runs[0]], plain=True) == ["beta by hand, 1", "beta by hand, 2"]
    assert styles(twins) == ["hue-0 dash-0", "hue-0 dash-1", "hue-0 dash-2", "accent dash-0"]


def test_many_runs_get_a_legend_and_unique_labels(write, make_run):
    folders = [make_run(likelihood, name="run", seed=seed, nll=1.0) for likelihood in "abcde" for seed in range(4)]
    html = write(folders)
    assert html.count('<ul class="legend">') == 1
    assert len(set(re.findall(r'<th scope="row" data-value="([^"]+)"', html))) == 20


def test_a_failed_page_leaves_the_old_one_and_no_rubbish(tmp_path, trio, monkeypatch):
    out = write_page(trio, tmp_path / "new" / "page.html", title="first")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_page(trio, out, title="second")
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]
    assert "first" in out.read_text()


def test_no_runs_make_no_page(tmp_path):
    with pytest.raises(ReportError, match=r"page\.html"):
        write_page([], tmp_path / "page.html", title="t")


@pytest.mark.skipif(CHROMIUM is None, reason="sorting happens in a browser, and chromium is not on PATH")
def test_a_click_on_a_heading_sorts_and_a_second_one_reverses(write, make_run, tmp_path):
    values = {"b": 9.0, "a": -10.0, "c": 100.0, "d": None}
    html = write([make_run("gaussian", name=name, nll=value) for name, value in values.items()])
    clicks = """<script>
    const nll = document.querySelectorAll("thead button")[2];
    const names = () => [...document.querySelectorAll("tbody th")].map((cell) => cell.dataset.value).join("");
    const seen = [names()];
    for (const button of [nll, nll, document.querySelector("thead button")]) { button.click(); seen.push(names()); }
    document.title = seen.join(" ") + " " + document.querySelectorAll("[aria-sort]").length;
    </script>"""
    page = tmp_path / "page.html"
    page.write_text(html.replace("</body>", clicks + "</body>"))
    quiet = [f"--disable-{what}" for what in ("gpu", "quic", "background-networking", "component-update", "sync")]
    flags = ["--headless", "--no-sandbox", "--no-first-run", *quiet, "--virtual-time-budget=1000", "--dump-dom"]
    command = [CHROMIUM, *flags, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "<title>bacd abcd cbad abcd 1</title>" in dom
