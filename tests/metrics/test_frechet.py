"""The Frechet distance, where its answer is known, and the metric over features that need no network."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import torch

import sigmavae
from sigmavae.data.cache import cache_folder
from sigmavae.errors import MetricError
from sigmavae.metrics.frechet import eight_bits, frechet, frechet_distance, protocol
from sigmavae.metrics.kernel import kernel_distance
from sigmavae.metrics.moments import Moments
from tests.metrics.models import Constant, LinearGaussian, random_images
from tests.metrics.test_moments import features, moments


class Pixels:
    """The pixels themselves as features; counts the images that it has seen."""

    width = 20

    def __init__(self, identity: str = "pixels") -> None:
        self.identity, self.seen = identity, 0

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        assert images.dtype == torch.uint8
        self.seen += len(images)
        return images.flatten(1).float() / 255


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "cache"))


def known(mean: torch.Tensor, covariance: torch.Tensor) -> Moments:
    found = Moments(len(mean), 2)
    found.mean, found.scatter = mean.double(), covariance.double()  # of two: divided by one
    return found


def measured(**options) -> dict[str, float]:
    options = {"seed": 3, "samples": 40, "extractor": Pixels(), "fingerprint": "random-test"} | options
    metrics = dict(frechet(LinearGaussian([0.3, 0.1], 0.1), random_images(60), **options))
    del metrics["fid_images_per_second"]
    return metrics


@pytest.mark.parametrize("width", [2, 30])
def test_the_formula_of_others(width: int):
    a, b = features(300, width, seed=1), 1.3 * features(400, width, seed=2) + 0.2
    covariances = [np.cov(values.numpy().T) for values in (a, b)]
    root = scipy.linalg.sqrtm(covariances[0] @ covariances[1]).real
    gap = (a.mean(0) - b.mean(0)).square().sum()
    want = float(gap) + np.trace(covariances[0] + covariances[1] - 2 * root)
    assert frechet_distance(moments(a), moments(b)) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("count", [200, 4])
def test_equal_sets_are_no_distance_apart(count: int):
    # Four features of seven dimensions have a singular covariance.
    m = moments(features(count))
    assert frechet_distance(m, m) == pytest.approx(0, abs=1e-12 * float(m.covariance.trace()) * 7)


@pytest.mark.parametrize("count", [200, 4])
def test_a_shift_is_its_squared_length(count: int):
    values, shift = features(count), torch.linspace(-1, 2, 7).double()
    assert frechet_distance(moments(values), moments(values + shift)) == pytest.approx(float(shift.square().sum()))


@pytest.mark.parametrize("count", [200, 4])
def test_a_scale_costs_its_square_of_the_variance(count: int):
    # (1 - s)^2 tr C, about the mean
    values = features(count)
    centred = values - values.mean(0)
    want = 0.25 * float(moments(values).covariance.trace())
    assert frechet_distance(moments(centred), moments(1.5 * centred)) == pytest.approx(want, rel=1e-10)


def test_disjoint_directions_have_no_overlap():
    # The distance of N(0, diag(1, 0)) and N(0, diag(0, 4)) is the sum of the traces.
    zero = torch.zeros(2)
    a, b = known(zero, torch.diag(torch.tensor([1.0, 0.0]))), known(zero, torch.diag(torch.tensor([0.0, 4.0])))
    assert frechet_distance(a, b) == pytest.approx(5)


def test_a_point_is_at_the_distance_of_the_spread():
    a, b = known(torch.zeros(3), torch.zeros(3, 3)), known(torch.ones(3), torch.eye(3))
    assert frechet_distance(a, b) == pytest.approx(6)


def test_it_is_symmetric():
    a, b = moments(features(5, seed=1)), moments(2 * features(100, seed=2))
    assert frechet_distance(a, b) == pytest.approx(frechet_distance(b, a), rel=1e-12)


def test_of_a_model_that_makes_one_image():
    data = random_images(50)
    model = Constant(sigmavae.likelihood("gaussian", support="real"), 0.5)
    metrics = dict(frechet(model, data, "one", seed=0, samples=30, extractor=Pixels()))
    real = data.reshape(50, 20) / 255
    want = ((real.mean(0) - 128 / 255) ** 2).sum() + real.var(0, ddof=1).sum()  # 127.5 is rounded to even
    assert metrics["fid"] == pytest.approx(want, rel=1e-5)
    assert (metrics["fid_samples"], metrics["fid_images"]) == (30, 50)
    kid = kernel_distance(torch.full((30, 20), 128 / 255), torch.from_numpy(real))
    assert (metrics["kid"], metrics["kid_stderr"]) == pytest.approx(kid, rel=1e-4)
    assert metrics["fid_images_per_second"] > 0


def test_batches_do_not_matter():
    whole = measured(batch=1000)
    assert measured(batch=7, fingerprint="again") == pytest.approx(whole, rel=1e-6)
    assert measured(batch=1, fingerprint="and again") == pytest.approx(whole, rel=1e-6)


def test_the_seed_decides():
    assert measured() == measured()
    assert measured()["fid"] != measured(seed=4)["fid"]


def test_more_samples_begin_with_the_fewer():
    few, many = Recorder(), Recorder()
    measured(extractor=few)
    measured(extractor=many, samples=45)
    assert torch.equal(torch.cat(few.images)[60:], torch.cat(many.images)[:40])  # real images come first, once


class Recorder(Pixels):
    """Keeps what it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.images: list[torch.Tensor] = []

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        self.images.append(images)
        return super().__call__(images)


def test_real_images_are_seen_once():
    first, second = Pixels(), Pixels()
    metrics = measured(extractor=first)
    assert measured(extractor=second) == metrics
    assert (first.seen, second.seen) == (100, 40)
    for options in ({"fingerprint": "another-test"}, {"extractor": Pixels("other pixels")}):
        extractor = options.setdefault("extractor", Pixels())
        measured(**options)
        assert extractor.seen == 100


def test_damaged_statistics_are_computed_again():
    metrics = measured()
    (file,) = (cache_folder() / "features").glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:100])
    assert measured() == metrics
    again = Pixels()
    measured(extractor=again)
    assert again.seen == 40


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    metrics = measured()
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "file"))
    assert measured() == metrics


def test_of_large_sets_some_are_kept(monkeypatch: pytest.MonkeyPatch):
    whole = measured()
    monkeypatch.setattr("sigmavae.metrics.features.KEPT", 25)
    some = measured()
    assert some["fid"] == whole["fid"]
    assert some["kid"] != whole["kid"]
    assert some["kid_stderr"] > whole["kid_stderr"]


def test_every_level_survives_the_eight_bits():
    levels = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(eight_bits(levels.float() / 255), levels)
    assert eight_bits(torch.tensor([-0.1, 1.2, 0.0019, 0.0020])).tolist() == [0, 255, 0, 1]


def test_errors_in_a_line():
    with pytest.raises(MetricError, match=r"^FID needs 3 images and samples or more, .* there are 2 samples"):
        measured(samples=2)
    with pytest.raises(MetricError, match="mean is not finite"):
        eight_bits(torch.tensor([0.5, float("nan")]))


def test_the_protocol_is_a_sentence_of_all_that_matters():
    sentence = protocol(10_000, 8_000, "validation", "pixels, 20 of them")
    for part in ("10,000 samples", "8,000 real", "validation split", "decoder's mean", "8 bits", "pixels, 20 of them"):
        assert part in sentence
