"""The bound, on models whose answer is known."""

import math

import numpy as np
import pytest
import torch

import sigmavae
from sigmavae.metrics import bound
from tests.cases import CASES, CONTINUOUS, Case, over
from tests.metrics.models import Constant, LinearGaussian, random_images, small_vae


def test_unit_gaussian_by_hand():
    data = random_images()
    metrics = dict(bound(Constant(sigmavae.likelihood("gaussian")), data, seed=0))
    square = ((data / 255 - 0.5) ** 2).reshape(len(data), -1).sum(1)
    distortion = 0.5 * square + 10 * math.log(2 * math.pi)
    assert metrics["distortion"] == pytest.approx(distortion.mean(), rel=1e-6)
    assert metrics["rate"] == pytest.approx(3)
    assert metrics["nll"] == pytest.approx(distortion.mean() + 3, rel=1e-6)
    assert metrics["nll_stderr"] == pytest.approx(distortion.std(ddof=1) / math.sqrt(600), rel=1e-4)
    assert metrics["rate_stderr"] == 0
    assert metrics["rmse"] == pytest.approx(math.sqrt(square.mean() / 20), rel=1e-6)
    assert metrics["sigma"] == 1
    assert metrics["beta"] == 2


def test_uniform_categorical_costs_eight_bits_and_the_rate():
    metrics = dict(bound(Constant(sigmavae.likelihood("categorical")), random_images(), seed=0))
    want = 20 * math.log(256) + 3
    assert metrics["nll"] == pytest.approx(want, rel=1e-6)
    assert metrics["nll_discrete"] == pytest.approx(want, rel=1e-6)
    assert metrics["bits_per_dim"] == pytest.approx(8 + 3 / (20 * math.log(2)), rel=1e-6)
    assert "sigma" not in metrics
    assert "floor" not in metrics  # a mass has none but zero


@over(CASES)
def test_the_discrete_bound_is_that_of_bin_masses(case: Case):
    model = Constant(case.make(), 0.3)
    data = random_images(40)
    metrics = dict(bound(model, data, seed=0))
    x = torch.from_numpy(data).float() / 255
    p = model.likelihood(model.infer(x)[0], x)
    want = (-p.bin_log_prob(x) + 3 + p.rate).mean()
    assert metrics["nll_discrete"] == pytest.approx(float(want.detach()), rel=1e-5)
    assert metrics["bits_per_dim"] == pytest.approx(metrics["nll_discrete"] / (20 * math.log(2)))
    assert metrics["bits_per_dim_stderr"] == pytest.approx(metrics["nll_discrete_stderr"] / (20 * math.log(2)))


@pytest.mark.parametrize("beta", [2.0, 0.02])
def test_the_floor_of_a_fixed_sigma(beta: float):
    metrics = dict(bound(Constant(sigmavae.likelihood("beta", beta=beta)), random_images(), seed=0))
    assert metrics["floor"] == pytest.approx(20 / 2 * math.log(2 * math.pi * beta / 2), rel=1e-6)


@over(CONTINUOUS)
def test_no_bound_lies_below_its_floor(case: Case):
    metrics = dict(bound(Constant(case.make(), 0.1), random_images(), seed=0))
    assert metrics["floor"] <= metrics["distortion"] < metrics["nll"]


def test_the_floor_is_reached_by_a_perfect_reconstruction():
    model = Constant(sigmavae.likelihood("gaussian", support="real"), 128 / 255)
    metrics = dict(bound(model, np.full((8, 1, 4, 5), 128, np.uint8), seed=0))
    assert metrics["distortion"] == metrics["floor"]
    assert metrics["rmse"] == 0


def test_with_the_exact_posterior_the_mean_bound_is_the_evidence():
    model = LinearGaussian([0.1, 0.05], sigma=0.1)
    data = model.draw_images(4000)
    metrics = dict(bound(model, data, seed=0))
    # -ELBO of one sample scatters around -ln p(x), whose own scatter is part of the error
    assert abs(metrics["nll"] + float(model.log_evidence(data).mean())) < 4 * metrics["nll_stderr"]


@pytest.mark.parametrize("name", ["optimal-sigma", "image-sigma", "student-t", "categorical"])
def test_batches_do_not_matter(name: str):
    model, data = small_vae(name), random_images(130, (1, 8, 8))
    whole, parts = dict(bound(model, data, seed=1)), dict(bound(model, data, seed=1, batch=17))
    assert parts == pytest.approx(whole, rel=1e-5)


def test_the_same_seed_gives_the_same_numbers_and_the_model_is_left_alone():
    model, data = small_vae(), random_images(300, (1, 8, 8))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = dict(bound(model, data, seed=5))
    assert first == dict(bound(model, data, seed=5))
    assert first["nll"] != dict(bound(model, data, seed=6))["nll"]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
