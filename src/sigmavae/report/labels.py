"""Which name and which colour each run has on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sigmavae.report.runs import Run

CALIBRATED = "optimal-sigma"
"""The likelihood that wears the page's one accent colour."""

PLAIN = {"gaussian": "MSE loss", "beta": "beta by hand", CALIBRATED: "optimal sigma"}
"""Names for readers who have not met the likelihoods yet; only the demonstration uses them."""

HUES, DASHES = 6, 4  # as many as the style sheet has


def labels(runs: Sequence[Run], *, plain: bool) -> list[str]:
    """One label a run, no two alike: the name, then with its seed, its folder and at last its number."""
    names = [PLAIN.get(run.likelihood, run.name) if plain else run.name for run in runs]
    names = _told_apart(names, [f"seed {run.seed}" for run in runs])
    names = _told_apart(names, [run.folder.name for run in runs])
    return _told_apart(names, [str(number) for number in range(1, len(runs) + 1)])


def _told_apart(names: Sequence[str], additions: Sequence[str]) -> list[str]:
    count = Counter(names)
    # Where the addition is the same for all namesakes it would only make them longer.
    extended = {(name, addition) for name, addition in zip(names, additions, strict=True)}
    kinds = Counter(name for name, _ in extended)
    return [
        f"{name}, {addition}" if count[name] > 1 and kinds[name] > 1 else name
        for name, addition in zip(names, additions, strict=True)
    ]


def styles(runs: Sequence[Run]) -> list[str]:
    """The CSS classes of each run's curve: a colour for its likelihood, a dash to tell runs of one colour apart."""
    others = list(dict.fromkeys(run.likelihood for run in runs if run.likelihood != CALIBRATED))
    hues = {likelihood: f"hue-{number % HUES}" for number, likelihood in enumerate(others)}
    seen: Counter[str] = Counter()
    classes = []
    for run in runs:
        colour = hues.get(run.likelihood, "accent")
        classes.append(f"{colour} dash-{seen[colour] % DASHES}")
        seen[colour] += 1
    return classes
