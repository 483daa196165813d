"""Posteriors of a set, and the Gaussian of their aggregate."""

import numpy as np
import pytest
import torch

from sigmavae.metrics.posteriors import Posteriors, gaussian_marginal_kl, posteriors
from tests.metrics.codes import Table, normal, spread, standard
from tests.metrics.models import LinearGaussian, random_images


def plain(q: Posteriors) -> float:
    """KL(g || p) by torch's own formula, without any correction."""
    covariance = torch.cov(q.mean.T, correction=0) + q.log_variance.exp().mean(0).diag()
    g = torch.distributions.MultivariateNormal(q.mean.mean(0), covariance)
    p = torch.distributions.MultivariateNormal(torch.zeros_like(g.mean), torch.eye(len(g.mean), dtype=torch.float64))
    return float(torch.distributions.kl_divergence(g, p))


def test_posteriors_are_those_of_the_encoder_in_order():
    q = standard(rate=5.0, count=300, d=3)
    model = Table(q)
    found = posteriors(model, model.images(), batch=7)
    assert torch.equal(found.mean, q.mean)
    assert torch.equal(found.log_variance, q.log_variance)


def test_many_images_need_no_correction():
    q = spread(normal(50_000, 3, 0) @ torch.tensor([[2.0, 0, 0], [1, 1, 0], [0, 0, 0.3]], dtype=torch.float64) + 5, 0.1)
    assert gaussian_marginal_kl(q)[0] == pytest.approx(plain(q), rel=1e-4)


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_few_images_are_corrected_and_the_error_is_their_spread(rate: float):
    d, count = 8, 200
    sets = [standard(rate, count, d, seed) for seed in range(100)]
    found = np.array([gaussian_marginal_kl(q) for q in sets])
    biased = np.mean([plain(q) for q in sets])
    if rate == 100:
        assert biased == pytest.approx(d * (d + 3) / (4 * count), rel=0.15)
    assert abs(found[:, 0].mean()) < 0.1 * biased
    shifted = [standard(rate, count, d, seed) for seed in range(100)]
    moved = np.array([gaussian_marginal_kl(Posteriors(q.mean + 0.5, q.log_variance)) for q in shifted])
    assert moved[:, 1].mean() == pytest.approx(moved[:, 0].std(), rel=0.25)


def test_a_dimension_is_active_where_its_mean_varies():
    mean = normal(1000, 4, 0) * torch.tensor([1.0, 0.2, 0.05, 0.0])
    assert spread(mean + 3, 0.5).active == 2


def test_the_rate_is_that_of_the_model():
    model = LinearGaussian([0.3, 0.1], sigma=0.1)
    x = torch.from_numpy(random_images(50)).float() / 255
    found = posteriors(model, random_images(50)).rate
    torch.testing.assert_close(found, model.infer(x)[1].detach(), rtol=1e-6, atol=0)
