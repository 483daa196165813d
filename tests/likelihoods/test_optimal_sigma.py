"""The analytic scale: its value, its running average, its gradient, and sigma from other data than is scored."""

import pytest
import torch

import sigmavae
from sigmavae.likelihoods.optimal_sigma import SMALLEST_VARIANCE, OptimalSigma


def data(batch: int = 8, noise: float = 0.05, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(batch, 3, 6, 6, generator=generator)
    x = (torch.sigmoid(h) + noise * torch.randn(h.shape, generator=generator)).clamp(0, 1)
    return h, x


def mean_square(h, x):
    return (torch.sigmoid(h) - x).square().mean()


def test_sigma_is_the_root_mean_squared_error_and_maximises_the_likelihood():
    h, x = data()
    p = OptimalSigma()(h, x)
    torch.testing.assert_close(p.scale, mean_square(h, x).sqrt())
    best = p.log_prob(x).sum()
    for factor in (0.9, 0.99, 1.01, 1.1):
        other = torch.distributions.Normal(p.loc, p.scale * factor).log_prob(x).sum()
        assert other < best


def test_gradient_is_that_of_the_path_through_sigma_too():
    h, x = data()
    h.requires_grad_()
    (attached,) = torch.autograd.grad(
        torch.distributions.Normal(torch.sigmoid(h), mean_square(h, x).sqrt()).log_prob(x).sum(), h
    )
    (ours,) = torch.autograd.grad(OptimalSigma()(h, x).log_prob(x).sum(), h)
    torch.testing.assert_close(ours, attached, rtol=1e-4, atol=1e-4)


def test_running_average_is_a_mean_first_and_forgets_later():
    likelihood = OptimalSigma(decay=0.75)
    want = 0.0
    for step in range(12):
        h, x = data(noise=0.02 * (step + 1), seed=step)
        likelihood(h, x)
        weight = max(1 / (step + 1), 0.25)
        want += weight * (float(mean_square(h, x)) - want)
        assert float(likelihood.sigma) ** 2 == pytest.approx(want, rel=1e-5)
    likelihood.eval()
    h, x = data(seed=99)
    assert float(likelihood(h, x).scale) ** 2 == pytest.approx(want, rel=1e-5)
    assert float(likelihood(h).scale) ** 2 == pytest.approx(want, rel=1e-5)
    assert float(likelihood.sigma) ** 2 == pytest.approx(want, rel=1e-5), "evaluation must not change sigma"


def test_running_sigma_is_saved_with_the_model():
    likelihood, other = OptimalSigma(), OptimalSigma()
    likelihood(*data())
    other.load_state_dict(likelihood.state_dict())
    assert float(other.sigma) == float(likelihood.sigma) != 1.0


def test_sigma_is_not_clipped():
    for noise in (1e-5, 1e-3):
        h, _ = data()
        x = (torch.sigmoid(h) + noise).clamp(0, 1)
        assert float(OptimalSigma()(h, x).scale) == pytest.approx(noise, rel=0.02)


def test_perfect_reconstruction_has_the_floor_and_no_gradient():
    h, _ = data()
    h.requires_grad_()
    x = torch.sigmoid(h).detach()
    p = OptimalSigma()(h, x)
    assert float(p.scale) == pytest.approx(SMALLEST_VARIANCE**0.5)
    p.log_prob(x).sum().backward()
    assert bool((h.grad == 0).all())


@pytest.mark.parametrize("batch", [8, 7, 2, 1])
def test_split_scores_each_half_with_the_other_half_s_sigma(batch: int):
    h, x = data(batch)
    likelihood = OptimalSigma(split=True)
    p = likelihood(h, x)
    for item in range(batch):
        other = [i for i in range(batch) if i % 2 != item % 2] or [item]
        assert float(p.scale[item]) == pytest.approx(float(mean_square(h[other], x[other]).sqrt()), rel=1e-5)
    assert float(likelihood.sigma) == pytest.approx(float(mean_square(h, x).sqrt()), rel=1e-5)


def test_split_removes_the_bias_of_scoring_a_batch_with_its_own_sigma():
    # Known answer: x - mean ~ N(0, s^2). Scored with its own sigma a batch of N values seems better than with the
    # true one by half a nat on average; scored with another half's sigma it seems worse, never better.
    s, batch, event = 0.05, 2, 50
    generator = torch.Generator().manual_seed(0)
    own, split = OptimalSigma(support="real"), OptimalSigma(support="real", split=True)
    gain_own, gain_split = [], []
    for _ in range(2000):
        h = torch.zeros(batch, event)
        x = s * torch.randn(batch, event, generator=generator)
        true = torch.distributions.Normal(0.0, s).log_prob(x).sum()
        gain_own.append(float(own(h, x).log_prob(x).sum() - true))
        gain_split.append(float(split(h, x).log_prob(x).sum() - true))
    assert sum(gain_own) / 2000 == pytest.approx(0.5, abs=0.08)
    assert sum(gain_split) / 2000 < -0.5


def test_validation_sigma_comes_from_observed_data_only():
    likelihood = OptimalSigma(source="validation")
    h, x = data(noise=0.02)
    assert likelihood.held_out
    torch.testing.assert_close(likelihood(h, x).scale, mean_square(h, x).sqrt())  # nothing observed yet
    held_h, held_x = data(noise=0.1, seed=1)
    likelihood.observe(held_h, held_x)
    want = mean_square(held_h, held_x).sqrt()
    for _ in range(3):
        torch.testing.assert_close(likelihood(h, x).scale, want)
    torch.testing.assert_close(likelihood.eval()(h, x).scale, want)


def test_double_use_of_one_batch_can_be_differentiated():
    likelihood = OptimalSigma()
    h, x = data()
    h.requires_grad_()
    (likelihood(h, x).log_prob(x).sum() + likelihood(h, x).log_prob(x).sum()).backward()
    assert bool(torch.isfinite(h.grad).all())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "test"}, "source='test'"),
        ({"decay": 1.5}, "decay=1.5"),
        ({"split": True, "source": "validation"}, "split"),
    ],
)
def test_bad_options_are_named(options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        sigmavae.likelihood("optimal-sigma", **options)
