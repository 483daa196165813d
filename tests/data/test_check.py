"""What a path holds, said without writing anything."""

from pathlib import Path

import numpy as np
import pytest

from sigmavae.data.check import check
from sigmavae.errors import DataError
from tests.data.files import gif, picture, pixels, trajectory, write_idx
from tests.data.heard import Heard
from tests.data.real import real


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.png").write_bytes(picture(pixels(6, 8, 3, seed=number) // 2 + 10))
    return folder


def test_what_is_good_is_counted(photos: Path):
    heard = Heard()
    found = check(photos, None, None, heard)
    assert (found.known.name, found.others) == ("images", ["videos"])
    assert found.found == {"all": 20}
    assert found.splits == {"train": 16, "validation": 2, "test": 2}
    assert found.made == ["split at random (seed 0) into 16, 2 and 2"]
    assert found.shapes == {(6, 8, 3): 20}
    values = [pixels(6, 8, 3, seed=number) // 2 + 10 for number in range(20)]
    assert (found.low, found.high) == (np.min(values), np.max(values))
    assert (found.bad, found.reasons) == (0, [])
    assert found.remedies() == []
    assert heard.begun == [("checking photos", 20, 0)]
    assert heard.steps[-1] == (20, {})


def test_what_is_bad_is_counted_and_the_first_named(photos: Path):
    for number in range(4, 18):
        (photos / f"{number:02}.png").write_bytes(b"damaged")
    found = check(photos, None, None, Heard())
    assert found.bad == 14
    assert len(found.reasons) == 10
    assert all(".png: cannot be read as a picture" in reason for reason in found.reasons)
    assert sum(found.shapes.values()) == 6


def test_unlike_shapes_come_with_the_options_that_make_them_alike(photos: Path):
    (photos / "00.png").write_bytes(picture(pixels(6, 9, 3)))
    found = check(photos, None, None, Heard())
    assert list(found.shapes.items()) == [((6, 8, 3), 19), ((6, 9, 3), 1)]
    assert found.first[6, 9, 3].endswith("00.png")
    assert found.remedies() == ["--data.size 64"]
    assert check(photos, None, 4, Heard()).shapes == {(4, 4, 3): 20}


def test_videos_of_unlike_lengths_are_cut_to_the_shortest(tmp_path: Path):
    for number, length in enumerate((4, 6, 5)):
        frames = np.stack([np.full((8, 8, 3), 10 * t, np.uint8) for t in range(length)])
        (tmp_path / f"{number}.gif").write_bytes(gif(frames))
    found = check(tmp_path, None, None, Heard())
    assert found.known.name == "videos"
    assert found.remedies() == ["--data.frames 4"]


def test_a_name_chooses_among_what_fits(photos: Path):
    for number in range(20):
        (photos / str(number % 4)).mkdir(exist_ok=True)
        (photos / f"{number:02}.png").rename(photos / str(number % 4) / f"{number}.png")
    assert check(photos, None, None, Heard()).shapes == {(6, 8, 3): 20}
    assert check(photos, "videos", None, Heard()).shapes == {(5, 6, 8, 3): 4}


def test_nothing_is_written(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "cache"))
    before = sorted(tmp_path.rglob("*"))
    check(photos, None, None, Heard())
    assert sorted(tmp_path.rglob("*")) == before


def test_the_folder_one_is_in_has_a_name(photos: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(photos)
    assert check(Path(), None, None, Heard()).about == "images of photos"


def test_every_kind_is_recognised(tmp_path: Path):
    content = trajectory(pixels(2, 64, 64, 3))
    for split in ("train", "test"):
        (tmp_path / "bair" / split).mkdir(parents=True)
        (tmp_path / "bair" / split / "x.tfrecords").write_bytes(content * 2)
    (tmp_path / "mnist").mkdir()
    write_idx(tmp_path / "mnist", pixels(4, 28, 28), pixels(2, 28, 28))
    np.save(tmp_path / "x.npy", pixels(5, 4, 4))
    for place, name, shape in (("bair", "bair", (2, 64, 64, 3)), ("mnist", "mnist", (28, 28, 1)),
                               ("x.npy", "arrays", (4, 4, 1))):  # fmt: skip
        found = check(tmp_path / place, None, None, Heard())
        assert (found.known.name, list(found.shapes)) == (name, [shape])


@pytest.mark.parametrize("name", ["nothing", "empty", "text.txt", "x" * 300])
def test_what_is_no_data_set_is_said(name: str, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    with pytest.raises(DataError, match=rf"{name}: (there is no such|holds nothing|cannot be read)"):
        check(tmp_path / name, None, None, Heard())


@pytest.mark.parametrize(
    ("place", "name", "splits", "shapes"),
    [
        ("mnist", "mnist", {"train": 60_000, "test": 10_000}, [(28, 28, 1)]),
        ("svhn", "svhn", {"all": 10_000}, [(32, 32, 3)]),
        ("freyface", "frey", {"all": 1965}, [(28, 20, 1)]),
        ("bair/savp_groundtruth_8seq_gifquantised.npz", "bair", {"all": 8}, [(30, 64, 64, 3)]),
    ],
)
def test_real_sets(place: str, name: str, splits: dict[str, int], shapes: list[tuple[int, ...]]):
    found = check(real(place), None, None, Heard())
    assert (found.known.name, found.found, list(found.shapes), found.bad) == (name, splits, shapes, 0)
    assert 0 <= found.low < 10
    assert 230 < found.high <= 255
