"""Each likelihood is a distribution: masses over the 256 values sum to one, densities integrate to one."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate

from tests.cases import CASES, CONTINUOUS, DISCRETE, REAL, Case, grid, over

SPREADS = [0.3, 3.0]


def single(case: Case, spread: float, seed: int = 0):
    """A batch of distributions over one number each, so that its log_prob is one element's."""
    likelihood, h, x = case.given(event=(1,), batch=6, spread=spread, seed=seed)
    return likelihood(h, x)


@over(CASES)
@pytest.mark.parametrize("spread", SPREADS)
def test_bin_masses_sum_to_one(case: Case, spread: float):
    p = single(case, spread)
    total = p.bin_log_prob(grid(p)).logsumexp(0)
    torch.testing.assert_close(total, torch.zeros_like(total), atol=1e-9, rtol=0)


@over(CASES)
def test_bin_masses_sum_to_one_in_float32(case: Case):
    likelihood, h, x = case.given(event=(1,), batch=6, dtype=torch.float32)
    p = likelihood(h, x)
    total = p.bin_log_prob(grid(p)).logsumexp(0)
    torch.testing.assert_close(total, torch.zeros_like(total), atol=2e-4, rtol=0)


@over([case for case in DISCRETE if case.name != "bernoulli"])
@pytest.mark.parametrize("spread", SPREADS)
def test_masses_sum_to_one(case: Case, spread: float):
    p = single(case, spread)
    total = p.log_prob(grid(p)).logsumexp(0)
    torch.testing.assert_close(total, torch.zeros_like(total), atol=1e-9, rtol=0)


def test_bernoulli_masses_of_zero_and_one_sum_to_one():
    p = single(Case("bernoulli"), 3.0)
    total = p.log_prob(torch.tensor([0.0, 1.0], dtype=torch.float64).reshape(2, 1, 1).expand(2, 6, 1)).logsumexp(0)
    torch.testing.assert_close(total, torch.zeros_like(total))


@pytest.mark.parametrize("channels", [2, 3])
def test_logistic_mixture_sums_to_one_over_all_colours(channels: int):
    # The channels are dependent given the pixel, so the sum runs over joint values: coarse for three channels.
    likelihood, h, x = Case("logistic-mixture", {"components": 2}).given(event=(channels,), batch=1, spread=0.5)
    p = likelihood(h, x)
    marginals = [torch.exp(_channel_mass(p, c)) for c in range(channels)]
    for marginal in marginals:
        torch.testing.assert_close(marginal.sum(), torch.tensor(1.0, dtype=torch.float64))
    if channels == 2:
        values = torch.arange(256, dtype=torch.float64) / 255
        pairs = torch.cartesian_prod(values, values).unsqueeze(1)
        torch.testing.assert_close(p.log_prob(pairs).logsumexp(0), torch.zeros(1, dtype=torch.float64))


def _channel_mass(p, channel: int):
    values = torch.arange(256, dtype=torch.float64) / 255
    x = values.reshape(256, 1, 1).expand(256, 1, p.event_shape[0])
    upper = p.cdf(x)[:, 0, channel]
    return torch.log((upper - torch.cat([torch.zeros(1, dtype=torch.float64), upper[:-1]])).clamp(min=1e-300))


@over(CONTINUOUS + REAL)
def test_density_integrates_to_one(case: Case):
    p = single(case, 0.7)
    for i in range(p.batch_shape[0]):

        def density(value: float, i: int = i) -> float:
            p.door.passed = True  # the real line goes beyond the data's range
            x = torch.full((6, 1), value, dtype=torch.float64)
            return math.exp(float(p.log_prob(x)[i].detach()))

        centre = float(p.mean[i, 0])
        total = integrate.quad(density, -np.inf, centre)[0] + integrate.quad(density, centre, np.inf)[0]
        assert total == pytest.approx(1, abs=1e-5)


@over(CONTINUOUS)
def test_bins_are_integrals_of_the_density(case: Case):
    p = single(case, 0.7)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    for k in (3, 100, 250):
        inside = torch.tensor((k + nodes / 2) / 255, dtype=torch.float64).reshape(-1, 1, 1).expand(-1, 6, 1)
        area = (p.log_prob(inside).exp() * torch.tensor(weights / 2 / 255).unsqueeze(1)).sum(0)
        mass = p.bin_log_prob(torch.full((6, 1), k / 255, dtype=torch.float64)).exp()
        torch.testing.assert_close(mass, area, rtol=1e-7, atol=1e-300)


@over(CASES)
def test_cdf_is_the_sum_of_the_masses_or_the_integral_of_the_density(case: Case):
    p = single(case, 1.0)
    values = grid(p)
    cdf = p.cdf(values)
    assert bool((cdf.diff(dim=0) >= 0).all())
    if case.name == "bernoulli":
        return
    if case.make().discrete:
        want = p.log_prob(values).exp().cumsum(0).unsqueeze(-1)
        torch.testing.assert_close(cdf, want, atol=1e-9, rtol=0)
    else:
        step = 1e-5
        middle = values[1:-1]
        slope = (p.cdf(middle + step) - p.cdf(middle - step)) / (2 * step)
        torch.testing.assert_close(slope.squeeze(-1), p.log_prob(middle).exp(), rtol=1e-3, atol=1e-6)


@over(CASES)
@pytest.mark.parametrize("spread", SPREADS)
def test_bin_cdf_is_the_sum_of_the_bin_masses(case: Case, spread: float):
    p = single(case, spread)
    values = grid(p)
    want = p.bin_log_prob(values).exp().cumsum(0).unsqueeze(-1)
    torch.testing.assert_close(p.bin_cdf(values), want, atol=1e-9, rtol=0)
    torch.testing.assert_close(p.bin_cdf(values + 0.4 / 255), want, atol=1e-9, rtol=0)


@over(DISCRETE)
def test_discrete_cdf_ends(case: Case):
    p = single(case, 1.0)
    ones, below = torch.ones(6, 1, dtype=torch.float64), torch.full((6, 1), -0.01, dtype=torch.float64)
    torch.testing.assert_close(p.cdf(ones), ones)
    torch.testing.assert_close(p.cdf(below), 0 * ones)


@over(DISCRETE)
def test_mean_is_the_mean_of_the_masses(case: Case):
    p = single(case, 1.0)
    if case.name == "bernoulli":
        want = p.log_prob(torch.ones(6, 1, dtype=torch.float64)).exp().unsqueeze(-1)
    else:
        values = grid(p)
        want = (p.log_prob(values).exp().unsqueeze(-1) * values).sum(0)
    # Discretised families give the clipped variable's mean, within half a grey level of the rounded one's.
    tolerance = 1e-9 if case.name in ("bernoulli", "categorical", "bitwise") else 0.5 / 255
    torch.testing.assert_close(p.mean, want, atol=tolerance, rtol=0)
