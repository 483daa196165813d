"""Frey Face: columns of a MATLAB matrix that are pictures."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from sigmavae.data.frey import locate, open_frey
from sigmavae.errors import DataError
from tests.data.files import any_config, items, likeness, pixels
from tests.data.real import real


def test_faces_stand_upright(tmp_path: Path):
    images = pixels(6, 28, 20, 1)
    path = tmp_path / "frey_rawface.mat"
    savemat(path, {"ff": images.reshape(6, 560).T})
    for place in (path, tmp_path):
        assert np.array_equal(items(open_frey(locate(place), any_config()).parts["all"]), images)


def test_another_file_is_not_frey_face(tmp_path: Path):
    savemat(tmp_path / "faces.mat", {"ff": pixels(560, 4)})
    assert not locate(tmp_path)
    assert not locate(tmp_path / "faces.mat")
    (tmp_path / "frey_rawface.mat").mkdir()
    assert not locate(tmp_path)


@pytest.mark.parametrize("shape", [(784, 4), (4, 560)])
def test_another_shape_is_refused(shape: tuple[int, int], tmp_path: Path):
    path = tmp_path / "frey_rawface.mat"
    savemat(path, {"ff": pixels(*shape)})
    with pytest.raises(DataError, match=r"frey_rawface\.mat: 'ff' is .*, not \(560, images\)"):
        open_frey([path], any_config())


def test_a_cut_file_is_named(tmp_path: Path):
    path = tmp_path / "frey_rawface.mat"
    savemat(path, {"ff": pixels(560, 4)})
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"frey_rawface\.mat: is no whole MATLAB 5 file.*fetch it again"):
        open_frey([path], any_config())


def test_real_faces_are_frames_of_one_film():
    images = items(open_frey(locate(real("freyface")), any_config()).parts["all"])
    assert images.shape == (1965, 28, 20, 1)
    assert min(likeness(images, axis) for axis in (0, 1, 2)) > 0.7  # the next face, row and column
