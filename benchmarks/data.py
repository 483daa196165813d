"""Measure the input pipeline alone against what a training step needs, and how soon a prepared set is there again.

    python benchmarks/data.py

A set of CIFAR-10's size (50,000 images of 3 x 32 x 32, random) is prepared, found again, and read in batches: from
memory, and from the map of the disk that larger sets are read from. Writes docs/results/data.json.
"""

import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import torch
import tyro

import sigmavae
from sigmavae.config import DataConfig
from sigmavae.data import Batches, load
from sigmavae.data import batches as module
from sigmavae.data.cache import VARIABLE
from sigmavae.files import write_json
from sigmavae.progress import Silent

BATCH = 128


def main(images: int = 50_000, rounds: int = 5, out: Path = Path("docs/results/data.json")) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", {VARIABLE: folder}):
        source = Path(folder) / "random.npy"
        np.save(source, np.random.default_rng(0).integers(0, 256, (images, 32, 32, 3), dtype=np.uint8))
        config = DataConfig(name="arrays", path=source)
        prepare = seconds(lambda: load(config, Silent()))
        found = statistics.median(seconds(lambda: load(config, Silent())) for _ in range(rounds))
        train = load(config, Silent()).train
        rates: dict[str, list[float]] = {"training step": [], "from memory": [], "from the map": []}
        step = training_step(Batches(train, BATCH, 0, torch.device("cpu")))
        for _ in range(rounds):  # contenders take turns, so that a slow minute of the machine meets all of them
            rates["training step"].append(throughput(step, 8))
            rates["from memory"].append(throughput(reader(train, resident=True), 200))
            rates["from the map"].append(throughput(reader(train, resident=False), 200))
    need = statistics.median(rates["training step"])
    result = {
        "images": images,
        "seconds to prepare": prepare,
        "seconds to find again": found,
        "images a second": {name: statistics.median(values) for name, values in rates.items()},
        "spread": {name: [min(values), max(values)] for name, values in rates.items()},
        "times the training step's need": {name: statistics.median(v) / need for name, v in rates.items()},
        "command": "python benchmarks/data.py",
        "machine": f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    for name, value in result["images a second"].items():
        print(f"{name:14} {value:12,.0f} images/s  {value / need:8.1f} x the step's need")
    print(f"prepared in {prepare:.2f} s, found again in {found:.3f} s; wrote {out}")


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def throughput(work: Callable[[int], object], steps: int) -> float:
    """Return images a second over so many steps, the first two not counted."""
    work(0), work(1)
    return steps * BATCH / seconds(lambda: [work(step) for step in range(2, steps + 2)])


def reader(images: np.ndarray, *, resident: bool) -> Callable[[int], object]:
    with mock.patch.object(module, "fits", return_value=resident):
        return Batches(images, BATCH, 0, torch.device("cpu")).__getitem__


def training_step(batches: Batches) -> Callable[[int], object]:
    """Return the paper's small VAE, taking a step on a batch: forward, backward and Adam."""
    torch.manual_seed(0)
    model = sigmavae.ConvVAE((3, 32, 32), sigmavae.likelihood("optimal-sigma"))
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    x = batches[0]

    def step(_: int) -> None:
        optimizer.zero_grad()
        model(x).loss.backward()
        optimizer.step()

    return step


if __name__ == "__main__":
    tyro.cli(main)
