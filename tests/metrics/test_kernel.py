"""The kernel distance against its definition, against closed forms, and against its own scatter."""

import itertools

import numpy as np
import pytest
import torch

from sigmavae.metrics import kernel
from sigmavae.metrics.kernel import kernel_distance
from tests.metrics.models import Heard


def normal(count: int, width: int = 3, seed: int = 0, shift: float = 0.0) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)) + shift


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    def k(a: np.ndarray, b: np.ndarray) -> float:
        return (float(a @ b) / len(a) + 1) ** 3

    def within(z: np.ndarray) -> float:
        return float(np.mean([k(z[i], z[j]) for i, j in itertools.permutations(range(len(z)), 2)]))

    return within(x) + within(y) - 2 * float(np.mean([k(a, b) for a in x for b in y]))


@pytest.mark.parametrize("rows", [4, 1000])
def test_it_is_the_definition_however_it_is_cut(rows: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel, "ROWS", rows)
    x, y = normal(11, seed=1), normal(7, seed=2, shift=0.5)
    want = by_definition(x.double().numpy(), y.double().numpy())
    assert kernel_distance(x, y)[0] == pytest.approx(want, rel=1e-12)


def test_its_error_is_the_jackknife_over_both_sets():
    x, y = normal(9, seed=1), normal(6, seed=2, shift=0.5)

    def without(values: torch.Tensor, i: int) -> torch.Tensor:
        return torch.cat([values[:i], values[i + 1 :]])

    over_x = np.array([kernel_distance(without(x, i), y)[0] for i in range(9)])
    over_y = np.array([kernel_distance(x, without(y, i))[0] for i in range(6)])
    want = np.sqrt(8 / 9 * ((over_x - over_x.mean()) ** 2).sum() + 5 / 6 * ((over_y - over_y.mean()) ** 2).sum())
    assert kernel_distance(x, y)[1] == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(("first", "second"), [((-1.0, 2.0), (-1.0, 2.0)), ((-1.0, 2.0), (0.5, 1.0))])
def test_it_is_exactly_unbiased(first: tuple[float, float], second: tuple[float, float]):
    # Of all 8 x 8 pairs of sets of three, each as likely as another. In one dimension the kernel is
    # 1 + 3 ab + 3 (ab)^2 + (ab)^3, so the truth is a sum over differences of the first three moments.
    sets = [[torch.tensor(c)[:, None] for c in itertools.product(two, repeat=3)] for two in (first, second)]
    mean = np.mean([kernel_distance(x, y)[0] for x in sets[0] for y in sets[1]])
    gaps = [np.mean(np.power(first, i)) - np.mean(np.power(second, i)) for i in (1, 2, 3)]
    assert mean == pytest.approx(3 * gaps[0] ** 2 + 3 * gaps[1] ** 2 + gaps[2] ** 2, rel=1e-6, abs=1e-6)


def test_two_points():
    # k(a, a) + k(b, b) - 2 k(a, b), and no scatter at all
    a, b = torch.full((5, 4), 1.0), torch.full((8, 4), 2.0)
    assert kernel_distance(a, b) == (pytest.approx(8 + 125 - 2 * 27), pytest.approx(0, abs=1e-9))


def test_normal_distributions_by_their_moments():
    mu = 0.7
    want = 3 * mu**2 + 3 * mu**4 + (mu**3 + 3 * mu) ** 2  # moments 0, 1, 0 and mu, 1 + mu^2, mu^3 + 3 mu
    value, stderr = kernel_distance(normal(4000, 1, seed=3), normal(4000, 1, seed=4, shift=mu))
    assert abs(value - want) < 4 * stderr < want


@pytest.mark.parametrize(("shift", "low", "high"), [(1.0, 0.85, 1.25), (0.0, 1.0, 1.8)])
def test_the_error_bar_is_the_scatter_of_repetitions(shift: float, low: float, high: float):
    # never too small; for equal distributions up to sqrt 2 too large
    made = [kernel_distance(normal(40, seed=i), normal(50, seed=1000 + i, shift=shift)) for i in range(400)]
    values, errors = np.array(made).T
    assert low < np.sqrt(np.mean(errors**2)) / values.std(ddof=1) < high


def test_too_few():
    with pytest.raises(ValueError, match="3 features or more in each set, not 2 and 5"):
        kernel_distance(normal(2), normal(5))


def test_it_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel, "ROWS", 4)
    heard = Heard()
    kernel_distance(normal(11, seed=1), normal(7, seed=2), heard)
    assert heard.said == list(range(1, 3 * 3 + 2 * 2 + 3 * 2 + 1))
