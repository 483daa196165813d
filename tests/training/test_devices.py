"""Two processes train the model that one would: the same data, and one sigma for the whole batch."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "sigmavae", "train", "fashion-optimal"]
WORDS = ["--model.width", "4", "--train.steps", "24", "--train.batch", "64", "--train.log-every", "1"]
WORDS += ["--train.checkpoint-every", "2", "--train.ema", "0.9"]


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def start(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [*COMMAND, *WORDS, "--out", str(folder), *words]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    # Fabric's remark about each process that it started is none of ours.
    done.stderr = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("Initializing"))
    return done


def curve(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two processes that nothing stopped."""
    folder = tmp_path_factory.mktemp("devices") / "two"
    done = start(folder, "--devices", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("24/24") == 1, "both processes tell of their progress"
    return folder


def test_two_processes_train_as_one(two: Path, tmp_path: Path):
    assert start(tmp_path).returncode == 0
    one, other = curve(tmp_path), curve(two)
    assert [line["step"] for line in one] == [line["step"] for line in other]
    for a, b in zip(one[:8], other[:8], strict=True):
        # The data are the same and the latent noise is not, so the curves run close together, not on each other.
        assert b["nll"] == pytest.approx(a["nll"], rel=0.01)
        assert b["sigma"] == pytest.approx(a["sigma"], rel=0.01)
    assert (two / "result.json").exists()


def test_two_processes_killed_and_started_again_end_as_two_that_were_not(two: Path, tmp_path: Path):
    command = [*COMMAND, *WORDS, "--out", str(tmp_path), "--devices", "2"]
    # A session of their own, so that the signal reaches both.
    with subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        while not list(tmp_path.glob("checkpoints/step-*")) and process.poll() is None:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "result.json").exists()
    newest = max(tmp_path.glob("checkpoints/step-*"))
    (newest / "tensors.safetensors").write_bytes(b"")  # what was written last is damaged, and both processes see it
    done = start(tmp_path, "--devices", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"{newest} is damaged") == 1
    assert (tmp_path / "model.safetensors").read_bytes() == (two / "model.safetensors").read_bytes()
    assert [line["nll"] for line in curve(tmp_path)] == [line["nll"] for line in curve(two)]


def test_two_processes_leave_a_finished_run_alone_and_refuse_another_as_one_would(two: Path):
    before = (two / "metrics.jsonl").read_bytes()
    again = start(two, "--devices", "2")
    assert (again.returncode, again.stderr) == (0, f"{two} is finished: left alone\n")
    other = start(two, "--devices", "2", "--seed", "1")
    assert other.returncode == 2
    assert other.stderr.startswith(f"sigmavae: {two} holds another experiment (seed: 0 -> 1)")
    assert other.stderr.count("\n") == 1
    assert (two / "metrics.jsonl").read_bytes() == before
