"""Per-image sigma: its optimum, and the Appendix C bound against the integral it bounds."""

import math

import numpy as np
import pytest
import torch

from sigmavae.likelihoods.image_sigma import ImageSigma


def fitted(mean: float, tau: float) -> ImageSigma:
    likelihood = ImageSigma(support="real")
    likelihood.running.value.copy_(torch.tensor([mean, mean**2 + tau**2]))
    return likelihood.double().eval()


def test_every_image_has_its_own_root_mean_squared_error():
    torch.manual_seed(0)
    h, x = torch.randn(5, 3, 4, 4), torch.rand(5, 3, 4, 4)
    p = ImageSigma()(h, x)
    torch.testing.assert_close(p.scale.flatten(), (torch.sigmoid(h) - x).square().flatten(1).mean(1).sqrt())


@pytest.mark.parametrize("dimensions", [20, 500])
@pytest.mark.parametrize("error", [0.5, 1.0, 2.0])
def test_bound_is_below_the_evidence_and_close_to_it(dimensions: int, error: float):
    mean, tau = math.log(0.1), 0.4
    torch.manual_seed(1)
    x = 0.1 * error * torch.randn(1, dimensions, dtype=torch.float64)
    p = fitted(mean, tau)(torch.zeros_like(x), x)
    bound = float(p.log_prob(x) - p.rate)
    u = np.linspace(mean - 8 * tau, mean + 8 * tau, 40_001)
    joint = -0.5 * float(x.square().sum()) * np.exp(-2 * u) - dimensions * (u + 0.5 * math.log(2 * math.pi))
    joint += -0.5 * ((u - mean) / tau) ** 2 - math.log(tau) - 0.5 * math.log(2 * math.pi)
    evidence = np.logaddexp.reduce(joint) + math.log(u[1] - u[0])
    assert bound <= evidence
    assert evidence - bound < 4 / math.sqrt(dimensions)


def test_price_is_the_spread_plus_the_kl_of_two_normals():
    mean, tau, dimensions = -2.0, 0.3, 200
    log_sigma = torch.tensor([-2.5, -2.0, -1.0], dtype=torch.float64)
    width = 1 / (2 * dimensions + 1 / tau**2)
    q = torch.distributions.Normal(log_sigma + width, math.sqrt(width))
    prior = torch.distributions.Normal(torch.tensor(mean, dtype=torch.float64), tau)
    want = torch.distributions.kl_divergence(q, prior) + dimensions * width
    torch.testing.assert_close(fitted(mean, tau).price(log_sigma, dimensions), want, rtol=1e-5, atol=0)


def test_spread_term_is_the_expected_loss_of_likelihood_under_q():
    # E_q ln N(x; 0, s^2) by Monte Carlo against ln N(x; 0, sigma*^2) - D w.
    torch.manual_seed(2)
    dimensions, tau = 50, 0.5
    x = torch.randn(dimensions, dtype=torch.float64)
    best = x.square().mean().sqrt().log()
    width = 1 / (2 * dimensions + 1 / tau**2)
    s = torch.exp(best + width + math.sqrt(width) * torch.randn(400_000, dtype=torch.float64))
    scores = -0.5 * x.square().sum() / s**2 - dimensions * torch.log(s)
    want = -0.5 * dimensions - dimensions * best - dimensions * width
    error = float(scores.std()) / math.sqrt(len(scores))
    assert abs(float(scores.mean() - want)) < 4.5 * error


def test_hyperprior_is_fitted_to_training_images_only():
    likelihood = ImageSigma(decay=1.0, support="real")
    torch.manual_seed(3)
    every = []
    for _ in range(50):
        sigma = torch.exp(-2 + 0.3 * torch.randn(40, 1))
        x = sigma * torch.randn(40, 2000)
        likelihood(torch.zeros_like(x), x)
        every.append(x.square().mean(1).sqrt().log())
    logs = torch.cat(every)
    mean, square = likelihood.running.value
    assert float(mean) == pytest.approx(float(logs.mean()), rel=1e-4)
    assert float(square - mean**2) == pytest.approx(float(logs.var(unbiased=False)), rel=1e-2)
    before = likelihood.running.value.clone()
    likelihood.eval()(torch.zeros(4, 10), torch.ones(4, 10))
    assert torch.equal(likelihood.running.value, before)
    torch.testing.assert_close(likelihood(torch.zeros(4, 10)).scale, torch.exp(before[0]))
