"""Whether faster arithmetic learns the same: curves of bfloat16 and of float32 on the same data, order and noise.

    python benchmarks/curves.py --data.path FOLDER --seeds 0 1 2 3 4 --steps 600

trains the small VAE with the optimal sigma in both; writes docs/results/curves.json: the nll on the test images after
training, and the curves. Equal means: the mean difference is within the spread from seed to seed.
"""

import dataclasses
import json
import platform
import statistics
from pathlib import Path

import torch
import tyro
from rich.console import Console

import sigmavae
from sigmavae.config import DataConfig
from sigmavae.files import write_json
from sigmavae.progress import Bars
from sigmavae.recipes import recipe
from sigmavae.run import run

ARITHMETICS = ("32", "bf16-mixed")


def main(
    data: Path,
    name: str = "svhn",
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4),
    steps: int = 600,
    folder: Path = Path("runs/curves"),
    out: Path = Path("docs/results/curves.json"),
) -> None:
    rows = []
    with Bars(Console(stderr=True)) as bars:
        for seed in seeds:
            for precision in ARITHMETICS:
                made = recipe(f"{name}-optimal")
                experiment = dataclasses.replace(
                    made,
                    seed=seed,
                    precision=precision,
                    data=DataConfig(name=name, path=data, size=made.data.size),
                    train=dataclasses.replace(made.train, steps=steps),
                )
                result = run(experiment, folder / f"{name}-{precision}-seed{seed}", bars)
                rows.append({"seed": seed, "precision": precision, "metrics": result["metrics"]})
                rows[-1]["curve"] = _curve(folder / f"{name}-{precision}-seed{seed}")
                rows[-1]["source"] = result["data"]["source"]
    ends = {p: [row["metrics"]["nll"] for row in rows if row["precision"] == p] for p in ARITHMETICS}
    differences = [b - a for a, b in zip(ends["32"], ends["bf16-mixed"], strict=True)]
    result = {
        "rows": rows,
        "steps": steps,
        "mean_difference": statistics.mean(differences),
        "differences": differences,
        "spread_over_seeds": {p: statistics.stdev(values) for p, values in ends.items()},
        "command": f"python benchmarks/curves.py --data FOLDER --steps {steps}",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(json.dumps({key: value for key, value in result.items() if key != "rows"}, indent=1))


def _curve(folder: Path) -> list[list[float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [[line["step"], line["nll"]] for line in lines if line["split"] == "validation"]


if __name__ == "__main__":
    tyro.cli(main)
