"""Ways of choosing sigma and what they cost, on models whose answer is known."""

import math

import numpy as np
import pytest
import torch

import sigmavae
from sigmavae.data import Splits
from sigmavae.errors import MetricError
from sigmavae.metrics import bound, sigma
from sigmavae.metrics.sigma import cost, standard_errors
from tests.cases import CASES, Case, over
from tests.metrics.models import SHAPE, Constant, LinearGaussian, random_images, small_vae

SINGLE = {"gaussian", "beta", "shared-sigma", "optimal-sigma"}


def splits(*counts: int) -> Splits:
    parts = [random_images(count, seed=number) // (number + 1) for number, count in enumerate(counts)]
    return Splits(*parts, source="random", fingerprint="0")


def test_every_sigma_and_its_cost_by_hand():
    data = splits(300, 100, 200)
    model = Constant(sigmavae.likelihood("beta", beta=0.5))
    metrics = dict(sigma(model, data, "test", seed=0, training_batch=64))
    exact = {name: math.sqrt(((data.split(name) / 255 - 0.5) ** 2).mean()) for name in ("train", "validation", "test")}
    assert metrics["sigma_used"] == pytest.approx(0.5)
    for name, value in exact.items():
        assert metrics[f"sigma_exact_{name}"] == pytest.approx(value, rel=1e-6)
    assert "nats_exact_test" not in metrics
    # a cost is a difference of two bounds
    for name, value in {"used": 0.5, "exact_train": exact["train"], "exact_validation": exact["validation"]}.items():
        nll = [
            dict(bound(Constant(sigmavae.likelihood("beta", beta=2 * s**2)), data.test, seed=0))["nll"]
            for s in (value, exact["test"])
        ]
        assert metrics[f"nats_{name}"] == pytest.approx(nll[0] - nll[1], abs=1e-4)


def test_a_batch_that_scores_itself_looks_better_than_it_is():
    metrics = dict(sigma(Constant(sigmavae.likelihood("gaussian")), splits(9, 9, 200), "test", 0, training_batch=2))
    assert metrics["nats_batch"] < 0
    whole = dict(sigma(Constant(sigmavae.likelihood("gaussian")), splits(9, 9, 200), "test", 0, training_batch=200))
    assert whole["nats_batch"] == pytest.approx(0, abs=1e-9)


def test_the_optimum_costs_nothing_and_everything_else_something():
    assert cost(0.1, 0.1, 100) == 0
    for other in (0.05, 0.09, 0.11, 0.5):
        assert cost(other, 0.1, 100) > 0


def test_standard_errors_are_those_of_repeated_estimates():
    generator = np.random.default_rng(0)
    images = generator.gamma(9.0, 0.01, size=(20_000, 1))  # each image's mean squared error
    codes = images * generator.gamma(25.0, 1 / 25, size=(20_000, 8))  # and what a code makes of it
    found = dict(standard_errors(torch.from_numpy(codes), 50))
    batches = codes[generator.integers(0, 20_000, (4000, 50)), generator.integers(0, 8, (4000, 50))]
    sigmas = np.sqrt(batches.mean(1))
    assert found["sigma_error_batch"] == pytest.approx(sigmas.std() / sigmas.mean(), rel=0.05)
    same = generator.integers(0, 20_000, 50)  # the same images again and again, other codes
    fresh = images[same] * generator.gamma(25.0, 1 / 25, size=(4000, 50, 1))
    again = np.sqrt(fresh.mean((1, 2)))
    assert found["sigma_error_code_batch"] == pytest.approx(again.std() / again.mean(), rel=0.2)
    assert found["sigma_error_code"] == pytest.approx(found["sigma_error_code_batch"] * math.sqrt(50 / 20_000))


def test_codes_of_one_image_scatter_as_the_posterior_says():
    # |x - W z - 1/2|^2 with z = mean + s e: within an image only the code varies
    model = LinearGaussian([0.5], sigma=0.1, widen=3.0)
    data = model.draw_images(2000)
    metrics = dict(sigma(model, Splits(data, data, data, "itself", "0"), "test", 0, training_batch=100))
    wide = 9 / (1 + 25) * 0.25  # the code's variance times |W|^2: added to the error of the mean code
    residual = np.square(data / 255 - 0.5 - _mean_code(model, data)).sum((1, 2, 3))
    dimensions = math.prod(SHAPE)
    assert metrics["sigma_exact_test"] == pytest.approx(math.sqrt((residual.mean() + wide) / dimensions), rel=0.02)
    # var of (r + s e)^2 over e ~ N(0, 1): 2 s^4 + 4 r^2 s^2, where r is the part of the residual along W
    along = ((data / 255 - 0.5 - _mean_code(model, data)).reshape(len(data), -1) @ _direction(model)) ** 2
    within = (2 * wide**2 + 4 * along.mean() * wide) / dimensions**2
    expected = math.sqrt(within / 100) / (2 * metrics["sigma_exact_test"] ** 2)
    assert metrics["sigma_error_code_batch"] == pytest.approx(expected, rel=0.05)


def _mean_code(model: LinearGaussian, data: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        mean, _ = model.encode(torch.from_numpy(data).double() / 255)
        return (model.decode(mean) - 0.5).numpy()


def _direction(model: LinearGaussian) -> np.ndarray:
    column = model.weight[:, 0].detach().numpy()
    return column / np.linalg.norm(column)


@over(CASES)
@pytest.mark.parametrize("count", [1, 4])
def test_likelihoods_without_a_single_sigma_say_so(case: Case, count: int):
    model, data = Constant(case.make()), splits(4, 4, count)
    if case.name in SINGLE:
        metrics = dict(sigma(model, data, "test", 0, training_batch=2))
        assert metrics["sigma_used"] > 0
        assert all(math.isfinite(value) for value in metrics.values())
    else:
        with pytest.raises(MetricError, match="has no single sigma"):
            dict(sigma(model, data, "test", 0, training_batch=2))


def test_batches_do_not_matter():
    model = small_vae()
    parts = [random_images(50, (1, 8, 8), seed) for seed in range(3)]
    data = Splits(*parts, source="random", fingerprint="0")
    whole, small = (dict(sigma(model, data, "test", 1, training_batch=16, batch=batch)) for batch in (50, 7))
    assert small == pytest.approx(whole, rel=1e-5, abs=1e-6)
