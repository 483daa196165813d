"""The two parts of the rate, on codes and models for which they are known."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from sigmavae.errors import MetricError
from sigmavae.metrics.aggregate import log_aggregate
from sigmavae.metrics.information import information
from sigmavae.metrics.posteriors import Posteriors
from tests.metrics.codes import Table, normal, standard, two_modes
from tests.metrics.models import SHAPE, Constant, LinearGaussian, random_images, small_vae
from tests.processes import in_two

KINDS = ("mc", "gaussian", "mixture")


def measure(q: Posteriors, samples: int = 500) -> dict[str, float]:
    model = Table(q)
    return dict(information(model, model.images(), seed=0, samples=samples))


@pytest.mark.parametrize("rate", [1.0, 5.0, 14.0, 32.0, 60.0, 100.0])
def test_without_a_mismatch_one_estimator_saturates_and_two_do_not(rate: float):
    d, count = 20, 2000
    q = standard(rate, count, d)
    found, exact = measure(q), float(q.rate.mean())
    for kind in KINDS:
        assert found[f"information_{kind}"] + found[f"marginal_kl_{kind}"] == pytest.approx(exact)
    assert found["information_cap"] == math.log(count)
    assert found["information_mc"] <= found["information_cap"] + 1e-6
    assert found["marginal_kl_mc"] >= exact - math.log(count) - 1e-6
    if rate > 20:
        assert found["information_mc"] == pytest.approx(math.log(count), abs=0.1)
    assert found["marginal_kl_gaussian"] == pytest.approx(0, abs=0.01)
    # the price of fitting h to three fifths of the images
    assert -1.5 * d * (d + 3) / (4 * 0.6 * count) < found["marginal_kl_mixture"] < 0.02
    assert found["active_units"] == d


@pytest.mark.parametrize(("rate", "published"), [(14, 4.3), (32, 22.4), (60, 50.2)])
def test_many_images_hardly_help(rate: float, published: float):
    q = standard(rate, 20_000, 20)
    sources = Posteriors(q.mean[:300], q.log_variance[:300])
    z = sources.sample(lambda like: normal(*like.shape, 1))
    log_q = torch.distributions.Normal(sources.mean, (0.5 * sources.log_variance).exp()).log_prob(z).sum(1)
    kl = q.rate.mean() - (log_q - log_aggregate(z, q)).mean()
    # their error bar: a plain mean of ln m(z) / p(z)
    assert float(kl) == pytest.approx(published, abs=0.4)
    assert float(kl) >= rate - math.log(20_000) - 0.05


@pytest.mark.parametrize("sigma", [0.08, 0.02, 0.004])
@pytest.mark.parametrize("stretch", [1.0, 0.6])
def test_a_linear_gaussian_model_gives_its_closed_form(sigma: float, stretch: float):
    # Images from a decoder stretched by a known factor: the aggregate is N(0, own I).
    scales = [0.1] * 20
    model = LinearGaussian(scales, sigma)
    images = LinearGaussian([stretch * s for s in scales], sigma).draw_images(2000)
    noise = sigma**2 + 1 / 255**2 / 12
    variance = 1 / (1 + (0.1 / sigma) ** 2)
    own = (1 - variance) ** 2 * (stretch**2 + noise / 0.1**2) + variance
    truth = 20 * 0.5 * (own - 1 - math.log(own))
    found = dict(information(model, images, seed=0, samples=200))
    information_truth = 10 * math.log(own / variance)
    assert found["information_gaussian"] == pytest.approx(information_truth, rel=0.02)
    assert found["marginal_kl_gaussian"] == pytest.approx(truth, abs=4 * found["marginal_kl_gaussian_stderr"] + 0.01)
    assert found["marginal_kl_mixture"] == pytest.approx(truth, abs=4 * found["marginal_kl_mixture_stderr"] + 0.15)
    assert found["information_mc"] <= math.log(2000) + 1e-9


def test_two_modes_are_seen_by_the_mixture_and_bounded_by_the_gaussian():
    # KL(m || p) = KL(m || g) + KL(g || p); here g = p, and all of it is in the first term.
    away, d = 0.95, 2
    width = math.sqrt(1 - away**2)

    def density(z: float) -> float:
        return 0.5 * stats.norm.pdf(z, away, width) + 0.5 * stats.norm.pdf(z, -away, width)

    def integrand(z: float) -> float:
        return density(z) * math.log(density(z) / stats.norm.pdf(z))

    truth = d * integrate.quad(integrand, -4, 4, points=[-away, away])[0]
    found = measure(two_modes(4000, d, away, variance=0.02))
    assert found["marginal_kl_gaussian"] == pytest.approx(0, abs=0.01)
    assert found["marginal_kl_mixture"] == pytest.approx(truth, abs=4 * found["marginal_kl_mixture_stderr"] + 0.02)
    # so few dimensions and so low a rate that the images' own mixture is exact too
    assert found["marginal_kl_mc"] == pytest.approx(truth, abs=4 * found["marginal_kl_mc_stderr"] + 0.02)


def test_the_moments_part_of_a_marginal_kl_is_exact():
    # The identity of the docstring, for an m that is not Gaussian and a g that is not p, by quadrature.
    places, widths = np.array([-1.0, 2.0]), np.array([0.5, 0.3])
    mean = places.mean()
    spread = math.sqrt((widths**2).mean() + places.var())

    def against(other) -> float:
        def integrand(z: float) -> float:
            m = stats.norm.pdf(z, places, widths).mean()
            return m * (math.log(m) - other.logpdf(z))

        return integrate.quad(integrand, -5, 5, points=[*places])[0]

    total = against(stats.norm()) - against(stats.norm(mean, spread))
    assert total == pytest.approx(0.5 * (spread**2 + mean**2 - 1) - math.log(spread), rel=1e-8)


def test_the_error_bar_is_the_spread_over_seeds():
    model = Table(standard(4.0, 3000, 4))
    found = [dict(information(model, model.images(), seed, 200)) for seed in range(30)]
    spread = np.std([f["information_mc"] for f in found])
    assert np.mean([f["information_mc_stderr"] for f in found]) == pytest.approx(spread, rel=0.4)


def test_more_samples_than_images_start_over():
    found = measure(standard(6.0, 50, 3), samples=20_000)
    assert found["information_samples"] == 20_000
    assert found["information_mc"] <= math.log(50) + 1e-9


def test_batches_do_not_matter():
    model, images = small_vae(), random_images(60, (1, 8, 8))
    whole, parts = (dict(information(model, images, 1, 40, batch=batch)) for batch in (60, 7))
    assert parts == pytest.approx(whole, rel=1e-4, abs=1e-5)


def across_processes() -> dict[str, float]:
    return measure(standard(20.0, 301, 3), samples=333)


def test_two_processes_equal_one(tmp_path: Path):
    for found in in_two(across_processes, tmp_path):
        assert found == pytest.approx(across_processes(), rel=1e-9, abs=1e-9)


def test_what_cannot_be_measured_says_so():
    model = Constant(small_vae().likelihood)
    with pytest.raises(MetricError, match="Constant has no single latent vector"):
        dict(information(model, random_images(20, SHAPE), 0, 10))
    with pytest.raises(MetricError, match="4 images"):
        dict(information(small_vae(), random_images(4, (1, 8, 8)), 0, 10))
