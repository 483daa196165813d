"""The embedded images."""

import numpy as np
import pytest

from sigmavae.config import DataConfig
from sigmavae.data import load
from sigmavae.data.splits import held_out
from sigmavae.errors import ConfigError
from sigmavae.progress import Silent


def test_the_embedded_set_is_whole():
    splits = load(DataConfig(), Silent())
    assert splits.shape == (1, 28, 28)
    assert [len(splits.split(name)) for name in ("train", "validation", "test")] == [9000, 1000, 2000]
    for name in ("train", "validation", "test"):
        images = splits.split(name)
        assert images.dtype == np.uint8
        assert images.min() == 0
        assert images.max() == 255
        assert 60 < images.mean() < 85  # clothes on black
    assert "Fashion-MNIST" in splits.source


def test_no_image_is_in_two_splits():
    splits = load(DataConfig(), Silent())
    digests = [{image.tobytes() for image in splits.split(name)} for name in ("train", "validation", "test")]
    for i, one in enumerate(digests):
        for other in digests[i + 1 :]:
            assert not one & other


def test_held_out_is_a_seeded_partition():
    images = np.arange(100, dtype=np.uint8).reshape(100, 1, 1, 1)
    rest, chosen = held_out(images, 30)
    assert sorted([*rest.ravel(), *chosen.ravel()]) == list(range(100))
    assert len(chosen) == 30
    assert np.array_equal(chosen, held_out(images, 30)[1])
    assert not np.array_equal(chosen, held_out(images, 30, seed=1)[1])


def test_a_misspelt_set_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="data.name='fashon': did you mean 'fashion'"):
        load(DataConfig(name="fashon"), Silent())
