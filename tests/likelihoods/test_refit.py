"""A scale fitted anew is the best one for the data that it was fitted to."""

import pytest
import torch

from tests.cases import CASES, GAUSSIAN, Case, over

REFITTABLE = [case for case in GAUSSIAN if case.name != "image-sigma"]
FACTORS = (0.9, 0.99, 1.01, 1.1)


@over(REFITTABLE)
def test_no_other_width_fits_better(case: Case):
    likelihood, h, x = case.given(batch=6)
    likelihood.eval()
    fitted = likelihood.refit([(h[:4], x[:4]), (h[4:], x[4:])])
    best = float(fitted(h, x).log_prob(x).detach().sum())
    assert best >= float(likelihood(h, x).log_prob(x).detach().sum())
    for factor in FACTORS:
        fitted.factor.mul_(factor)
        assert float(fitted(h, x).log_prob(x).detach().sum()) < best
        fitted.factor.div_(factor)


@over(REFITTABLE)
def test_one_pass_in_parts_is_one_pass_and_the_likelihood_is_left_alone(case: Case):
    likelihood, h, x = case.given(batch=6)
    before = {name: value.clone() for name, value in likelihood.state_dict().items()}
    whole = likelihood.refit([(h, x)])
    parts = likelihood.refit([(h[:1], x[:1]), (h[1:], x[1:])])
    assert float(parts.factor) == pytest.approx(float(whole.factor), rel=1e-12)
    assert likelihood.training
    assert all(torch.equal(value, before[name]) for name, value in likelihood.state_dict().items())


def test_a_shared_sigma_becomes_the_root_mean_squared_error():
    for name in ("gaussian", "shared-sigma", "optimal-sigma"):
        likelihood, h, x = Case(name).given()
        error = (torch.sigmoid(h) - x).square().mean().sqrt()
        assert float(likelihood.refit([(h, x)])(h, x).scale.detach()) == pytest.approx(float(error), rel=1e-6)


def test_an_image_sigma_takes_the_hyperprior_of_the_images_at_hand():
    likelihood, h, x = Case("image-sigma").given(batch=7, spread=2.0)
    likelihood.eval()
    fitted = likelihood.refit([(h[:3], x[:3]), (h[3:], x[3:])])
    logs = 0.5 * (torch.sigmoid(h) - x).square().flatten(1).mean(1).log()
    assert torch.allclose(fitted.running.value, torch.stack([logs.mean(), logs.square().mean()]))
    assert float(likelihood.running.value[1]) == 1  # where it was
    # the log-normal of the same moments is the one under which the optima cost least
    assert float(fitted(h, x).rate.mean()) < float(likelihood(h, x).rate.mean())


@over([case for case in CASES if case not in GAUSSIAN])
def test_others_say_that_they_have_no_such_scale(case: Case):
    likelihood, h, x = case.given()
    with pytest.raises(ValueError, match="has no scale that one pass"):
        likelihood.refit([(h, x)])


@over(GAUSSIAN)
def test_without_data_there_is_nothing_to_fit(case: Case):
    with pytest.raises(ValueError, match="at least one batch"):
        case.make().refit([])
