"""SVHN: two MATLAB files, or one of them alone."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from sigmavae.data.svhn import locate, open_svhn
from sigmavae.errors import DataError
from tests.data.files import any_config, items, likeness, pixels
from tests.data.real import real


def write(path: Path, images: np.ndarray, compressed: bool = True) -> Path:
    labels = np.ones((len(images), 1), np.uint8)
    savemat(path, {"X": np.moveaxis(images, 0, -1), "y": labels}, do_compression=compressed)
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_the_two_files_are_its_splits(compressed: bool, tmp_path: Path):
    train, test = pixels(4, 32, 32, 3), pixels(2, 32, 32, 3, seed=1)
    write(tmp_path / "train_32x32.mat", train, compressed)
    write(tmp_path / "test_32x32.mat", test, compressed)
    write(tmp_path / "extra_32x32.mat", test, compressed)
    source = open_svhn(locate(tmp_path), any_config())
    assert source.parts.keys() == {"train", "test"}
    assert np.array_equal(items(source.parts["train"]), train)
    assert np.array_equal(items(source.parts["test"]), test)


def test_one_file_has_no_split_and_says_so(tmp_path: Path):
    path = write(tmp_path / "test_32x32_first10000.mat", pixels(4, 32, 32, 3))
    for place in (path, tmp_path):
        source = open_svhn(locate(place), any_config())
        assert source.parts.keys() == {"all"}
        assert "test_32x32_first10000.mat alone" in source.about


def test_other_files_are_not_svhn(tmp_path: Path):
    (tmp_path / "test_32x32.mat").mkdir()
    write(tmp_path / "digits.mat", pixels(2, 32, 32, 3))
    assert not locate(tmp_path)
    assert not locate(tmp_path / "digits.mat")


def test_images_of_another_size_are_refused(tmp_path: Path):
    path = write(tmp_path / "test_32x32.mat", pixels(2, 28, 28, 3))
    with pytest.raises(DataError, match=r"test_32x32\.mat: 'X' is \(28, 28, 3, 2\), not \(32, 32, 3, images\)"):
        open_svhn([path], any_config())


def test_a_cut_file_is_named(tmp_path: Path):
    path = write(tmp_path / "test_32x32.mat", pixels(4, 32, 32, 3))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"test_32x32\.mat: is no whole MATLAB 5 file.*fetch it again"):
        open_svhn([path], any_config())


def test_real_digits_are_upright_colour_pictures():
    images = items(open_svhn(locate(real("svhn")), any_config()).parts["all"])
    assert images.shape == (10_000, 32, 32, 3)
    assert min(likeness(images[:1000], axis) for axis in (1, 2, 3)) > 0.9
    assert likeness(images[:1000], 1) > likeness(images[:1000], 2)  # strokes of digits stand more than they lie
