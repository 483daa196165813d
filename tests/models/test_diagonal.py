"""Gaussians over maps agree with those of torch."""

import pytest
import torch
from torch.distributions import Normal

from sigmavae.models.diagonal import BOUNDS, LOG_VARIANCES, Diagonal


def gaussians() -> tuple[Diagonal, Diagonal]:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(4, 3, 2, 5, 4, generator=generator, dtype=torch.float64)
    return Diagonal(values[0], values[1]), Diagonal(values[2], values[3])


def torchs(one: Diagonal) -> Normal:
    return Normal(one.mean, torch.exp(0.5 * one.log_variance))


def test_log_ratio_is_that_of_torch_distributions():
    q, p = gaussians()
    z = q.draw()
    want = (torchs(q).log_prob(z) - torchs(p).log_prob(z)).sum((1, 2, 3))
    torch.testing.assert_close(q.log_ratio(z, p), want)


def test_the_mean_log_ratio_is_the_divergence():
    q, p = gaussians()
    torch.manual_seed(0)
    draws = torch.stack([q.log_ratio(q.draw(), p) for _ in range(2000)])
    error = draws.std(0) / 2000**0.5
    want = torch.distributions.kl_divergence(torchs(q), torchs(p)).sum((1, 2, 3))
    assert bool(((draws.mean(0) - want).abs() < 5 * error).all())


@pytest.mark.parametrize("name", LOG_VARIANCES)
def test_log_variances_rise_with_what_the_network_says(name: str):
    raw = torch.linspace(-50, 50, 101)
    value = LOG_VARIANCES[name](raw)
    assert bool((value.diff() >= 0).all())
    assert bool(torch.isfinite(value).all())


def test_bounded_starts_at_one_and_softplus_never_falls_below():
    raw = torch.linspace(-50, 50, 101)
    assert abs(float(LOG_VARIANCES["bounded"](torch.zeros(())))) < 1e-3
    assert float(LOG_VARIANCES["bounded"](raw).min()) >= BOUNDS[0]
    assert float(LOG_VARIANCES["bounded"](raw).max()) <= BOUNDS[1] + 1e-3
    assert float(LOG_VARIANCES["softplus"](raw).min()) >= 0
