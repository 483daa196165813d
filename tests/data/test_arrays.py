"""One's own arrays: every layout and type that can be meant, and words for those that cannot."""

from pathlib import Path

import numpy as np
import pytest

from sigmavae.data.arrays import locate, open_arrays, part_of
from sigmavae.errors import DataError
from tests.data.files import any_config, items, pixels, write_zip

IMAGES = pixels(5, 6, 7, 3)
VIDEOS = pixels(4, 5, 6, 7, 3)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (IMAGES, IMAGES),
        (np.moveaxis(IMAGES, -1, 1), IMAGES),
        (IMAGES[..., 0], IMAGES[..., :1]),
        (IMAGES[:, None, ..., 0], IMAGES[..., :1]),
        (VIDEOS, VIDEOS),
        (np.moveaxis(VIDEOS, -1, 2), VIDEOS),
        (IMAGES.astype(np.int64), IMAGES),
        (np.asfortranarray(IMAGES), IMAGES),
        (IMAGES / np.float32(255), IMAGES),
        (IMAGES / 255, IMAGES),
        (IMAGES > 127, np.where(IMAGES > 127, 255, 0)),
    ],
)
def test_layouts_and_types(array: np.ndarray, expected: np.ndarray):
    read = items(part_of(array, "x", any_config()))
    assert read.dtype == np.uint8
    assert np.array_equal(read, expected)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (pixels(3, 3), "has shape"),
        (pixels(3, 4, 5, 6), "has shape"),
        (pixels(0, 4, 4, 3), "has shape"),
        (pixels(2, 2, 4, 5, 6), "has shape"),
        (np.zeros((2, 4, 4), np.complex64), "is complex64"),
        (np.full((2, 4, 4), 1.5), r"x: image 0 has values from 1.5 to 1.5: float64 must lie in \[0, 1\]"),
        (np.full((2, 4, 4), -0.1), "has values from -0.1"),
        (np.full((2, 4, 4), np.nan), "has values from nan"),
        (np.full((2, 4, 4), 256), r"int64 must lie in \[0, 255\]"),
        (np.full((2, 4, 4), -1), "has values from -1"),
    ],
)
def test_what_cannot_be_meant_is_said(array: np.ndarray, words: str):
    with pytest.raises(DataError, match=words):
        items(part_of(array, "x", any_config()))


def test_videos_are_cut_to_the_frames_asked_for():
    assert np.array_equal(items(part_of(VIDEOS, "x", any_config(frames=2))), VIDEOS[:, :2])
    with pytest.raises(DataError, match=r"videos of 5 frames, fewer than --data\.frames 6"):
        part_of(VIDEOS, "x", any_config(frames=6))


def test_files_in_every_arrangement(tmp_path: Path):
    np.save(tmp_path / "x.npy", IMAGES)
    for place in (tmp_path, tmp_path / "x.npy"):
        assert np.array_equal(items(open_arrays(locate(place), any_config()).parts["all"]), IMAGES)
    np.save(tmp_path / "train.npy", IMAGES)
    np.save(tmp_path / "test.npy", IMAGES[:2])
    parts = open_arrays(locate(tmp_path), any_config()).parts
    assert {name: part.count for name, part in parts.items()} == {"train": 5, "test": 2}
    np.savez_compressed(tmp_path / "y.npz", train=IMAGES, validation=IMAGES[:1], test=IMAGES[:2], labels=np.arange(3))
    parts = open_arrays(locate(tmp_path / "y.npz"), any_config()).parts
    assert {name: part.count for name, part in parts.items()} == {"train": 5, "validation": 1, "test": 2}
    np.savez(tmp_path / "z.npz", frames=VIDEOS, names=np.array(["a"]))
    assert np.array_equal(items(open_arrays([tmp_path / "z.npz"], any_config()).parts["all"]), VIDEOS)


def test_a_large_file_is_mapped_rather_than_read(tmp_path: Path):
    np.save(tmp_path / "x.npy", IMAGES)
    part = open_arrays([tmp_path / "x.npy"], any_config()).parts["all"]
    assert not part.read(0).flags.owndata


def test_an_archive_of_unknown_names_lists_them(tmp_path: Path):
    np.savez(tmp_path / "y.npz", first=IMAGES, second=IMAGES)
    with pytest.raises(DataError, match="holds first, second; call one of them images"):
        open_arrays([tmp_path / "y.npz"], any_config())


@pytest.mark.parametrize("save", [np.save, lambda path, x: np.savez_compressed(path, images=x)])
def test_a_cut_file_is_named(save, tmp_path: Path):
    path = tmp_path / ("x.npy" if save is np.save else "x.npz")
    save(path, IMAGES)
    content = path.read_bytes()
    for length in (0, 5, 40, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=rf"{path.name}: is .*save it again"):
            open_arrays([path], any_config())


def test_endings_may_be_upper_case_but_not_wrong(tmp_path: Path):
    np.save(tmp_path / "x.npy", IMAGES)
    (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    (tmp_path / "folder.npy").mkdir()
    assert np.array_equal(items(open_arrays(locate(tmp_path), any_config()).parts["all"]), IMAGES)
    (tmp_path / "X.NPY").rename(tmp_path / "x.npz")
    with pytest.raises(DataError, match=r"x\.npz: is damaged .*save it again"):
        open_arrays(locate(tmp_path), any_config())
    np.savez(tmp_path / "x.npz", images=IMAGES)
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    with pytest.raises(DataError, match=r"x\.npy: is no whole file of plain arrays"):
        open_arrays(locate(tmp_path), any_config())


def test_an_archive_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match=r"has shape \(\)"):
        open_arrays([write_zip(tmp_path / "x.npz", {"images": b"text"})], any_config())


def test_pickled_objects_are_not_loaded(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"x\.npy: is no whole file of plain arrays"):
        open_arrays([tmp_path / "x.npy"], any_config())
