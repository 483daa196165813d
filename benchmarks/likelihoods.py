"""Train the small VAE with each of the fourteen likelihoods on the embedded images, and write the table.

    python benchmarks/likelihoods.py --epochs 1 --out runs/likelihoods

writes docs/results/likelihoods.json; runs are resumable, as every run is.
"""

import dataclasses
import json
from pathlib import Path

import tyro
from rich.console import Console

from sigmavae.recipes import names, recipe
from sigmavae.run import run
from sigmavae.training.progress import Bars
from sigmavae.verbs.common import print_results

KEPT = ("name", "metrics", "steps", "seconds", "parameters", "command", "versions", "device")


def main(epochs: int = 1, out: Path = Path("runs/likelihoods"), seed: int = 0) -> None:
    results = []
    command = f"python benchmarks/likelihoods.py --epochs {epochs} --seed {seed}"
    with Bars(Console(stderr=True)) as bars:
        for name in names():
            if not name.startswith("fashion-"):
                continue
            named = recipe(name)
            experiment = dataclasses.replace(named, seed=seed, train=dataclasses.replace(named.train, epochs=epochs))
            results.append(run(experiment, out / f"{name}-epochs{epochs}-seed{seed}", bars, command))
    print_results(results)
    path = Path("docs/results/likelihoods.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{key: result[key] for key in KEPT} for result in results], indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    tyro.cli(main)
