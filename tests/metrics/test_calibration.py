"""Calibration, on models that made their own images: nothing they say about them is wrong but by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

import sigmavae
from sigmavae.metrics.calibration import calibration
from sigmavae.metrics.pit import BINS, LEVELS
from tests.cases import CASES, CONTINUOUS, Case, over
from tests.metrics.calibrated import SEED, Known
from tests.metrics.models import Constant, random_images, small_vae
from tests.processes import in_two

IMAGES, SAMPLES = 150, 150
PREFIXES = ("calibration_", "prior_calibration_")
NARROW = Case("beta", {"beta": 0.01})


def measured(
    case: Case, factor: float = 1.0, images: int = IMAGES, seed: int = SEED, samples: int = SAMPLES
) -> dict[str, float]:
    model = Known(case)
    return dict(calibration(model, model.draw_images(images, factor, seed), seed, samples=samples))


@over(CASES)
def test_a_decoder_that_is_right_scores_nothing_but_chance(case: Case):
    metrics = measured(case)
    for prefix in PREFIXES:
        assert metrics[f"{prefix}error"] < 3 * metrics[f"{prefix}error_chance"] < 0.1
        pit = [f"{prefix}pit_{number:02}" for number in range(BINS)]
        assert sum(metrics[name] for name in pit) == pytest.approx(1)
        wanted = dict.fromkeys(pit, 1 / BINS) | {f"{prefix}coverage_{100 * c:.0f}": c for c in LEVELS}
        for name, want in wanted.items():
            assert abs(metrics[name] - want) < 4.5 * metrics[f"{name}_stderr"], name


@over(CASES)
def test_a_decoder_twice_as_wide_as_the_error_does_not(case: Case):
    metrics = measured(case, factor=0.5, samples=1)
    assert metrics["calibration_error"] > 20 * metrics["calibration_error_chance"]
    for level in LEVELS[1:]:
        name = f"calibration_coverage_{100 * level:.0f}"
        assert metrics[name] > level + 4.5 * metrics[f"{name}_stderr"]


def test_a_decoder_half_as_wide_as_the_error_covers_too_little():
    metrics = measured(NARROW, factor=2.0)
    assert metrics["calibration_error"] > 20 * metrics["calibration_error_chance"]
    assert all(metrics[f"calibration_coverage_{100 * level:.0f}"] < level for level in LEVELS)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_scores_and_coverage_of_a_gaussian_off_by_a_factor(factor: float):
    # beta = 1e-3 is a sigma of 6 grey levels, and few values reach the ends: closed forms hold.
    metrics = measured(Case("beta", {"beta": 1e-3}), factor)
    assert metrics["calibration_z_variance"] == pytest.approx(factor**2, rel=0.06)
    for level in LEVELS:
        want = 2 * stats.norm.cdf(stats.norm.ppf((1 + level) / 2) / factor) - 1
        assert metrics[f"calibration_coverage_{100 * level:.0f}"] == pytest.approx(want, abs=0.02)
    assert metrics["calibration_sharpness"] == pytest.approx(2 * 1.645 * np.sqrt(1e-3 / 2), abs=0.004)
    spread = [metrics[f"calibration_z_variance_pixel_{share}"] for share in ("05", "50", "95")]
    assert spread == pytest.approx([factor**2] * 3, rel=0.35)
    assert spread == sorted(spread)


def test_errors_are_those_of_other_images_and_other_prior_samples():
    runs = [measured(NARROW, images=200, seed=seed) for seed in range(25)]
    for name in ("coverage_50", "coverage_90", "pit_00", "z_variance", "error"):
        for prefix in PREFIXES:
            if (prefix, name) == ("prior_calibration_", "error"):
                continue  # near zero, the mean of distances is no normal variable
            scatter = np.std([run[prefix + name] for run in runs], ddof=1)
            said = np.mean([run[f"{prefix}{name}_stderr"] for run in runs])
            assert 0.6 < scatter / said < 1.4, prefix + name
    for prefix in PREFIXES:
        chance = np.mean([run[f"{prefix}error_chance"] for run in runs])
        assert np.mean([run[f"{prefix}error"] for run in runs]) == pytest.approx(chance, rel=0.3)


def test_a_wrong_prior_shows_in_the_prior_predictive_alone():
    model = Known(Case("beta", {"beta": 1e-3}))
    images = model.draw_images(IMAGES)
    generate, model.weight.data = model.generate, model.weight.data / 3
    wide = lambda n, noise: generate(n, lambda like: 3 * noise(like))  # noqa: E731
    model.infer = lambda x, noise: (wide(len(x), noise), torch.zeros(len(x)))
    metrics = dict(calibration(model, images, SEED, samples=SAMPLES))
    assert metrics["calibration_error"] < 3 * metrics["calibration_error_chance"]
    assert metrics["prior_calibration_error"] > 4 * metrics["prior_calibration_error_chance"]


def test_the_prior_predictive_is_the_average_of_the_decoders():
    # The features are the same for all z, so both predictions are one and the same, and so are all their scores.
    images = random_images(80)
    for case in CONTINUOUS:
        metrics = dict(calibration(Constant(case.make(), 0.3), images, 0, samples=20))
        sharpness = metrics["calibration_sharpness"]
        assert metrics["prior_calibration_sharpness"] == pytest.approx(sharpness)
    model = Constant(sigmavae.likelihood("discretized-gaussian", scale=0.3), 0.3)
    metrics = dict(calibration(model, images, 0, samples=20))
    same = [name for name in metrics if name.startswith("calibration_") and "z_" not in name and "stderr" not in name]
    same.remove("calibration_error_chance")
    for name in same:
        assert metrics[f"prior_{name}"] == pytest.approx(metrics[name], abs=1e-3), name


def test_bands_are_of_the_predicted_mean():
    # sigma is right where the mean is 0.2 (band 2) and half of what it should be where it is 0.8 (band 8)
    model = Constant(sigmavae.likelihood("beta", beta=2 * 0.02**2, support="real"))
    mean = torch.full((1, 4, 5), 0.25)
    mean[:, 2:] = 0.85
    model.h.data = mean
    noise = np.random.default_rng(0).normal(size=(400, 1, 4, 5)) * np.where(mean.numpy() > 0.5, 0.04, 0.02)
    images = ((mean.numpy() + noise) * 255).round().astype(np.uint8)
    metrics = dict(calibration(model, images, 0, samples=1))
    bands = {name: value for name, value in metrics.items() if name.startswith("calibration_z_variance_band")}
    assert sorted(bands) == sorted(f"calibration_z_variance_band_{b}{end}" for b in (2, 8) for end in ("", "_stderr"))
    assert bands["calibration_z_variance_band_2"] == pytest.approx(
        1, abs=5 * bands["calibration_z_variance_band_2_stderr"]
    )
    assert bands["calibration_z_variance_band_8"] == pytest.approx(
        4, abs=5 * bands["calibration_z_variance_band_8_stderr"]
    )


def test_values_without_a_variance_do_not_count():
    few = dict(calibration(Known(Case("student-t")), random_images(20, (3, 3, 3)), 0, samples=2))
    assert 0 < few["calibration_z_share"] < 1
    none = dict(calibration(Constant(sigmavae.likelihood("student-t"), -9.0), random_images(20), 0, samples=2))
    assert not [name for name in none if name.startswith("calibration_z")]


def test_image_sigma_is_asked_before_it_sees_the_image():
    # Its own sigma would make every image's errors just as large as was said.
    model = Constant(sigmavae.likelihood("image-sigma"))
    model.likelihood.running.value.copy_(torch.tensor([np.log(0.05), np.log(0.05) ** 2]))
    metrics = dict(calibration(model, random_images(50), 0, samples=2))
    assert metrics["calibration_z_variance"] == pytest.approx(1 / 12 / 0.05**2, rel=0.1)


@pytest.mark.parametrize("name", ["optimal-sigma", "student-t", "logistic-mixture", "bernoulli"])
def test_batches_do_not_matter(name: str):
    model, data = small_vae(name), random_images(60, (1, 8, 8))
    whole, parts = (dict(calibration(model, data, 1, samples=30, batch=batch)) for batch in (250, 7))
    assert parts == pytest.approx(whole, rel=1e-3, abs=1e-4)


def test_the_same_seed_gives_the_same_numbers_and_the_model_is_left_alone():
    model, data = small_vae(), random_images(60, (1, 8, 8))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = dict(calibration(model, data, 5, samples=20))
    assert first == dict(calibration(model, data, 5, samples=20))
    assert first["calibration_error"] != dict(calibration(model, data, 6, samples=20))["calibration_error"]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_names_are_numbers_of_their_own():
    metrics = list(calibration(small_vae(), random_images(10, (1, 8, 8)), 0, samples=3))
    assert len({name for name, _ in metrics}) == len(metrics)
    assert all(np.isfinite(value) for _, value in metrics)


def across_processes() -> dict[str, float]:
    return dict(calibration(small_vae(), random_images(21, (1, 8, 8)), 2, samples=11, batch=4))


def test_two_processes_equal_one(tmp_path: Path):
    for found in in_two(across_processes, tmp_path):
        assert found == pytest.approx(across_processes(), rel=1e-3, abs=1e-4)
