"""The demonstration: three decoders on the same network, data and seed, and a page that shows what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sigmavae.config import LikelihoodConfig
from sigmavae.progress import Progress
from sigmavae.recipes import demo as demo_recipe
from sigmavae.report import write_page
from sigmavae.run import run

CONTENDERS = (
    LikelihoodConfig("gaussian"),
    LikelihoodConfig("beta", beta=0.1),
    LikelihoodConfig("optimal-sigma"),
)
"""What most code does; a beta picked by hand, from the paper's Table 1; and the analytic sigma."""


def run_demo(out: Path, seed: int, progress: Progress) -> tuple[list[dict[str, Any]], Path]:
    """Train the three, write the page, and return the three results and the page's path."""
    folders, results = [], []
    for contender in CONTENDERS:
        experiment = demo_recipe(contender, seed)
        folders.append(out / experiment.name)
        results.append(run(experiment, folders[-1], progress, f"sigmavae demo --seed {seed}"))
    page = write_page(folders, out / "index.html", title="Let the decoder say how wrong it is", demo=True)
    return results, page
