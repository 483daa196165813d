"""Run folders: what is read, what is forgiven, and what is refused by the name of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sigmavae.report import ReportError, find_runs, read_run


def test_a_run_is_read(trio):
    run = read_run(trio[2])
    assert (run.name, run.likelihood, run.seed, run.finished) == ("fashion-optimal-sigma", "optimal-sigma", 0, True)
    assert run.metric("rate") == 51.2
    assert run.metric("no such metric") is None
    assert run.curve("nll", "train")[0] == (1, 699)
    assert set(run.pictures) == {"real", "reconstructions", "samples"}


def test_the_error_is_solved_from_the_distortion(trio):
    assert [read_run(folder).error for folder in trio] == pytest.approx([0.17, 0.123, 0.1144])


def test_a_stated_error_is_preferred_and_a_rounded_bound_is_not_solved(trio, edit):
    edit(trio[0], rmse=0.2)
    edit(trio[1], bits_per_dim=4.4)
    assert read_run(trio[0]).error == 0.2
    assert read_run(trio[1]).error is None


def test_half_a_last_line_is_forgiven(trio):
    journal = trio[0] / "metrics.jsonl"
    whole = read_run(trio[0]).journal
    journal.write_text(journal.read_text() + '{"step": 103, "spl')
    assert read_run(trio[0]).journal == whole


def test_a_damaged_line_elsewhere_is_named(trio):
    journal = trio[0] / "metrics.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines[:4], '{"step": 7, ', *lines[5:]]))
    with pytest.raises(ReportError, match=r"metrics\.jsonl, line 5"):
        read_run(trio[0])


def test_a_step_logged_twice_keeps_its_last_value_and_nan_is_left_out(trio):
    lines = [("1", "5.0"), ("2", "4.0"), ("3", "NaN"), ("2", "3.5")]
    text = "".join(f'{{"step": {step}, "split": "train", "nll": {value}}}\n' for step, value in lines)
    (trio[0] / "metrics.jsonl").write_text(text)
    assert read_run(trio[0]).curve("nll", "train") == [(1, 5.0), (2, 3.5)]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("experiment.json", b"{"),
        ("experiment.json", b"[1]"),
        ("experiment.json", b'{"name": "x"}'),
        ("experiment.json", b'{"likelihood": {"name": "beta"}}'),
        ("result.json", b'{"metrics": 3}'),
        ("result.json", b""),
        ("pictures/real.png", b"not a picture"),
        ("pictures/real.png", b"GIF, say    IHDR" + bytes(40) + b"IEND\xaeB`\x82"),
        ("pictures/samples.png", None),  # cut in half
    ],
)
def test_a_damaged_file_is_named(trio, file, content):
    path = trio[0] / file
    path.write_bytes(path.read_bytes()[:60] if content is None else content)
    with pytest.raises(ReportError, match=Path(file).name):
        read_run(trio[0])


@pytest.mark.parametrize("file", ["experiment.json", "metrics.jsonl"])
def test_a_missing_file_is_named(trio, file):
    (trio[0] / file).unlink()
    with pytest.raises(ReportError, match=file):
        read_run(trio[0])


def test_a_run_that_has_only_begun_is_no_error(make_run):
    folder = make_run("gaussian", finished=False)
    (folder / "metrics.jsonl").unlink()
    (folder / "pictures" / "real.png").unlink()
    run = read_run(folder)
    assert not run.finished
    assert run.journal == ()
    assert "real" not in run.pictures


def test_runs_are_found_at_any_depth(trio, tmp_path):
    deep = tmp_path / "runs" / "deep" / "er"
    deep.parent.mkdir()
    trio[1].rename(deep)
    assert find_runs(tmp_path) == [trio[0], trio[2], deep]
    assert find_runs(trio[0]) == [trio[0]]


def test_no_runs_says_where_and_what_one_is(tmp_path):
    with pytest.raises(ReportError, match=rf"{tmp_path}.*experiment\.json"):
        find_runs(tmp_path)


def test_many_scales_have_no_one_error_to_solve_for(trio):
    path = trio[0] / "experiment.json"
    path.write_text(path.read_text().replace('{"name": "gaussian"}', '{"name": "pixel-sigma"}'))
    assert read_run(trio[0]).metric("distortion") is not None
    assert read_run(trio[0]).error is None


def videos(folder, **model):
    """Make a run folder one of videos."""
    path = folder / "experiment.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"model": {"kind": "svg", "past": 3, "future": 4, **model}})
    )
    return read_run(folder)


def test_nats_of_videos_are_of_a_predicted_frame(make_run):
    run = videos(make_run("gaussian", nll=100.0, nll_stderr=2.0, rate=30.0, distortion=70.0, nll_per_frame=5.0))
    assert [run.nats(name) for name in ("nll", "nll_stderr", "rate", "distortion")] == pytest.approx([5, 0.1, 1.5, 3.5])
    assert run.nats_curve("nll") == [(step, value / 4) for step, value in run.curve("nll", "validation")]
    image = read_run(make_run("gaussian", nll=100.0, rate=30.0))
    assert (image.nats("nll"), image.nats("rate")) == (100, 30)
    assert image.nats_curve("nll") == image.curve("nll", "validation")


def test_clips_of_a_run_that_never_validated_count_all_frames_trained_on(make_run):
    folder = make_run("gaussian")
    journal = folder / "metrics.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"train"' in line))
    run = videos(folder, score_past=True)
    assert run.nats_curve("nll") == [(step, value / 6) for step, value in run.curve("nll", "train")]
