"""`sigmavae train` with bad input: one line that names file and remedy, exit code 2, and nothing half-written."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from sigmavae.cli import main
from tests.data.files import (
    binary_batch,
    film,
    gif,
    idx,
    picture,
    pixels,
    python_batch,
    smooth,
    trajectory,
    write_idx,
    write_tar,
    write_zip,
)  # fmt: skip

PHOTO = picture(smooth(40, 50), "JPEG", quality=95)
SMALL = ["--model.width", "4", "--model.latent", "2", "--train.steps", "1", "--train.batch", "4"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def train(tmp_path: Path, recipe: str, path: str | Path, *words: str) -> int:
    out = ["--out", str(tmp_path / "run")]
    return main(["train", f"{recipe}-optimal", "--data.path", str(path), *SMALL, *words, *out])


def photos(folder: Path, count: int = 12) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number:02}.jpg").write_bytes(PHOTO)
    return folder


def cifar(folder: Path, layout: Callable[[np.ndarray], bytes] = binary_batch) -> Path:
    folder.mkdir()
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        (folder / f"{name}{'.bin' if layout is binary_batch else ''}").write_bytes(layout(pixels(2, 32, 32, 3)))
    return folder


def cut(path: Path, length: float = 0.5) -> Path:
    content = path.read_bytes()
    path.write_bytes(content[: int(length * len(content))])
    return path


def a_cut_archive(folder: Path) -> Path:
    members = {path.name: path.read_bytes() for path in sorted(cifar(folder / "x").iterdir())}
    return cut(write_tar(folder / "cifar-10-binary.tar.gz", members))


def a_cut_zip(folder: Path) -> Path:
    return cut(write_zip(folder / "photos.zip", {f"{n}.jpg": PHOTO for n in range(12)}))


def a_cut_matrix(folder: Path) -> Path:
    savemat(folder / "test_32x32.mat", {"X": pixels(32, 32, 3, 20)}, do_compression=True)
    return cut(folder / "test_32x32.mat")


def a_matrix_of_another_shape(folder: Path) -> Path:
    savemat(folder / "frey_rawface.mat", {"ff": pixels(784, 20)})
    return folder


def a_cut_idx(folder: Path) -> Path:
    cut(write_idx(folder, pixels(20, 28, 28), pixels(5, 28, 28)) / "train-images-idx3-ubyte.gz")
    return folder


def an_idx_that_lies(folder: Path) -> Path:
    write_idx(folder, pixels(20, 28, 28), pixels(5, 28, 28), packed=False)
    (folder / "t10k-images-idx3-ubyte").write_bytes(idx(pixels(5, 28, 28)) + b"more")
    return folder


def a_cut_batch(folder: Path) -> Path:
    cut(cifar(folder / "x") / "data_batch_4.bin", 0.7)
    return folder / "x"


def a_batch_that_is_another_pickle(folder: Path) -> Path:
    (cifar(folder / "x", python_batch) / "data_batch_2").write_bytes(b"cos\nsystem\n(S'touch owned'\ntR.")
    return folder / "x"


def a_corrupt_jpeg(folder: Path) -> Path:
    cut(photos(folder / "x") / "07.jpg")
    return folder / "x"


def a_corrupt_jpeg_in_a_zip(folder: Path) -> Path:
    return write_zip(folder / "photos.zip", {f"{n}.jpg": PHOTO if n != 3 else PHOTO[:300] for n in range(12)})


def an_empty_file(folder: Path) -> Path:
    (photos(folder / "x") / "05.jpg").write_bytes(b"")
    return folder / "x"


def an_empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def a_link_to_nowhere(folder: Path) -> Path:
    (photos(folder / "x") / "zz.jpg").symlink_to(folder / "nothing")
    return folder / "x"


def a_corrupt_jpeg_of_two_lines(folder: Path) -> Path:
    (photos(folder / "x") / "two\nlines.jpg").write_bytes(b"bad")
    return folder / "x"


def two_images(folder: Path) -> Path:
    return photos(folder / "x", 2)


def floats_out_of_range(folder: Path) -> Path:
    images = np.zeros((12, 8, 8), np.float32)
    images[7, 3, 3] = 1.5
    np.save(folder / "x.npy", images)
    return folder / "x.npy"


def an_array_of_another_shape(folder: Path) -> Path:
    np.save(folder / "x.npy", pixels(12, 8))
    return folder / "x.npy"


def a_cut_array(folder: Path) -> Path:
    np.save(folder / "x.npy", pixels(12, 8, 8))
    return cut(folder / "x.npy")


def a_zip_that_reaches_outside(folder: Path) -> Path:
    return write_zip(folder / "evil.zip", {"good.jpg": PHOTO, "../../owned.jpg": PHOTO})


def records(folder: Path) -> Path:
    for split in ("train", "test"):
        (folder / split).mkdir()
        (folder / split / "a.tfrecords").write_bytes(trajectory(pixels(2, 64, 64, 3)) * 4)
    return folder


def a_record_with_a_broken_checksum(folder: Path) -> Path:
    path = records(folder) / "train" / "a.tfrecords"
    content = bytearray(path.read_bytes())
    content[5000] ^= 1
    path.write_bytes(content)
    return folder


def a_record_whose_length_is_broken(folder: Path) -> Path:
    path = records(folder) / "test" / "a.tfrecords"
    path.write_bytes(b"\1" + path.read_bytes()[1:])
    return folder


def a_cut_record(folder: Path) -> Path:
    cut(records(folder) / "train" / "a.tfrecords", 0.9)
    return folder


def a_cut_animation(folder: Path) -> Path:
    for number in range(4):
        (folder / f"{number}.gif").write_bytes(gif(np.stack([smooth(16, 16, t) for t in range(4)])))
    cut(folder / "2.gif")
    return folder


def a_cut_film(folder: Path) -> Path:
    for number in range(4):
        film(folder / f"{number}.mp4", np.stack([smooth(16, 16, t) for t in range(4)]), {"movflags": "faststart"})
    cut(folder / "2.mp4", 0.9)
    return folder


def videos_of_unlike_lengths(folder: Path) -> Path:
    for number in range(4):
        (folder / f"{number}.gif").write_bytes(gif(np.stack([smooth(16, 16, t) for t in range(2 + number // 3)])))
    return folder


def a_partition_of_another_kind(folder: Path) -> Path:
    (folder / "list_eval_partition.txt").write_text("<html>too many downloads</html>")
    photos(folder / "img_align_celeba")
    return folder


SKIP = "; or --data.skip-bad leaves out what is bad"
CASES: dict[Callable[[Path], Path], tuple[str, str, str]] = {
    a_cut_archive: ("cifar", "cifar-10-binary.tar.gz: is no whole archive", "; fetch it again"),
    a_cut_zip: ("images", "photos.zip: is no whole zip archive", "; fetch it again"),
    a_cut_matrix: ("svhn", "test_32x32.mat: is no whole MATLAB 5 file", "; fetch it again"),
    a_matrix_of_another_shape: ("frey", "frey_rawface.mat: 'ff' is (784, 20)", "not (560, images)"),
    a_cut_idx: ("mnist", "train-images-idx3-ubyte.gz: cannot be read", "; fetch it again"),
    an_idx_that_lies: ("fashion-mnist", "t10k-images-idx3-ubyte: its header promises", "; fetch it again"),
    a_cut_batch: ("cifar", "data_batch_4.bin: its 4302 bytes are no whole", "; fetch it again"),
    a_batch_that_is_another_pickle: ("cifar", "data_batch_2: holds no images", "is it a published batch?"),
    a_corrupt_jpeg: ("images", "07.jpg: cannot be read as a picture", SKIP),
    a_corrupt_jpeg_in_a_zip: ("images", "3.jpg: cannot be read as a picture", SKIP),
    an_empty_file: ("images", "05.jpg: cannot be read as a picture", SKIP),
    an_empty_folder: ("images", "empty: cannot be read as your own images", "says what it is"),
    a_link_to_nowhere: ("images", "zz.jpg: cannot be read as a picture", SKIP),
    a_corrupt_jpeg_of_two_lines: ("images", "two lines.jpg: cannot be read as a picture", SKIP),
    two_images: ("images", "2 cannot be split into train, validation and test", ": give 3 or more"),
    floats_out_of_range: ("arrays", "x.npy: image 7 has values from 0 to 1.5", "must lie in [0, 1]; rescale it" + SKIP),
    an_array_of_another_shape: ("arrays", "x.npy: has shape (12, 8)", "with C = 1 or 3"),
    a_cut_array: ("arrays", "x.npy: is no whole file of plain arrays", "; save it again"),
    a_zip_that_reaches_outside: ("images", "evil.zip: holds '../../owned.jpg'", ": do not use this archive"),
    a_record_with_a_broken_checksum: ("bair", "a.tfrecords: byte 12: a record of", "; fetch it again" + SKIP),
    a_record_whose_length_is_broken: ("bair", "a.tfrecords: byte 0: the length of a record", "; fetch it again"),
    a_cut_record: ("bair", "a.tfrecords: byte", "; fetch it again"),
    a_cut_animation: ("videos", "2.gif: cannot be read as a video", SKIP),
    a_cut_film: ("videos", "2.mp4: cannot be read as a video", SKIP),
    videos_of_unlike_lengths: ("videos", "3.gif is 3 x 64 x 64 x 3, but", "--data.frames their lengths" + SKIP),
    a_partition_of_another_kind: ("celeba", "list_eval_partition.txt: line 1 is '<html>", "; fetch it again"),
}


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_bad_input_is_one_line_and_leaves_nothing(
    make: Callable[[Path], Path], tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch
):
    recipe, words, remedy = CASES[make]
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path / "data")
    before = sorted(tmp_path.rglob("*"))
    assert train(tmp_path, recipe, path) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert line.startswith("sigmavae: ")
    assert words in line
    assert line.endswith(remedy)
    assert shown.out == ""
    left = {path for path in tmp_path.rglob("*") if path.is_file() and path not in before}
    assert {path.name for path in left} <= {".lock", *(path.name for path in (cache / "prepared").glob(".*.lock"))}
    assert not any(path.is_dir() for path in (cache / "prepared").glob("*"))


@pytest.mark.parametrize("make", [a_corrupt_jpeg, a_corrupt_jpeg_in_a_zip, a_link_to_nowhere])
def test_bad_files_can_be_skipped_and_are_counted_in_the_run(
    make: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "data").mkdir()
    assert train(tmp_path, "images", make(tmp_path / "data"), "--data.skip-bad", "--data.size", "8") == 0
    assert "skipped 1 bad item; " in capsys.readouterr().err
    data = json.loads((tmp_path / "run" / "result.json").read_text())["data"]
    good = data["train"] + data["validation"] + data["test"]
    assert good == (12 if make is a_link_to_nowhere else 11)
    assert "1 bad item left out; split at random (seed 0)" in data["source"]


def test_after_the_remedy_the_same_command_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = a_corrupt_jpeg(tmp_path)
    assert train(tmp_path, "images", folder, "--data.size", "8") == 2
    (folder / "07.jpg").write_bytes(PHOTO)
    assert train(tmp_path, "images", folder, "--data.size", "8") == 0
    capsys.readouterr()


def test_paths_may_be_relative_or_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    photos(tmp_path / "Bilder älter" / "x.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert train(tmp_path, "images", "Bilder älter", "--data.size", "8") == 0
    written = json.loads((tmp_path / "run" / "result.json").read_text())
    assert written["experiment"]["data"]["path"] == str(tmp_path / "Bilder älter")
    # Written in another way it is the same experiment: the run is finished.
    assert train(tmp_path, "images", "~/Bilder älter", "--data.size", "8") == 0


PATHS = {
    "nowhere: there is no such file or folder": "nowhere",
    "~nobody-of-that-name/x: there is no such file or folder": "~nobody-of-that-name/x",
    "cannot be read (File name too long)": "x" * 300,
}


@pytest.mark.parametrize("words", PATHS)
def test_a_path_that_cannot_be_is_one_line(words: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert train(tmp_path, "images", PATHS[words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
