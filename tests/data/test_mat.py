"""SVHN and Frey Face, from MATLAB files."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from sigmavae.data import frey, svhn
from sigmavae.errors import DataError
from tests.data.files import any_config, items, pixels


def write_svhn(path: Path, images: np.ndarray, compressed: bool = True) -> Path:
    savemat(
        path, {"X": np.moveaxis(images, 0, -1), "y": np.ones((len(images), 1), np.uint8)}, do_compression=compressed
    )
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_svhn_in_its_two_files(compressed: bool, tmp_path: Path):
    train, test = pixels(4, 32, 32, 3), pixels(2, 32, 32, 3, seed=1)
    write_svhn(tmp_path / "train_32x32.mat", train, compressed)
    write_svhn(tmp_path / "test_32x32.mat", test, compressed)
    write_svhn(tmp_path / "extra_32x32.mat", test, compressed)
    source = svhn.open_svhn(svhn.locate(tmp_path), any_config())
    assert source.parts.keys() == {"train", "test"}
    assert np.array_equal(items(source.parts["train"]), train)
    assert np.array_equal(items(source.parts["test"]), test)


def test_svhn_in_one_file_has_no_split_and_says_so(tmp_path: Path):
    path = write_svhn(tmp_path / "test_32x32_first10000.mat", pixels(4, 32, 32, 3))
    for place in (path, tmp_path):
        source = svhn.open_svhn(svhn.locate(place), any_config())
        assert source.parts.keys() == {"all"}
        assert "test_32x32_first10000.mat alone" in source.about


def test_frey_faces_stand_upright(tmp_path: Path):
    images = pixels(6, 28, 20, 1)
    path = tmp_path / "frey_rawface.mat"
    savemat(path, {"ff": images.reshape(6, 560).T})
    for place in (path, tmp_path):
        assert np.array_equal(items(frey.open_frey(frey.locate(place), any_config()).parts["all"]), images)


def test_a_cut_or_changed_file_is_named(tmp_path: Path):
    path = write_svhn(tmp_path / "test_32x32.mat", pixels(4, 32, 32, 3))
    content = path.read_bytes()
    for length in [0, 1, 127, 128, 130, 200, len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"test_32x32\.mat: "):
            svhn.open_svhn([path], any_config())
    path.write_bytes(content[:300] + b"\xff" * 40 + content[340:])
    with pytest.raises(DataError, match=r"test_32x32\.mat: .*fetch it again"):
        svhn.open_svhn([path], any_config())


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"Y": pixels(2, 2)}, "has no variable 'X'"),
        ({"X": np.zeros((32, 32, 3, 2))}, "is float64"),
        ({"X": pixels(32, 32, 3)}, "not 8-bit values in 4 dimensions"),
        ({"X": pixels(28, 28, 3, 2)}, r"not \(32, 32, 3, images\)"),
    ],
)
def test_other_variables_are_refused(variables: dict, words: str, tmp_path: Path):
    savemat(tmp_path / "test_32x32.mat", variables)
    with pytest.raises(DataError, match=words):
        svhn.open_svhn([tmp_path / "test_32x32.mat"], any_config())
