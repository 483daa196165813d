"""Train the small VAE with each of the fourteen likelihoods on the embedded images, and write what each reached.

    python benchmarks/likelihoods.py --epochs 10 --seeds 0 1 2

writes docs/results/likelihoods-EPOCHS.json; runs are resumable, as every run is.
"""

import dataclasses
import json
from pathlib import Path

import tyro
from rich.console import Console

from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.progress import Bars
from sigmavae.recipes import recipe
from sigmavae.run import run
from sigmavae.verbs.common import print_results

KEPT = ("name", "metrics", "steps", "seconds", "parameters", "command", "versions", "device")


def main(epochs: int = 10, seeds: tuple[int, ...] = (0, 1, 2), out: Path = Path("runs/likelihoods")) -> None:
    results = []
    command = f"python benchmarks/likelihoods.py --epochs {epochs} --seeds {' '.join(map(str, seeds))}"
    with Bars(Console(stderr=True)) as bars:
        for name in [f"fashion-{short}" for short in SHORT_NAMES.values()]:
            for seed in seeds:
                named = recipe(name)
                experiment = dataclasses.replace(
                    named, seed=seed, train=dataclasses.replace(named.train, epochs=epochs)
                )
                result = run(experiment, out / f"{name}-epochs{epochs}-seed{seed}", bars, command)
                results.append({"seed": seed} | {key: result[key] for key in KEPT})
    print_results(results)
    path = Path(f"docs/results/likelihoods-{epochs}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    tyro.cli(main)
