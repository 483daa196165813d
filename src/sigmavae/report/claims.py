"""What the demonstration says it found: every sentence is chosen by comparing what was measured.

No sentence here is true of all numbers unless it only states them. A difference within two standard errors is
called none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sigmavae.report.labels import PLAIN
from sigmavae.report.numerals import fixed, significant
from sigmavae.report.runs import Run

STANDARD_ERRORS = 2


@dataclass(frozen=True)
class Trio:
    """The three finished runs that the demonstration compares."""

    mse: Run
    beta: Run
    ours: Run

    @classmethod
    def among(cls, runs: Sequence[Run]) -> Trio | None:
        """One finished run of each kind, or None if there is not exactly one."""
        found = [[run for run in runs if run.finished and run.likelihood == name] for name in PLAIN]
        if any(len(group) != 1 for group in found):
            return None
        return cls(*(group[0] for group in found))

    @property
    def runs(self) -> tuple[Run, Run, Run]:
        """In the order in which the story tells them."""
        return self.mse, self.beta, self.ours


def opening(runs: Sequence[Run]) -> list[str]:
    """The sentences of the first screen: what was compared, who won, who knows how wrong it is."""
    trio = Trio.among(runs)
    if trio is None:
        return ["Not all three runs have finished, so there is nothing to conclude yet."]
    return [sentence for sentence in (_setting(trio), _winner(trio), _honesty(trio)) if sentence]


def information(trio: Trio) -> str:
    """Whether the MSE loss does squeeze the code, as the theory beside this sentence says it should."""
    squeezed, free = trio.mse.metric("rate"), trio.ours.metric("rate")
    if squeezed is None or free is None:
        return ""
    rates = f"{fixed(squeezed, 1)} nats about an image, the code of the optimal sigma {fixed(free, 1)}"
    if squeezed < free:
        return f"And so it went here: the code of the MSE loss tells {rates}."
    return f"In these runs that did not show: the code of the MSE loss tells {rates}."


def blur(trio: Trio) -> str:
    """Whose reconstructions lie closer to the images."""
    mse, ours = trio.mse.error, trio.ours.error
    if mse is None or ours is None:
        return ""
    pair = f"{significant(mse)} for the MSE loss and {significant(ours)} for the optimal sigma"
    if ours < mse:
        return f"The blur in numbers: a reconstructed pixel is off by {pair}."
    return f"The pictures are no closer for it, though: a reconstructed pixel is off by {pair}."


def hand_tuning(trio: Trio) -> str:
    """How far the beta that was picked is from the one that the data asked for."""
    picked, found = trio.beta.metric("beta"), trio.ours.metric("beta")
    if picked is None or found is None:
        return ""
    sigma = significant(trio.beta.metric("sigma"))
    return (
        f"The beta picked here, {significant(picked)}, is a sigma of {sigma}; "
        f"the optimal sigma ended at {significant(trio.ours.metric('sigma'))}, a beta of {significant(found)}."
    )


def _setting(trio: Trio) -> str:
    parts = [[run.experiment.get(part) for run in trio.runs] for part in ("data", "model", "train", "seed")]
    steps = [run.result and run.result.get("steps") for run in trio.runs]
    if all(values[0] == values[1] == values[2] for values in (*parts, steps)):
        return f"Three VAEs share network, data, seed and {steps[0]} training steps; only the loss differs."
    return "Three VAEs were trained with different losses, and not only these differ: see the settings below."


def _winner(trio: Trio) -> str:
    scores = _known(trio, "nll")
    if scores is None:
        return ""
    best, *rest = sorted(trio.runs, key=lambda run: scores[run.likelihood])
    level = [run for run in rest if _is_level(best, run)]
    if level:
        verdict = f"{_capital(' and '.join(_plain(run) for run in (best, *level)))} describe unseen images equally well"
    elif best is trio.ours:
        verdict = "The optimal sigma, with nothing to tune, describes unseen images best"
    else:
        verdict = f"{_capital(_plain(best))} describes unseen images best, better than the optimal sigma"
    others = " and ".join(f"{fixed(scores[run.likelihood], 0)} for {_plain(run)}" for run in rest)
    cost = f"{fixed(scores[best.likelihood], 0)} nats an image, against {others}; lower is better"
    return f"{verdict}: {cost}.{_second_opinion(trio, best)}"


def _second_opinion(trio: Trio, best: Run) -> str:
    # Densities and 8-bit masses can rank the runs differently, for instance where many pixels are exactly black.
    bits = _known(trio, "bits_per_dim")
    if bits is None:
        return ""
    first = min(trio.runs, key=lambda run: bits[run.likelihood])
    if bits[first.likelihood] == bits[best.likelihood]:
        return ""
    pair = f"{fixed(bits[first.likelihood], 2)} bits a value to {fixed(bits[best.likelihood], 2)}"
    return f" On the 8-bit values, though, {_plain(first)} leads: {pair}."


def _honesty(trio: Trio) -> str:
    said, was = trio.mse.metric("sigma"), trio.mse.error
    ours_said, ours_was = trio.ours.metric("sigma"), trio.ours.error
    if said is None or ours_said is None:
        return ""
    if was is None or ours_was is None:
        pair = f"{significant(said)}; the optimal sigma found {significant(ours_said)}"
        return f"The MSE loss takes for granted a sigma of {pair}."
    return (
        f"On pixels between 0 and 1 the MSE loss expects to be off by {significant(said)} and is off by "
        f"{significant(was)}; the optimal sigma expects {significant(ours_said)} and is off by {significant(ours_was)}."
    )


def _is_level(one: Run, other: Run) -> bool:
    difference = (one.metric("nll") or 0.0) - (other.metric("nll") or 0.0)
    error = math.hypot(one.metric("nll_stderr") or 0.0, other.metric("nll_stderr") or 0.0)
    return abs(difference) <= STANDARD_ERRORS * error


def _known(trio: Trio, metric: str) -> dict[str, float] | None:
    values = {run.likelihood: run.metric(metric) for run in trio.runs}
    known = {name: value for name, value in values.items() if value is not None}
    return known if len(known) == len(values) else None


def _plain(run: Run) -> str:
    return PLAIN[run.likelihood]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
