"""Training a hierarchy: its first batch, its layers' rates, its schedule, on one process and two."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sigmavae.cli import main
from sigmavae.config import from_json, to_json
from sigmavae.models import HVAE
from sigmavae.run import load_run, run
from tests.training.runs import Watcher, finish, hierarchy


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hierarchy") / "run"
    finish(hierarchy(steps=60, batch=32), folder)
    return folder


def curve(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_it_learns_and_the_journal_has_a_rate_for_every_layer(trained: Path):
    lines = curve(trained)
    found = [line["nll"] for line in lines if line["split"] == "validation"]
    assert found[-1] < found[0] - 20
    for line in lines:
        assert len(line["rates"]) == 3
        assert sum(line["rates"]) == pytest.approx(line["rate"], rel=1e-4, abs=1e-3)
        assert ("left_out" in line) == (line["split"] == "train")


def test_the_schedule_is_followed(trained: Path):
    state = json.loads((trained / "checkpoints" / "step-00000060" / "state.json").read_text())
    assert state["optimizer_groups"][0]["lr"] == pytest.approx(2e-3 * 0.99**59)


def test_a_finished_run_comes_back_with_the_averaged_weights(trained: Path):
    experiment, model, _ = load_run(trained)
    assert isinstance(model, HVAE)
    assert from_json(json.loads(json.dumps(to_json(experiment)))) == experiment
    assert bool(model.initialised)
    latest = load_file(trained / "checkpoints" / "step-00000060" / "tensors.safetensors")
    for name, value in model.named_parameters():
        assert torch.equal(latest[f"average.module.{name}"], value.detach().cpu())


def test_the_program_draws_layers_from_the_prior_and_knows_temperatures(trained: Path, tmp_path: Path, capsys):
    words = {
        "plain": ["reconstruct"], "top": ["reconstruct", "--drawn", "3", "2"], "low": ["reconstruct", "--drawn", "1"],
        "warm": ["sample"], "cold": ["sample", "--temperature", "0"],
    }  # fmt: skip
    pictures = {}
    for name, (verb, *more) in words.items():
        out = tmp_path / f"{name}.png"
        assert main([verb, str(trained), "--n", "8", "--out", str(out), *more]) == 0
        pictures[name] = out.read_bytes()
    assert len(set(pictures.values())) == 5
    capsys.readouterr()
    for wrong in (["reconstruct", "--drawn", "4"], ["sample", "--temperature", "-1"]):
        assert main([wrong[0], str(trained), *wrong[1:]]) == 2
        assert wrong[1] in capsys.readouterr().err


def test_the_first_batch_initialises_once_and_a_resumed_run_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[bool] = []
    initialise = HVAE.initialise

    def watched(self, x):
        calls.append(bool(self.initialised))
        initialise(self, x)

    monkeypatch.setattr(HVAE, "initialise", watched)
    with pytest.raises(KeyboardInterrupt):
        run(hierarchy(), tmp_path, Watcher(stop_after=5))
    assert calls == [False]
    run(hierarchy(), tmp_path, Watcher())
    assert calls == [False]


def test_an_update_is_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sigmavae.training.outliers.FEWEST", 2)
    experiment = hierarchy(steps=9, log_every=9, outliers=1.0001)
    finish(experiment, tmp_path / "strict")
    left_out = [line["left_out"] for line in curve(tmp_path / "strict") if line["split"] == "train"][-1]
    assert 0 < left_out < 9
    lenient = dataclasses.replace(experiment, train=dataclasses.replace(experiment.train, outliers=1e9))
    finish(lenient, tmp_path / "lenient")
    steps = [
        int(load_file(folder / "checkpoints/step-00000009/tensors.safetensors")["optimizer.0.step"])
        for folder in (tmp_path / "strict", tmp_path / "lenient")
    ]
    assert steps == [9 - left_out, 9]


def test_a_resumed_run_leaves_out_what_it_would_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sigmavae.training.outliers.FEWEST", 2)
    experiment = hierarchy(outliers=1.0001)
    finish(experiment, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(experiment, tmp_path / "stopped", Watcher(stop_after=9))
    finish(experiment, tmp_path / "stopped")
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "stopped"))
    assert all(torch.equal(value, other[name]) for name, value in one.items())
    assert [line.get("left_out") for line in curve(tmp_path / "whole")] == [
        line.get("left_out") for line in curve(tmp_path / "stopped")
    ]


def test_two_processes_train_as_one(tmp_path: Path):
    words = ["--model.width", "4", "--train.steps", "6", "--train.batch", "32", "--train.log-every", "1"]
    words += ["--model.dropout", "0", "--train.ema", "0.5", "--data.name", "fashion", "--data.size", "16"]
    words += ["--precision", "32", "--model.latents", "2", "2", "--model.halvings", "1", "2"]
    for devices in ("1", "2"):
        command = [sys.executable, "-m", "sigmavae", "train", "cifar-hvae-tiny-optimal", *words]
        command += ["--devices", devices, "--out", str(tmp_path / devices)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one, two = (curve(tmp_path / devices) for devices in ("1", "2"))
    assert [line["step"] for line in one] == [line["step"] for line in two]
    for a, b in zip(one, two, strict=True):
        # The same data and the same first weights to rounding, but other latent noise.
        assert b["nll"] == pytest.approx(a["nll"], rel=0.05, abs=5.0)
        assert b["sigma"] == pytest.approx(a["sigma"], rel=0.05)
