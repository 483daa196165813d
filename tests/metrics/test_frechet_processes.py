"""Two processes see half of the images each and find the distances of one."""

from pathlib import Path

import pytest

from sigmavae.metrics.frechet import frechet
from tests.metrics.models import LinearGaussian, random_images
from tests.metrics.test_frechet import Pixels
from tests.processes import in_two


def measured() -> dict[str, float]:
    extractor = Pixels()
    model, data = LinearGaussian([0.3, 0.1], 0.1), random_images(61)
    metrics = dict(frechet(model, data, "shared", seed=3, samples=41, extractor=extractor, batch=8))
    return metrics | {"fid_images_per_second": 0, "seen": extractor.seen}


def twice() -> list[dict[str, float]]:
    return [measured(), measured()]


def test_two_processes_equal_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "two"))
    ranks = in_two(twice, tmp_path)
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "one"))
    want = measured() | {"seen": 0}
    for rank, seen in ((0, 31 + 21), (1, 30 + 20)):
        first, second = ranks[rank]
        assert first["seen"] == seen
        assert second["seen"] == seen - (31, 30)[rank]  # the real images' features are on disk by then
        for found in (first, second):
            assert found | {"seen": 0} == pytest.approx(want, rel=1e-9)
