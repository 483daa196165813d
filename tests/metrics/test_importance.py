"""The bound of K samples, on a model whose evidence is known."""

import math

import pytest
import torch

from sigmavae.metrics import bound, importance
from sigmavae.noise import ItemNoise
from tests.cases import CASES, Case, over
from tests.metrics.models import Constant, LinearGaussian, random_images, small_vae

SCALES = [0.3, 0.1]


@pytest.mark.parametrize("k", [1, 7])
def test_with_the_exact_posterior_every_sample_weighs_the_evidence(k: int):
    model = LinearGaussian(SCALES, sigma=0.1)
    data = model.draw_images(50)
    metrics = dict(importance(model, data, seed=0, k=k))
    assert metrics["nll_importance"] == pytest.approx(-float(model.log_evidence(data).mean()), rel=1e-5)
    assert metrics["importance_effective"] == pytest.approx(k, rel=1e-3)


def test_with_a_wrong_posterior_more_samples_close_the_gap():
    model = LinearGaussian(SCALES, sigma=0.1, widen=1.5, shift=0.3)
    data = model.draw_images(400)
    evidence = -float(model.log_evidence(data).mean())
    gaps = [dict(importance(model, data, seed=0, k=k))["nll_importance"] - evidence for k in (1, 4, 16, 256)]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] > -0.02
    assert gaps[3] < 0.05 * gaps[0]


def test_one_sample_is_the_elbo_on_average():
    model = LinearGaussian(SCALES, sigma=0.1, widen=1.2)
    data = model.draw_images(3000)
    one, elbo = dict(importance(model, data, seed=0, k=1)), dict(bound(model, data, seed=0))
    # the rate is exact in one and sampled in the other
    assert one["nll_importance"] == pytest.approx(elbo["nll"], abs=4 * one["nll_importance_stderr"])
    assert one["importance_effective"] == 1


@over(CASES)
def test_without_latent_noise_every_likelihood_gives_its_elbo(case: Case):
    model, data = Constant(case.make(), 0.3), random_images(30)
    many, elbo = dict(importance(model, data, seed=0, k=5)), dict(bound(model, data, seed=0))
    assert many["nll_importance"] == pytest.approx(elbo["nll"], rel=1e-6)
    assert many["nll_importance_discrete"] == pytest.approx(elbo["nll_discrete"], rel=1e-6)
    assert many["bits_per_dim_importance"] == pytest.approx(elbo["nll_discrete"] / (20 * math.log(2)), rel=1e-6)


def test_k_samples_encode_once_and_are_those_of_one_after_another():
    model, calls = small_vae(), []
    images = torch.rand(6, 1, 8, 8)
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    many = list(model.draws(images, 4, ItemNoise(2, torch.arange(6))))
    assert len(calls) == 1
    noise = ItemNoise(2, torch.arange(6))
    for found in many:
        for one, other in zip(found, model.weigh(images, noise), strict=True):
            assert torch.equal(one, other)


def test_batches_do_not_matter():
    model, data = small_vae(), random_images(60, (1, 8, 8))
    whole, parts = (dict(importance(model, data, seed=1, k=3, batch=batch)) for batch in (60, 7))
    assert parts == pytest.approx(whole, rel=1e-5)
