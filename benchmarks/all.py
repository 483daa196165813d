"""Every benchmark that needs no data from elsewhere, one after another.

    python benchmarks/all.py --pythae FOLDER

Results go to build/bench as JSON, their tables to build/bench/tables.md, and the documentation stays as it is. Each
takes two minutes at most, but for the training speed.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tables
import tyro

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Job:
    """A script, its options, and the minutes it takes on two cores."""

    name: str
    minutes: float
    words: tuple[str, ...] = ()


JOBS = (
    Job("cold", 0.5),
    Job("data", 0.5),
    Job("inference", 1),
    Job("heads", 2, ("--only", "28")),
    Job("information", 0.5),
    Job("frechet", 1, ("--images", "200")),
    Job("ablation", 3, ("--rounds", "1")),
    Job("speed", 9),
)
SHOWN = {"data": ("pipeline",), "heads": ("heads", "fused"), "frechet": ()}
"""The tables of a job, where they are not one of its name; that of frechet is of another data set."""


def main(pythae: Path | None = None, only: tuple[str, ...] = (), out: Path = Path("build/bench")) -> None:
    """Run them all, or --only some."""
    jobs = [job for job in JOBS if job.name in (only or [each.name for each in JOBS])]
    out.mkdir(parents=True, exist_ok=True)
    print(f"About {sum(job.minutes for job in jobs):.0f} minutes on two cores that do nothing else.", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        for job in jobs:
            print(f"\n{job.name}, about {job.minutes:g} min", flush=True)
            words = [*job.words, "--out", str(out / f"{job.name}.json")]
            if job.name == "speed" and pythae is not None:
                words += ["--pythae", str(pythae)]
            environment = os.environ | {"SIGMAVAE_CACHE": cache}  # what is kept between times is not measured
            subprocess.run([sys.executable, str(HERE / f"{job.name}.py"), *words], check=True, env=environment)
    (out / "tables.md").write_text("\n".join(written(out)), encoding="utf-8")
    print(f"\n{(time.monotonic() - began) / 60:.1f} minutes; tables in {out / 'tables.md'}")


def written(folder: Path) -> Iterator[str]:
    """Yield a heading and a table for every result in a folder that has one."""
    tables.RESULTS = folder
    for job in JOBS:
        if (folder / f"{job.name}.json").exists():
            yield f"## {job.name}\n"
            yield from (f"{tables.TABLES[name]()}\n" for name in SHOWN.get(job.name, (job.name,)))


if __name__ == "__main__":
    tyro.cli(main)
