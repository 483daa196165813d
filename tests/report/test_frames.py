"""Numbers of predicted frames, one by one."""

from xml.etree import ElementTree

import pytest

from sigmavae.report import write_page
from sigmavae.report.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Series
from sigmavae.report.frames import frames_chart
from tests.report.test_runs import videos


def test_a_curve_runs_from_the_first_predicted_frame_to_the_last():
    svg = ElementTree.fromstring(frames_chart("a < b", [Series("one", "accent", [(2, 5.0), (3, 9.0), (4, 7.0)])]))
    (curve,) = (path for path in svg.iter("path") if "curve" in path.attrib["class"])
    points = [tuple(map(float, pair.split())) for pair in curve.attrib["d"][1:].split("L")]
    across, heights = zip(*points, strict=True)
    assert across == pytest.approx((LEFT, (LEFT + WIDTH - RIGHT) / 2, WIDTH - RIGHT), abs=0.1)
    assert (heights[0] - heights[2]) / (heights[0] - heights[1]) == pytest.approx(0.5, abs=0.01)
    assert min(heights) > TOP
    assert max(heights) < HEIGHT - BOTTOM


def test_a_page_shows_them_for_runs_of_videos_that_were_measured(make_run, tmp_path):
    found = {f"{name}_frame_{t:02}": float(t) for name in ("video_nll", "psnr") for t in (3, 4, 5)}
    plain, measured = make_run("gaussian"), make_run("optimal-sigma", nll=120.0, nll_per_frame=7.0, **found)
    videos(measured)
    page = write_page([plain, measured], tmp_path / "page.html", title="Two").read_text()
    assert "<h2>Frame by frame</h2>" in page
    assert "Cost of each frame" in page
    assert "SSIM" not in page
    assert "Cost of a predicted frame or an image" in page
    assert ">7.0<" in page
    alone = write_page([plain], tmp_path / "other.html", title="One").read_text()
    assert "<h2>Frame by frame</h2>" not in alone
    assert "Cost of an image" in alone
