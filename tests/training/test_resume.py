"""Stopped anywhere and started again, a run ends with the weights of one that was never stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sigmavae.config import LikelihoodConfig
from sigmavae.run import run
from tests.training.runs import Watcher, finish, hierarchy, tiny

VARIANTS = {
    "ema": tiny(ema=0.9),
    "clip": tiny(clip=1.0),
    "validation": tiny(LikelihoodConfig("optimal-sigma", source="validation")),
    "image-sigma": tiny(LikelihoodConfig("image-sigma")),
    "shared-sigma": tiny(LikelihoodConfig("shared-sigma")),
    "hierarchy": hierarchy(steps=12),
}


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def curve(folder: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    timings = ("seconds", "images_per_second")
    return [{key: value for key, value in line.items() if key not in timings} for line in lines]


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 8, 11, 12])
def test_stopped_after_any_step(stop: int, whole: Path, tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        run(tiny(), tmp_path, Watcher(stop_after=stop))
    watcher = Watcher()
    run(tiny(), tmp_path, watcher)
    assert watcher.begun[0] == ("tiny", 12, stop // 4 * 4)
    assert weights(tmp_path) == weights(whole)
    assert curve(tmp_path) == curve(whole)


@pytest.mark.parametrize("name", VARIANTS)
def test_with_every_kind_of_state(name: str, tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    finish(VARIANTS[name], one)
    with pytest.raises(KeyboardInterrupt):
        run(VARIANTS[name], other, Watcher(stop_after=7))
    finish(VARIANTS[name], other)
    assert weights(one) == weights(other)


def test_killed_by_sigkill_again_and_again(tmp_path: Path):
    words = ["train", "fashion-optimal", "--model.width", "4", "--train.steps", "60", "--train.batch", "64"]
    words += ["--train.checkpoint-every", "3", "--train.log-every", "3"]
    command = [sys.executable, "-m", "sigmavae", *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = 0
    for after in (1, 12, 30):
        with subprocess.Popen(
            [*command, "--out", tmp_path / "killed"],
            env=environment,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            killed += _kill_after_checkpoint(process, tmp_path / "killed", after)
    assert killed == 3
    for folder in ("killed", "whole"):
        subprocess.run([*command, "--out", tmp_path / folder], env=environment, check=True, capture_output=True)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")


def _kill_after_checkpoint(process: "subprocess.Popen[bytes]", folder: Path, step: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        steps = [int(path.name.removeprefix("step-")) for path in (folder / "checkpoints").glob("step-*")]
        if steps and max(steps) >= step:
            time.sleep(0.013 * step % 0.05)  # somewhere between two checkpoints, or inside one
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.005)
    return False
