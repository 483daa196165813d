"""One training step of the paper's hierarchical VAE: seconds and memory, each way in fresh processes by turns.

    python benchmarks/hierarchy_step.py

At the recipe's width and depth, optimal-sigma, a small batch. Also the convolution with the largest kernel alone,
directly and through Fourier space, at small and full batch. Writes docs/results/hierarchy-step.json.
"""

import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import tyro

import sigmavae
from sigmavae.files import write_json
from sigmavae.memory import keep_freed_memory
from sigmavae.models import map_conv
from sigmavae.recipes import recipe
from sigmavae.training.optimizer import make_optimizer

CONTENDERS = {
    "bfloat16, through Fourier space": ("bf16",),
    "float32, through Fourier space": (),
    "float32, direct": ("direct",),
    "float32, through Fourier space, checkpointed": ("checkpoint",),
}


def main(rounds: int = 2, batch: int = 4, out: Path = Path("docs/results/hierarchy-step.json")) -> None:
    steps: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for name, words in CONTENDERS.items():
            command = [sys.executable, __file__, "--one", str(batch), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            steps.setdefault(name, []).append(json.loads(done.stdout))
            print(name, steps[name][-1], flush=True)
    result = {
        "batch": batch,
        "steps": {name: _middle(found) for name, found in steps.items()},
        "maps": {str(size): {name: one_map(way, size) for name, way in WAYS.items()} for size in (4, 48)},
        "command": "python benchmarks/hierarchy_step.py",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out}")


def one(batch: int, words: list[str], repeats: int = 5) -> None:
    """Print the seconds of a step and the most memory, of this process alone."""
    keep_freed_memory()
    if "direct" in words:
        map_conv.LARGEST_DIRECT = 10**6
    experiment = recipe("cifar-hvae-optimal")
    torch.manual_seed(0)
    model = experiment.model.build((3, 32, 32), experiment.likelihood.build()).to(memory_format=torch.channels_last)
    model.checkpoint = "checkpoint" in words
    x = torch.rand(batch, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    model.initialise(x)
    optimizer = make_optimizer(model.parameters(), experiment.train)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in words):
            loss = model(x).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step()
    seconds = statistics.median(_timed(step) for _ in range(repeats))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(json.dumps({"seconds": seconds, "mib": peak}))


WAYS = {"direct": map_conv.directly, "through Fourier space": map_conv.through_fourier}


def one_map(convolve: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], batch: int, repeats: int = 7) -> float:
    """Return the seconds, there and back, of the convolution that makes the lowest layer's parameters."""
    torch.manual_seed(0)
    x = torch.randn(batch, 96, 16, 16, requires_grad=True)
    weight = torch.randn(76, 96, 16, 16, requires_grad=True)
    upstream = torch.randn(batch, 76, 16, 16)
    return statistics.median(_timed(lambda: convolve(x, weight).backward(upstream)) for _ in range(repeats))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _middle(found: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(each[key] for each in found) for key in found[0]}


if __name__ == "__main__":
    if "--one" in sys.argv:
        one(int(sys.argv[2]), sys.argv[3:])
    else:
        tyro.cli(main)
