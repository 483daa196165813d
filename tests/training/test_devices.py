"""Two processes train the model that one would: the same data, and one sigma for the whole batch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "sigmavae", "train", "fashion-optimal"]
WORDS = ["--model.width", "4", "--train.steps", "8", "--train.batch", "64", "--train.log-every", "1"]


def train(folder: Path, *words: str) -> list[dict[str, float]]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*COMMAND, *WORDS, "--out", str(folder), *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_two_processes_train_as_one(tmp_path: Path):
    one, two = train(tmp_path / "one"), train(tmp_path / "two", "--devices", "2")
    assert [line["step"] for line in one] == [line["step"] for line in two]
    for a, b in zip(one, two, strict=True):
        # The data are the same and the latent noise is not, so the curves run close together, not on each other.
        assert b["nll"] == pytest.approx(a["nll"], rel=0.01)
        assert b["sigma"] == pytest.approx(a["sigma"], rel=0.01)
    assert (tmp_path / "two" / "result.json").exists()


def test_two_processes_resume(tmp_path: Path):
    whole, again = tmp_path / "whole", tmp_path / "again"
    train(whole, "--devices", "2", "--train.checkpoint-every", "4")
    train(again, "--devices", "2", "--train.checkpoint-every", "4", "--train.steps", "8")
    assert (whole / "model.safetensors").read_bytes() == (again / "model.safetensors").read_bytes()
