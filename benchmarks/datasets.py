"""Train the small VAE with the optimal sigma for one epoch on every data set at hand.

    python benchmarks/datasets.py --folder ../shared/data --cifar /tmp/cifar10

Checks, prepares and trains on each; writes docs/results/datasets.json. Sets that are not there are left out and said.
"""

import dataclasses
import time
from pathlib import Path

import tyro
from rich.console import Console

from sigmavae.data import load
from sigmavae.data.check import check
from sigmavae.files import write_json
from sigmavae.progress import Bars
from sigmavae.recipes import recipe
from sigmavae.run import run
from sigmavae.verbs.common import print_results

SETS = {
    "mnist": "mnist",
    "fashion-mnist": "fashion-mnist",
    "svhn": "svhn",
    "frey": "freyface",
    "celeba": "celeba",
    "bair": "bair/savp_groundtruth_8seq_gifquantised.npz",
}
KEPT = ("name", "metrics", "data", "steps", "seconds", "parameters", "versions", "device")


def main(folder: Path, cifar: Path | None = None, out: Path = Path("runs/datasets")) -> None:
    paths = {name: folder / inner for name, inner in SETS.items()} | ({"cifar": cifar} if cifar else {})
    rows = []
    with Bars(Console(stderr=True)) as bars:
        for name, path in paths.items():
            if not path.exists():
                bars.say(f"{name}: left out, there is no {path}")
                continue
            made = recipe(f"{name}-optimal")
            data = dataclasses.replace(made.data, path=path)
            findings = check(path, name, made.data.size, bars)
            began = time.monotonic()
            load(data, bars)
            prepared = time.monotonic() - began
            began = time.monotonic()
            load(data, bars)
            again = time.monotonic() - began
            experiment = dataclasses.replace(made, data=data, train=dataclasses.replace(made.train, epochs=1))
            result = run(experiment, out / name, bars, "python benchmarks/datasets.py")
            row = {key: result[key] for key in KEPT}
            rows.append(row | {"check": findings.seconds, "prepare": prepared, "again": again, "bad": findings.bad})
            print_results([result])
    write_json(Path("docs/results/datasets.json"), {"rows": rows, "command": "python benchmarks/datasets.py"})


if __name__ == "__main__":
    tyro.cli(main)
