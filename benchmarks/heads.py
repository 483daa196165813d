"""Time and memory of every likelihood, forward and backward, each in a fresh process.

    python benchmarks/heads.py

First from features that are given, at three shapes; then with a last 1x1 layer of 32 inputs in front of those with many
features: computed as a whole by autograd, and by `sigmavae.FusedHead`. --only SIDE measures one shape and keeps what
docs/results/heads.json has of the others. Memory is the process's peak above what it held with its inputs made.
"""

import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sigmavae.memory import keep_freed_memory

keep_freed_memory()  # before torch

import torch  # noqa: E402
import tyro  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import sigmavae  # noqa: E402
from sigmavae.files import write_json  # noqa: E402
from sigmavae.likelihoods import CATALOGUE, Conditional  # noqa: E402

SHAPES = {28: (128, 3, 28, 28), 64: (32, 3, 64, 64), 256: (1, 3, 256, 256), 1024: (1, 3, 1024, 1024)}
WIDTH = 32
SECONDS = 1.0  # of steps that are timed, three or more


def main(only: int | None = None, out: Path = Path("docs/results/heads.json")) -> None:
    rows = [] if only is None or not out.exists() else json.loads(out.read_text())["rows"]
    for side in SHAPES if only is None else [only]:
        rows = [row for row in rows if row["side"] != side]
        for name, form in _wanted(side):
            done = subprocess.run([sys.executable, __file__, name, str(side), form], capture_output=True, text=True)
            row = {"name": name, "side": side, "form": form, "shape": SHAPES[side]}
            rows.append(row | (json.loads(done.stdout) if done.returncode == 0 else {"failed": done.returncode}))
            _write(out, rows)
            print(rows[-1], flush=True)


def _write(out: Path, rows: list[dict[str, Any]]) -> None:
    result = {
        "rows": sorted(rows, key=lambda row: (row["form"], row["side"])),
        "width": WIDTH,
        "command": "python benchmarks/heads.py",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)


def _wanted(side: int) -> list[tuple[str, str]]:
    """Return which likelihoods are measured at a shape, and how: the categorical as a whole is not tried at 1024."""
    given = [] if side == 256 else [(name, "given") for name in CATALOGUE]
    many = ["categorical", "logistic-mixture"]
    fused = [(name, "fused") for name in many]
    return fused + [(name, "whole") for name in many if (name, side) != ("categorical", 1024)] + given


def measure(name: str, side: int, form: str) -> dict[str, Any]:
    batch, channels, *space = SHAPES[side]
    torch.manual_seed(0)
    likelihood = sigmavae.likelihood(name)
    head = sigmavae.FusedHead(likelihood, WIDTH, channels)
    width = likelihood.features(channels) if form == "given" else WIDTH
    step(form, likelihood, head, torch.randn(1, width, 2, 2, requires_grad=True), torch.rand(1, channels, 2, 2))
    features = torch.randn(batch, width, *space, requires_grad=True)
    x = torch.rand(batch, channels, *space).mul_(255).round_().div_(255)
    before = _peak()
    seconds: list[float] = []
    while len(seconds) < 3 or sum(seconds) < SECONDS:
        features.grad = None
        head.zero_grad()
        began = time.perf_counter()
        step(form, likelihood, head, features, x)
        seconds.append(time.perf_counter() - began)
        if len(seconds) == 1:
            peak = _peak() - before
    return {
        "milliseconds": statistics.median(seconds) * 1000,
        "peak_mib": peak,
        "features_mib": features.nbytes / 2**20,
        "steps": len(seconds),
    }


def step(
    form: str, likelihood: sigmavae.Likelihood, head: sigmavae.FusedHead, features: torch.Tensor, x: torch.Tensor
) -> None:
    if form == "given":
        score = likelihood(features, x).log_prob(x)
    elif form == "fused":
        score = head(features, x).log_prob(x)
    else:
        h = F.conv2d(features, head.weight[:, :, None, None], head.bias)
        score = Conditional.log_prob(likelihood(h, x), x)  # autograd keeps what it needs of the whole
    score.sum().backward()


def _peak() -> float:
    """Return the most memory this process has held, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in CATALOGUE:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
    else:
        tyro.cli(main)
