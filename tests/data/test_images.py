"""Folders and zips of one's own images, and single pictures."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from sigmavae.data.images import locate, open_images
from sigmavae.data.picture import decode
from sigmavae.errors import DataError
from tests.data.files import any_config, items, picture, pixels, smooth, write_zip

fuzz = settings(max_examples=300, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])

GRAY, COLOUR = pixels(6, 8), pixels(6, 8, 3)


def put(folder: Path, **files: bytes) -> Path:
    """Write files; `a__b_png` is a/b.png."""
    for name, content in files.items():
        path = folder / (name.replace("__", "/")[::-1].replace("_", ".", 1)[::-1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read_all(path: Path, **fields):
    return open_images(locate(path), any_config(**fields)).parts


def test_pngs_are_read_exactly_and_in_order(tmp_path: Path):
    values = [pixels(5, 7, 3, seed=n) for n in range(4)]
    put(
        tmp_path,
        b_png=picture(values[2]),
        a__z_PNG=picture(values[0]),
        a_png=picture(values[1]),
        c__d__e_png=picture(values[3]),
    )
    put(tmp_path, notes_txt=b"no image", _png=b"hidden")
    found = [path.relative_to(tmp_path).as_posix() for path in locate(tmp_path)]
    assert found == ["a/z.PNG", "a.png", "b.png", "c/d/e.png"]
    assert np.array_equal(items(read_all(tmp_path)["all"]), np.stack([values[0], values[1], values[2], values[3]]))


@pytest.mark.parametrize(("kind", "options"), [("PNG", {}), ("JPEG", {"quality": 98}), ("WEBP", {"quality": 98})])
def test_every_format(kind: str, options: dict):
    values = smooth(48, 64)
    assert np.abs(decode(picture(values, kind, **options), "x").astype(int) - values).mean() < 3


def test_modes_become_gray_or_rgb():
    deep = (pixels(6, 8).astype(np.uint16) << 8) | 7
    assert np.array_equal(decode(picture(deep), "x")[..., 0], deep >> 8)
    assert np.array_equal(decode(picture(GRAY), "x")[..., 0], GRAY)
    assert np.array_equal(decode(picture(GRAY > 127), "x")[..., 0], np.where(GRAY > 127, 255, 0))
    see_through = np.dstack([COLOUR, np.zeros((6, 8), np.uint8)])
    assert np.array_equal(decode(picture(see_through), "x"), np.full((6, 8, 3), 255))
    opaque = np.dstack([COLOUR, np.full((6, 8), 255, np.uint8)])
    assert np.array_equal(decode(picture(opaque), "x"), COLOUR)
    palette = Image.fromarray(COLOUR).convert("P")
    assert np.array_equal(decode(picture(np.asarray(palette.convert("RGB"))), "x"), np.asarray(palette.convert("RGB")))


def test_a_photo_taken_sideways_stands_upright():
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was turned by 90 degrees
    content = picture(smooth(40, 60), "JPEG", quality=98, exif=turned)
    assert decode(content, "x").shape == (60, 40, 3)


def test_a_large_jpeg_decoded_small_shows_the_same():
    values = smooth(1200, 1600)
    content = picture(values, "JPEG", quality=95)
    small = decode(content, "x", side=32)
    assert 32 * 4 <= min(small.shape[:2]) < 1200
    expected = np.asarray(Image.fromarray(values).resize(small.shape[1::-1], Image.Resampling.BOX))
    assert np.abs(small.astype(int) - expected).mean() < 2


def test_top_folders_may_name_the_splits(tmp_path: Path):
    put(tmp_path, train__a_png=picture(COLOUR), train__b_png=picture(COLOUR), Test__c_png=picture(COLOUR))
    assert {name: part.count for name, part in read_all(tmp_path).items()} == {"train": 2, "test": 1}
    put(tmp_path, val__d_png=picture(COLOUR))
    assert {name: part.count for name, part in read_all(tmp_path).items()} == {"train": 2, "test": 1, "validation": 1}
    put(tmp_path, loose_png=picture(COLOUR))
    assert read_all(tmp_path)["all"].count == 5


def test_odd_names_and_links(tmp_path: Path):
    put(tmp_path, **{"d.png__x_JPG": picture(COLOUR, "JPEG"), "Grüße 東京_png": picture(COLOUR)})
    put(tmp_path, **{".thumbs__y_png": b"x"})
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere.png").symlink_to(tmp_path / "nothing")
    (tmp_path / "itself.png").symlink_to(tmp_path / "itself.png")
    part = read_all(tmp_path)["all"]
    assert [Path(part.name(i)).name for i in range(part.count)] == [
        "Grüße 東京.png", "x.JPG", "itself.png", "nowhere.png",
    ]  # fmt: skip
    assert part.read(0).shape == part.read(1).shape == (6, 8, 3)
    for i in (2, 3):
        with pytest.raises(DataError, match=r"(itself|nowhere)\.png: cannot be read"):
            part.read(i)


def test_an_image_of_one_pixel(tmp_path: Path):
    values = np.full((1, 1, 3), [10, 20, 30], np.uint8)
    assert np.array_equal(read_all(put(tmp_path, a_png=picture(values)), size=4)["all"].read(0), values)


def test_a_folder_all_inside_of_train_is_not_split(tmp_path: Path):
    put(tmp_path, train__a_png=picture(COLOUR), train__b_png=picture(COLOUR))
    assert read_all(tmp_path).keys() == {"all"}


def test_gray_folders_stay_gray_and_mixed_ones_become_rgb(tmp_path: Path):
    put(tmp_path, a_png=picture(GRAY), b_png=picture(GRAY))
    assert items(read_all(tmp_path)["all"]).shape == (2, 6, 8, 1)
    put(tmp_path, c_png=picture(COLOUR))
    mixed = items(read_all(tmp_path)["all"])
    assert mixed.shape == (3, 6, 8, 3)
    assert np.array_equal(mixed[0], np.repeat(GRAY[..., None], 3, axis=-1))


def test_a_late_colour_picture_among_gray_ones_is_named(tmp_path: Path):
    for number in range(300):
        put(tmp_path, **{f"p{number:03}_png": picture(GRAY[:2, :2])})
    put(tmp_path, p001_png=picture(COLOUR[:2, :2]))  # every second header is looked at
    part = read_all(tmp_path)["all"]
    with pytest.raises(DataError, match=r"p001\.png: is in colour.*--data\.channels 3"):
        part.read(1)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_picture_is_named(kind: str):
    content = picture(smooth(40, 40), kind)
    for length in (0, 1, 10, len(content) // 2):
        with pytest.raises(DataError, match=r"^bad\.file: cannot be read as a picture \(.+\)$"):
            decode(content[:length], "bad.file")
    with pytest.raises(DataError, match=r"bad\.file"):
        decode(b"\xff" * 100, "bad.file")


def test_a_zip_is_read_without_being_unpacked(tmp_path: Path):
    path = write_zip(
        tmp_path / "photos.zip", {"p/b.png": picture(COLOUR), "__MACOSX/p/._b.png": b"x", "p/a.png": picture(COLOUR)}
    )
    part = read_all(path)["all"]
    assert [part.name(i) for i in range(part.count)] == ["p/a.png", "p/b.png"]
    assert np.array_equal(part.read(1), COLOUR)
    assert [file.name for file in tmp_path.iterdir()] == ["photos.zip"]


@pytest.mark.parametrize("top", ["", "photos/", "./a/b/"])
def test_folders_of_a_zip_name_the_splits_as_those_of_a_folder_do(top: str, tmp_path: Path):
    names = ["train/a.png", "train/cat/b.png", "test/c.png"]
    path = write_zip(tmp_path / "photos.zip", {f"{top}{name}": picture(COLOUR) for name in names})
    assert {name: part.count for name, part in read_all(path).items()} == {"train": 2, "test": 1}


@pytest.mark.parametrize("name", ["../x.png", "/etc/x.png", "a/../../x.png", "..\\x.png", "C:\\x.png"])
def test_a_zip_that_reaches_outside_is_refused(name: str, tmp_path: Path):
    path = write_zip(tmp_path / "evil.zip", {"good.png": picture(COLOUR), name: picture(COLOUR)})
    with pytest.raises(DataError, match=r"evil\.zip: holds .* outside of itself"):
        locate(path)


def test_a_damaged_zip_is_named(tmp_path: Path):
    path = write_zip(tmp_path / "photos.zip", {f"{n}.png": picture(COLOUR) for n in range(3)})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"photos\.zip: is no whole zip"):
        locate(path)
    path.write_bytes(content.replace(picture(COLOUR)[40:60], b"\0" * 20, 1))
    with pytest.raises(DataError, match=r"0\.png in .*photos\.zip: cannot be read"):
        items(read_all(path)["all"])


def test_a_damaged_member_of_a_zip_spoils_only_itself(tmp_path: Path):
    path = write_zip(tmp_path / "PHOTOS.ZIP", {f"{n}.png": picture(pixels(6, 8, 3, seed=n)) for n in range(2)})
    path.write_bytes(path.read_bytes().replace(picture(pixels(6, 8, 3, seed=0))[40:60], b"\0" * 20, 1))
    part = read_all(path)["all"]
    with pytest.raises(DataError, match=r"0\.png in .*PHOTOS\.ZIP: cannot be read"):
        part.read(0)
    assert np.array_equal(part.read(1), pixels(6, 8, 3, seed=1))


@pytest.mark.parametrize("name", ["", ".", "./", "10:30.txt"])
def test_a_zip_may_hold_odd_names(name: str, tmp_path: Path):
    path = write_zip(tmp_path / "photos.zip", {name or "x": b"", "good.png": picture(COLOUR)})
    if not name:
        path.write_bytes(path.read_bytes().replace(b"x", b"\0"))  # a name of nothing
    assert read_all(path)["all"].count == 1


@fuzz
@given(
    changes=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 10**4),
)
def test_damaged_zips_raise_only_the_readers_own_error(changes: list[tuple[int, int]], cut: int, tmp_path: Path):
    path = write_zip(tmp_path / "photos.zip", {f"{n}.png": picture(GRAY) for n in range(2)})
    content = bytearray(path.read_bytes())
    for place, value in changes:
        content[-1 - place % len(content)] = value  # the directory is at the end
    path.write_bytes(content[: max(1, len(content) - cut % 3)])
    try:
        files = locate(path)
        part = open_images(files, any_config()).parts["all"] if files else None
        for i in range(part.count if part else 0):
            part.read(i)
    except DataError:
        return
