"""Folders of frames: in the order of their numbers, and all of a video alike."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigmavae.data import frames
from sigmavae.data.frames import folders, frames_of, join, locate, natural, read_frames
from sigmavae.errors import DataError
from tests.data.files import any_config, picture, pixels

FRAMES = pixels(12, 5, 7, 3)


def write(folder: Path, images: np.ndarray = FRAMES, name: str = "{}.png") -> Path:
    folder.mkdir(parents=True)
    for number, image in enumerate(images):
        (folder / name.format(number)).write_bytes(picture(image))
    return folder


@given(st.lists(st.integers(0, 10**6), unique=True), st.sampled_from(["{}", "frame{}.png", "a{}b2", "{}_10"]))
def test_natural_order_is_that_of_the_numbers(numbers: list[int], name: str):
    expected = [name.format(number) for number in sorted(numbers)]
    assert sorted((name.format(number) for number in numbers), key=natural) == expected


@given(st.lists(st.text(max_size=8), max_size=8))
def test_any_names_have_one_order(names: list[str]):
    assert sorted(sorted(names), key=natural) == sorted(sorted(names, reverse=True), key=natural)


def test_frames_are_read_in_the_order_of_their_numbers(tmp_path: Path):
    files = locate(write(tmp_path / "a"))
    assert [file.stem for file in files] == [str(number) for number in range(12)]
    assert np.array_equal(read_frames(files, "a", any_config()), FRAMES)
    assert np.array_equal(read_frames(files, "a", any_config(frames=3)), FRAMES[:3])


def test_every_folder_is_looked_into_but_hidden_ones(tmp_path: Path):
    for name in ("b/c", ".git", "__MACOSX", "lost+found", "a10", "a9"):
        write(tmp_path / name, FRAMES[:2])
    write(tmp_path / "one", FRAMES[:1])
    (tmp_path / "a9" / "._0.png").write_bytes(b"hidden")
    (tmp_path / "a9" / "notes.txt").write_bytes(b"no frame")
    (tmp_path / "a9" / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = [file.relative_to(tmp_path).as_posix() for file in locate(tmp_path)]
    assert found == ["a9/0.png", "a9/1.png", "a10/0.png", "a10/1.png", "b/c/0.png", "b/c/1.png"]
    assert sum(len(files) for files in folders(tmp_path)) == 8


def test_one_image_is_no_video(tmp_path: Path):
    assert not frames_of([tmp_path / "a.png", tmp_path / "b.txt"])
    assert frames_of([tmp_path / "a.PNG", tmp_path / "b.webp"])


def test_a_gray_frame_of_a_colour_video_becomes_one(tmp_path: Path):
    write(tmp_path / "a", FRAMES[:2])
    (tmp_path / "a" / "1.png").write_bytes(picture(FRAMES[1, ..., 0]))
    video = read_frames(locate(tmp_path / "a"), "a", any_config())
    assert np.array_equal(video, np.stack([FRAMES[0], np.repeat(FRAMES[1, ..., :1], 3, axis=-1)]))


def test_what_is_wrong_with_a_video_is_said(tmp_path: Path):
    files = locate(write(tmp_path / "a"))
    with pytest.raises(DataError, match=r"^a: has 12 frames, fewer than --data\.frames 13$"):
        read_frames(files, "a", any_config(frames=13))
    files[5].write_bytes(picture(pixels(5, 6, 3)))
    with pytest.raises(DataError, match=r"^a: has frames of different sizes, 5 x 6 and 5 x 7$"):
        read_frames(files, "a", any_config())
    assert read_frames(files, "a", any_config(frames=5)).shape == (5, 5, 7, 3)
    files[3].write_bytes(files[3].read_bytes()[:60])
    with pytest.raises(DataError, match=r"a/3\.png: cannot be read as a picture"):
        read_frames(files, "a", any_config())
    with pytest.raises(DataError, match=r"^b: has no frames that can be read; remove it$"):
        join([], "b", any_config())


def test_a_video_larger_than_memory_stops_before_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(frames, "LARGEST", 10 * FRAMES[0].nbytes)
    seen = []
    endless = (seen.append(frame) or frame for _ in range(10**9) for frame in FRAMES)
    with pytest.raises(DataError, match=r"--data\.frames 16"):
        join(endless, "a", any_config())
    assert len(seen) == 11
