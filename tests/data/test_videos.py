"""One's own videos: GIFs, films and folders of frames, side by side."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sigmavae.data.videos import locate, open_videos, read_video
from sigmavae.errors import DataError
from tests.data.files import any_config, film, gif, items, picture, pixels, smooth

CLIP = np.stack([smooth(24, 32, phase=t / 2) for t in range(6)])


def write_frames(folder: Path, video: np.ndarray) -> None:
    folder.mkdir(parents=True)
    for number, frame in enumerate(video):
        (folder / f"{number}.png").write_bytes(picture(frame))


def flat(*colours: int) -> np.ndarray:
    """Frames of one colour each, which a GIF's palette holds exactly."""
    return np.stack([np.full((8, 10, 3), colour, np.uint8) for colour in colours])


def test_a_gif_of_few_colours_is_read_exactly(tmp_path: Path):
    (tmp_path / "A.GIF").write_bytes(gif(flat(0, 100, 255)))
    assert np.array_equal(items(open_videos(locate(tmp_path), any_config()).parts["all"])[0], flat(0, 100, 255))
    assert np.array_equal(read_video(tmp_path / "A.GIF", any_config(frames=2)), flat(0, 100))


def test_a_gif_whose_frames_are_pieces_is_shown_whole(tmp_path: Path):
    frames = flat(50, 50, 50)
    frames[1:, 2:4, 3:5] = 200  # only these pixels are stored, and then none
    frames[2, 0, 0] = 100
    (tmp_path / "a.gif").write_bytes(gif(frames))
    assert np.array_equal(read_video(tmp_path / "a.gif", any_config()), frames)


def test_what_is_transparent_in_a_gif_is_white(tmp_path: Path):
    pictures = [Image.new("RGBA", (4, 4), (0, 0, 0, opaque)) for opaque in (0, 255)]
    file = io.BytesIO()
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], disposal=2)
    (tmp_path / "a.gif").write_bytes(file.getvalue())
    assert read_video(tmp_path / "a.gif", any_config())[:, 0, 0, 0].tolist() == [255, 0]


@pytest.mark.parametrize("name", ["a.mp4", "a.MOV", "a.avi", "a.mkv", "100% ünïcode: 'x'?.mp4"])
def test_films(name: str, tmp_path: Path):
    film(tmp_path / name, CLIP)
    video = items(open_videos(locate(tmp_path), any_config()).parts["all"])[0]
    assert video.shape == CLIP.shape
    assert np.abs(video.astype(int) - CLIP).mean() < 12
    assert read_video(tmp_path / name, any_config(frames=4)).shape == CLIP[:4].shape


def test_everything_below_a_folder_is_a_video_each(tmp_path: Path):
    write_frames(tmp_path / "b" / "2", CLIP)
    write_frames(tmp_path / "b" / "10", CLIP)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.gif").write_bytes(gif(CLIP))
    (tmp_path / "a" / "x.jpg").write_bytes(picture(CLIP[0], "JPEG"))  # a thumbnail
    (tmp_path / "a" / "y.jpg").write_bytes(picture(CLIP[0], "JPEG"))
    part = open_videos(locate(tmp_path), any_config()).parts["all"]
    names = [Path(part.name(i)).relative_to(tmp_path).as_posix() for i in range(part.count)]
    assert names == ["a/x.gif", "b/2", "b/10"]
    assert np.array_equal(part.read(1), CLIP)
    assert items(part).shape == (3, *CLIP.shape)


def test_one_file_is_a_video(tmp_path: Path):
    (tmp_path / "x.gif").write_bytes(gif(CLIP))
    assert locate(tmp_path / "x.gif") == [tmp_path / "x.gif"]
    (tmp_path / "x.png").write_bytes(picture(CLIP[0]))
    assert not locate(tmp_path / "x.png")


def test_top_folders_may_name_the_splits(tmp_path: Path):
    for split, count in (("train", 3), ("val", 1), ("test", 2)):
        for number in range(count):
            write_frames(tmp_path / split / str(number), CLIP)
    parts = open_videos(locate(tmp_path), any_config()).parts
    assert {name: part.count for name, part in parts.items()} == {"train": 3, "validation": 1, "test": 2}


@pytest.mark.parametrize("start", [False, True])
def test_a_cut_film_is_named(start: bool, tmp_path: Path):
    path = tmp_path / "a.mp4"
    film(path, CLIP, {"movflags": "faststart"} if start else {})
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, int(len(content) * 0.9)):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"a\.mp4: (cannot be read as a video \(.+\)|has no frames)"):
            read_video(path, any_config())


def test_a_cut_gif_is_named(tmp_path: Path):
    content = gif(CLIP)
    for length in (0, 10, len(content) // 2, int(len(content) * 0.9)):
        (tmp_path / "a.gif").write_bytes(content[:length])
        with pytest.raises(DataError, match=r"a\.gif: cannot be read as a video \(.+\)"):
            read_video(tmp_path / "a.gif", any_config())


def test_a_file_that_is_no_film_at_all_is_named(tmp_path: Path):
    (tmp_path / "a.mp4").write_bytes(b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n")
    with pytest.raises(DataError, match=r"a\.mp4: "):
        read_video(tmp_path / "a.mp4", any_config())
    (tmp_path / "b.webm").mkdir()
    assert locate(tmp_path) == [tmp_path / "a.mp4"]


def test_without_pyav_films_say_what_to_install_and_gifs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    film(tmp_path / "a.mp4", CLIP)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(DataError, match=r"need PyAV: pip install 'sigmavae\[video\]'"):
        open_videos(locate(tmp_path), any_config())
    (tmp_path / "a.gif").write_bytes(gif(flat(1, 2)))
    assert len(read_video(tmp_path / "a.gif", any_config())) == 2


def test_an_odd_sized_film_is_read(tmp_path: Path):
    odd = np.stack([smooth(18, 26, phase=t) for t in range(3)])
    film(tmp_path / "a.mp4", odd)
    assert read_video(tmp_path / "a.mp4", any_config()).shape == (3, 18, 26, 3)


def test_random_bytes_are_no_video(tmp_path: Path):
    for number in range(40):
        for ending, head in ((".gif", b"GIF89a"), (".mp4", b"\0\0\0\x18ftypmp42"), (".avi", b"RIFF")):
            path = tmp_path / f"{number}{ending}"
            path.write_bytes(head + pixels(400, seed=number).tobytes())
            with pytest.raises(DataError, match=f"{number}{ending}: "):
                read_video(path, any_config())
