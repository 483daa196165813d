"""Run the demonstration for several seeds and write what each decoder reached.

    python benchmarks/demo_seeds.py --seeds 0 1 2

writes docs/results/demo.json.
"""

import json
from pathlib import Path

import tyro
from rich.console import Console

from sigmavae.demo import run_demo
from sigmavae.progress import Bars
from sigmavae.verbs.common import print_results

KEPT = ("name", "metrics", "steps", "seconds", "command", "versions", "device")


def main(seeds: tuple[int, ...] = (0, 1, 2), out: Path = Path("runs/demo")) -> None:
    rows = []
    with Bars(Console(stderr=True)) as bars:
        for seed in seeds:
            results, _ = run_demo(out / f"seed{seed}", seed, bars)
            print_results(results)
            rows += [{"seed": seed} | {key: result[key] for key in KEPT} for result in results]
    path = Path("docs/results/demo.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    tyro.cli(main)
