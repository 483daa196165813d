"""Whether faster arithmetic learns the same: curves of what is shipped and of plain float32, on the same data.

    python benchmarks/curves.py --data FOLDER --seeds 0 1 2 3 4 --steps 600

trains the small VAE with the optimal sigma in every variant, with the same order and noise; writes
docs/results/curves.json (the nll on the test images after training, and the curves on validation images) and
docs/pictures/curves.png. Equal means: the mean difference is within the spread from seed to seed. A seed that is done
is not done again: remove runs/curves once the code has changed.
"""

import dataclasses
import json
import platform
import statistics
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import plainly
import torch
import tyro
from plot import Curve, draw
from rich.console import Console

import sigmavae
from sigmavae.config import DataConfig, Precision
from sigmavae.files import write_json
from sigmavae.progress import Bars
from sigmavae.recipes import recipe
from sigmavae.run import run

VALIDATE_EVERY = 20


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way to compute the same."""

    precision: Precision
    plain: bool = False
    """Whether every layer is computed as torch does."""


VARIANTS = {
    "float32 plain": Variant("32", plain=True),
    "float32": Variant("32"),
    "shipped": Variant("auto"),
}


def main(
    data: Path | None = None,
    name: str = "svhn",
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4),
    steps: int = 600,
    variants: tuple[str, ...] = ("float32 plain", "shipped"),
    folder: Path = Path("runs/curves"),
    out: Path = Path("docs/results/curves.json"),
    picture: Path = Path("docs/pictures/curves.png"),
    redraw: bool = False,
) -> None:
    """Train so many seeds of the variants, the first being what the others are compared with; or only --redraw."""
    if redraw:
        draw(picture, panels(json.loads(out.read_text(encoding="utf-8"))))
        print(f"wrote {picture}")
        return
    rows: list[dict[str, Any]] = []
    with Bars(Console(stderr=True)) as bars:
        for seed in seeds:
            rows += [_row(name, data, seed, steps, variant, folder, bars) for variant in variants]
            result = summary(rows, variants) | {
                "rows": rows,
                "steps": steps,
                "command": f"python benchmarks/curves.py --data FOLDER --seeds {' '.join(map(str, seeds))} "
                f"--steps {steps}",
                "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
                "versions": {
                    "torch": torch.__version__,
                    "python": platform.python_version(),
                    "sigmavae": sigmavae.__version__,
                },
            }
            write_json(out, result)
    draw(picture, panels(result))
    print(json.dumps({key: value for key, value in result.items() if key != "rows"}, indent=1))
    print(f"wrote {out} and {picture}")


def _row(name: str, data: Path | None, seed: int, steps: int, variant: str, folder: Path, bars: Bars) -> dict[str, Any]:
    """Train one seed of a variant, unless that is done, and return what is kept of it."""
    made, how = recipe(f"{name}-optimal"), VARIANTS[variant]
    experiment = dataclasses.replace(
        made,
        seed=seed,
        precision=how.precision,
        data=DataConfig(name=name, path=data, size=made.data.size),
        train=dataclasses.replace(made.train, steps=steps, validate_every=VALIDATE_EVERY),
    )
    own = folder / f"{name}-{variant.replace(' ', '-')}-steps{steps}-seed{seed}"
    with plainly.all_layers() if how.plain else nullcontext():
        result = run(experiment, own, bars)
    lines = [json.loads(line) for line in (own / "metrics.jsonl").read_text().splitlines()]
    return {
        "seed": seed,
        "variant": variant,
        "precision": result["experiment"]["precision"],
        "metrics": result["metrics"],
        "curve": [[line["step"], line["nll"]] for line in lines if line["split"] == "validation"],
        "source": result["data"]["source"],
    }


def summary(rows: list[dict[str, Any]], variants: tuple[str, ...]) -> dict[str, Any]:
    """Return by how much the last variant differs from the first at the end, and how much seeds differ."""
    ends = {v: [row["metrics"]["nll"] for row in rows if row["variant"] == v] for v in variants}
    differences = [b - a for a, b in zip(ends[variants[0]], ends[variants[-1]], strict=True)]
    return {
        "variants": list(variants),
        "mean_difference": statistics.mean(differences),
        "differences": differences,
        "spread_over_seeds": {v: _spread(values) for v, values in ends.items()},
    }


def panels(found: dict[str, Any]) -> list[tuple[str, list[Curve]]]:
    """Return the curves of every variant, and the differences between the last and the first, seed by seed."""
    by = {(row["variant"], row["seed"]): row["curve"] for row in found["rows"]}
    variants, seeds = found["variants"], sorted({seed for _, seed in by})
    steps = [step for step, _ in by[variants[0], seeds[0]]]
    values = {v: [[nll for _, nll in by[v, seed]] for seed in seeds] for v in variants}
    first, last = variants[0], variants[-1]
    pairs = zip(values[first], values[last], strict=True)
    apart = [[b - a for a, b in zip(one, other, strict=True)] for one, other in pairs]
    title = f"validation nll, nats an image: mean and standard deviation over {len(seeds)} seeds"
    return [
        (title, [_curve(v, steps, values[v]) for v in variants]),
        (f"{last} minus {first}, the same seed in both", [_curve("", steps, apart)]),
    ]


def _curve(name: str, steps: list[int], values: list[list[float]]) -> Curve:
    at = list(zip(*values, strict=True))
    return Curve(name, steps, [statistics.mean(each) for each in at], [_spread(each) for each in at])


def _spread(values: list[float] | tuple[float, ...]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


if __name__ == "__main__":
    tyro.cli(main)
