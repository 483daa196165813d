"""Runs beside each other as they ended, and as far as each came in the same time: hierarchies and small VAEs.

    python benchmarks/hierarchy.py RUN RUN ... [--out docs/results/hierarchy.json]

Reads finished run folders. `at_equal_time` is the validation nll of each when the fastest of them was done.
"""

import json
from pathlib import Path
from typing import Any

import tyro

from sigmavae.files import read_json, write_json
from sigmavae.training.journal import Journal

KEPT = ("nll", "nll_stderr", "nll_discrete", "bits_per_dim", "bits_per_dim_stderr", "rate", "sigma", "rmse", "fid")
MODEL = ("kind", "width", "blocks", "latent", "latents", "skips", "log_variance")


def main(runs: tyro.conf.Positional[tuple[Path, ...]], out: Path = Path("docs/results/hierarchy.json")) -> None:
    rows = [_row(folder) for folder in runs]
    shared = min(row["seconds"] for row in rows)
    for folder, row in zip(runs, rows, strict=True):
        row["at_equal_time"] = _at(folder, shared)
        print(json.dumps({key: row[key] for key in ("name", "parameters", "steps", "seconds", "at_equal_time")}))
        print("   ", json.dumps(row["metrics"]))
    write_json(out, {"rows": rows, "seconds_shared": shared, "command": "python benchmarks/hierarchy.py RUN ..."})
    print(f"wrote {out}")


def _row(folder: Path) -> dict[str, Any]:
    result = read_json(folder / "result.json")
    metrics = {key: result["metrics"][key] for key in KEPT if key in result["metrics"]}
    about = ("name", "parameters", "steps", "seconds", "device", "versions", "command")
    model = result["experiment"]["model"]
    options = {key: model[key] for key in MODEL if key in model}
    left_out = [line["left_out"] for line in Journal.read(folder) if "left_out" in line]
    row = {key: result[key] for key in about}
    return row | {"model": options, "left_out": max(left_out, default=0), "metrics": metrics}


def _at(folder: Path, seconds: float) -> float | None:
    """Return the last nll on validation images that was found by then."""
    lines = [line for line in Journal.read(folder) if line["split"] == "validation"]
    found = [line["nll"] for line in lines if line["seconds"] <= seconds]
    return found[-1] if found else None


if __name__ == "__main__":
    tyro.cli(main)
