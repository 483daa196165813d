"""A run folder: what is in it, and that asking again does the right thing."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sigmavae.config import Experiment, LikelihoodConfig
from sigmavae.devices import best_precision
from sigmavae.errors import ConfigError, RunError
from sigmavae.files import alone_in
from sigmavae.run import load_run, run
from tests.training.runs import Watcher, finish, tiny, with_seed


def test_a_run_leaves_what_it_promises(whole: Path):
    result = json.loads((whole / "result.json").read_text())
    assert result["name"] == "tiny"
    assert result["command"] == "the command"
    assert result["steps"] == 12
    assert result["parameters"] == sum(p.numel() for p in load_run(whole)[1].parameters())
    assert result["experiment"] == json.loads((whole / "experiment.json").read_text())
    assert {"nll", "bits_per_dim", "nll_discrete", "rate", "distortion", "sigma", "beta"} <= result["metrics"].keys()
    assert (result["data"]["train"], result["data"]["test"]) == (9000, 2000)
    for name in ("real", "reconstructions", "samples"):
        assert (whole / "pictures" / f"{name}.png").stat().st_size > 1000
    lines = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    # a line every 3 steps, and one at every checkpoint, every 4
    assert [(line["split"], line["step"]) for line in lines] == [
        ("train", 3), ("train", 4), ("train", 6), ("validation", 6), ("train", 8), ("train", 9), ("train", 12),
        ("validation", 12),
    ]  # fmt: skip
    for line in lines:
        assert line["nll"] == pytest.approx(line["distortion"] + line["rate"])
    assert not list(whole.rglob("*.tmp"))


def test_a_finished_run_is_left_alone(whole: Path, tmp_path: Path):
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}
    watcher = Watcher()
    result = run(tiny(), folder, watcher)
    assert result == json.loads((folder / "result.json").read_text())
    assert watcher.steps == []
    assert "left alone" in watcher.said[0]
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}


def test_another_experiment_in_the_same_folder_is_refused_by_field(whole: Path):
    with pytest.raises(RunError, match="seed: 0 -> 1.*--out"):
        run(with_seed(tiny(), 1), whole, Watcher())


def test_what_cannot_be_built_leaves_nothing_behind(tmp_path: Path):
    with pytest.raises(ConfigError):
        finish(Experiment(likelihood=LikelihoodConfig("gausian")), tmp_path / "run")
    assert [p.name for p in (tmp_path / "run").iterdir()] == [".lock"]


def test_a_second_process_in_the_same_folder_is_told_so(tmp_path: Path):
    with alone_in(tmp_path), pytest.raises(RunError, match="another process is working"):
        finish(tiny(), tmp_path)


def test_a_loaded_model_is_the_trained_one(whole: Path):
    experiment, model, splits = load_run(whole)
    assert experiment == tiny()
    assert not model.training
    saved = load_file(whole / "model.safetensors")
    assert all(torch.equal(value, saved[name]) for name, value in model.state_dict().items())
    assert model.sample(2).shape == (2, *splits.shape)


def test_folders_that_hold_no_finished_run_say_so(whole: Path, tmp_path: Path):
    with pytest.raises(RunError, match="is not a run folder"):
        load_run(tmp_path)
    shutil.copy(whole / "experiment.json", tmp_path)
    with pytest.raises(RunError, match="is not finished"):
        load_run(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(RunError, match="model.safetensors cannot be used"):
        load_run(tmp_path)
    (tmp_path / "experiment.json").write_text("{")
    with pytest.raises(RunError, match="experiment.json cannot be read"):
        load_run(tmp_path)


def test_seeds_change_the_result_and_nothing_else_does(whole: Path, tmp_path: Path):
    again, other = tmp_path / "again", tmp_path / "other"
    torch.manual_seed(123)  # whatever was drawn before
    finish(tiny(), again)
    finish(with_seed(tiny(), 1), other)
    same, different = (f.joinpath("model.safetensors").read_bytes() for f in (again, other))
    assert same == (whole / "model.safetensors").read_bytes() != different


def test_a_run_goes_on_in_the_arithmetic_it_began_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    automatic = dataclasses.replace(tiny(), precision="auto")
    monkeypatch.setattr("sigmavae.run.best_precision", lambda _: "bf16-mixed")
    with pytest.raises(KeyboardInterrupt):
        run(automatic, tmp_path, Watcher(stop_after=5))
    monkeypatch.setattr("sigmavae.run.best_precision", lambda _: "32")
    watcher = Watcher()
    result = run(automatic, tmp_path, watcher)
    assert result["experiment"]["precision"] == "bf16-mixed"
    assert watcher.said[0].startswith("precision bf16-mixed, channels_last")


def test_the_arithmetic_of_a_machine_is_chosen_by_what_it_has(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert best_precision(cpu) == "bf16-mixed"
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    assert best_precision(cpu) == "32"
    assert best_precision(torch.device("cuda")) == "32"
