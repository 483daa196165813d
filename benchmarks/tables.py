"""Write the measured tables of the documentation from docs/results/*.json.

    python benchmarks/tables.py

A table stands between <!-- table NAME --> and <!-- end -->, so that no number in it is typed by hand.
"""

import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("README.md", "docs/likelihoods.md", "docs/data.md")
DENSITIES = ("gaussian", "beta", "shared", "optimal", "image", "block", "pixel", "student-t")


def likelihoods() -> str:
    rows = _read("likelihoods-10")
    lines = ["| recipe | nll, nats | kind | bits/dim | rate, nats | sigma |", "|---|---:|---|---:|---:|---:|"]
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row["metrics"] for row in rows if row["name"] == name]
        kind = "density" if name.removeprefix("fashion-") in DENSITIES else "mass"
        columns = (("nll", 1), ("bits_per_dim", 3), ("rate", 1), ("sigma", 3))
        nll, bits, rate, sigma = (_interval([m[key] for m in mine if key in m], digits) for key, digits in columns)
        lines.append(f"| `{name}` | {nll} | {kind} | {bits} | {rate} | {sigma} |")
    return "\n".join([*lines, "", f"{_seeds(rows)} {_source(rows, 'python benchmarks/likelihoods.py')}"])


def demo() -> str:
    rows = _read("demo")
    lines = ["| decoder | nll, nats an image | bits/dim of 8-bit data | rate, nats | sigma | error (rmse) |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    plain = {"gaussian": "`gaussian` (mean squared error)", "beta": "`beta`, 0.1 by hand", "optimal": "`optimal-sigma`"}
    for name, title in plain.items():
        mine = [row["metrics"] for row in rows if row["name"] == name]
        cells = [
            _interval([m[key] for m in mine], digits)
            for key, digits in (("nll", 1), ("bits_per_dim", 3), ("rate", 1), ("sigma", 3), ("rmse", 3))
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    note = f"Fashion-MNIST (9,000 images to train on, 2,000 to test), {rows[0]['steps']} steps; lower is better."
    return "\n".join([*lines, "", f"{note} {_seeds(rows)} {_source(rows, 'python benchmarks/demo_seeds.py')}"])


def pipeline() -> str:
    found = _read("data")
    lines = ["| batches of 128, 3 x 32 x 32 | images a second | times the training step's need |", "|---|---:|---:|"]
    times = found["times the training step's need"]
    lines += [f"| {name} | {rate:,.0f} | {times[name]:.1f} |" for name, rate in found["images a second"].items()]
    note = (
        f"{found['images']:,} images: prepared in {found['seconds to prepare']:.1f} s, found again in "
        f"{found['seconds to find again'] * 1000:.0f} ms. Medians; `{found['command']}`; {found['machine']}, "
        f"torch {found['versions']['torch']}."
    )
    return "\n".join([*lines, "", note])


def datasets() -> str:
    found = _read("datasets")
    lines = [
        "| set | train / validation / test | shape | check, s | prepare, s | again, s | epoch, s | nll | bits/dim |"
    ]
    lines += ["|---|---|---|---:|---:|---:|---:|---:|---:|"]
    for row in found["rows"]:
        data, metrics = row["data"], row["metrics"]
        counts = " / ".join(f"{data[split]:,}" for split in ("train", "validation", "test"))
        shape = " x ".join(map(str, data["shape"]))
        seconds = " | ".join(f"{row[key]:.{digits}f}" for key, digits in (("check", 1), ("prepare", 1), ("again", 3)))
        name = row["name"].removesuffix("-optimal")
        lines.append(
            f"| `{name}` | {counts} | {shape} | {seconds} | {row['seconds']:.0f} | {metrics['nll']:.0f} | "
            f"{metrics['bits_per_dim']:.2f} |"
        )
    return "\n".join([*lines, "", f"One seed. {_source(found['rows'], found['command'])}"])


TABLES = {"likelihoods": likelihoods, "demo": demo, "pipeline": pipeline, "datasets": datasets}


def rewritten(text: str) -> str:
    """Return a document with every table in it written anew."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- table {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- table (\w+) -->.*?<!-- end -->", table, text, flags=re.DOTALL)


def _seeds(rows: list[dict[str, Any]]) -> str:
    seeds = sorted({row["seed"] for row in rows})
    return f"Mean and standard deviation over seeds {', '.join(map(str, seeds))}."


def _interval(values: list[float], digits: int) -> str:
    if not values:
        return ""
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if f"{spread:.{digits}f}" == f"{0:.{digits}f}" else f"{mean} ± {spread:.{digits}f}"


def _read(name: str) -> Any:
    content: Any = json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _source(rows: list[dict[str, Any]], command: str) -> str:
    versions = rows[0]["versions"]
    return (
        f"`{command}`; torch {versions['torch']}, Python {versions['python']}, "
        f"sigmavae {versions['sigmavae']}, {rows[0]['device']}."
    )


if __name__ == "__main__":
    for document in DOCUMENTS:
        path = ROOT / document
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {path}")
