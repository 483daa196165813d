"""sigmavae evaluate RUN"""

from __future__ import annotations

from collections.abc import Sequence

from sigmavae.files import write_json
from sigmavae.metrics import bound
from sigmavae.run import load_run
from sigmavae.verbs.common import RunFolder, Split, parse


def main(words: Sequence[str]) -> None:
    """Parse and evaluate."""
    parse("evaluate", evaluate, words, "sigmavae evaluate runs/mine --split validation")


def evaluate(run: RunFolder, split: Split = "test") -> None:
    """Measure a finished run on a split of its data, and write RUN/evaluation-SPLIT.json."""
    experiment, model, splits = load_run(run)
    images = splits.split(split)
    metrics = dict(bound(model, images, experiment.seed))
    path = run / f"evaluation-{split}.json"
    write_json(path, {"name": experiment.name, "split": split, "images": len(images), "metrics": metrics})
    for name, value in metrics.items():
        print(f"{name:14} {value:12.6g}")
    print(f"wrote {path}")
