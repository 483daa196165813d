"""Updates that are left out: only those far beyond the usual, and never all."""

import math

import pytest

from sigmavae.training.outliers import FEWEST, MOST_IN_A_ROW, WINDOW, Outliers


def usual(outliers: Outliers, steps: int = FEWEST) -> Outliers:
    for step in range(steps):
        assert not outliers.is_one(1.0 + 0.1 * (step % 3))
    return outliers


def test_only_what_is_far_beyond_the_median_is_left_out():
    outliers = usual(Outliers(10.0))
    assert not outliers.is_one(9.0)
    assert outliers.is_one(12.0)
    assert outliers.is_one(math.nan)
    assert outliers.is_one(math.inf)
    assert not outliers.is_one(1.0)
    assert outliers.left_out == 3


def test_nothing_is_judged_before_enough_is_known_or_without_a_factor():
    early = Outliers(2.0)
    assert not any(early.is_one(10.0**step) for step in range(FEWEST))
    off = usual(Outliers(None))
    assert not off.is_one(1e9)
    assert off.left_out == 0


def test_training_goes_on_whatever_comes():
    outliers = usual(Outliers(10.0), WINDOW)
    fates = [outliers.is_one(1e6) for _ in range(2 * WINDOW)]
    longest = max(len(run) for run in "".join("x" if left else " " for left in fates).split())
    assert longest == MOST_IN_A_ROW
    assert not any(fates[WINDOW // 2 + 1 :]), "what lasts is soon usual"
    always_nan = usual(Outliers(10.0))
    assert not all(always_nan.is_one(math.nan) for _ in range(MOST_IN_A_ROW + 1))


@pytest.mark.parametrize("steps", [0, 5, WINDOW + 7])
def test_saved_and_loaded_it_judges_the_same(steps: int):
    one, other = usual(Outliers(3.0), steps), Outliers(3.0)
    one.is_one(math.nan)
    other.state = one.state
    later = [5.0, 1.0, math.nan, 2.0, 30.0, 0.1] * 20
    assert [one.is_one(norm) for norm in later] == [other.is_one(norm) for norm in later]
    assert one.left_out == other.left_out
