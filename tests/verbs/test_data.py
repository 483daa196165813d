"""sigmavae data as a user meets it: what it prints, what it writes, and its exit code."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sigmavae.cli import main
from sigmavae.data.catalogue import FORMATS
from sigmavae.metrics.inception import find_inception
from sigmavae.pictures import GAP
from sigmavae.verbs.data import HELP
from tests.data.files import gif, picture, pixels, write_idx


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "cache"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02}.png").write_bytes(picture(pixels(8, 8, 3, seed=number)))
    return folder


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run what must fail, and return the one line that it says."""
    assert main(["data", *words]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sigmavae: ")]
    return line


def row(shown: str, name: str) -> str:
    (line,) = [line for line in shown.splitlines() if line.startswith("│") and line.split()[1] == name]
    return line


def test_without_a_verb_it_shows_its_help_and_fails(capsys: pytest.CaptureFixture[str]):
    for words, code in ((["data"], 2), (["data", "--help"], 0)):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == code
        assert capsys.readouterr().out == HELP


@pytest.mark.parametrize("verb", ["list", "check", "fetch", "show"])
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        main(["data", verb, "--help"])
    assert left.value.code == 0
    assert f"Example: sigmavae data {verb}" in capsys.readouterr().out


def test_a_misspelt_verb_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]):
    assert "no verb is called 'chek': did you mean 'check'" in fails(capsys, "chek")


def test_list_says_what_is_at_hand(cache: Path, capsys: pytest.CaptureFixture[str]):
    (cache / "downloads" / "mnist").mkdir(parents=True)
    write_idx(cache / "downloads" / "mnist", pixels(4, 28, 28), pixels(2, 28, 28))
    (cache / "downloads" / "svhn").mkdir()
    (cache / "downloads" / "svhn" / "train_32x32.mat.part").write_bytes(bytes(1_500_000))
    (cache / "downloads" / "bair").mkdir()
    (cache / "downloads" / "bair" / "bair_robot_pushing_dataset_v0.tar").write_bytes(damaged_tar())
    assert main(["data", "list"]) == 0
    shown = capsys.readouterr().out
    assert "mnist/, 0.0 MB" in row(shown, "mnist")
    assert "begun: 1.5 MB" in row(shown, "svhn")
    assert "damaged: data check" in row(shown, "bair")
    assert "no: data fetch cifar" in row(shown, "cifar")
    assert all(row(shown, name) for name in ("fashion", *FORMATS))
    assert str(cache / "downloads") in shown


def damaged_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("readme.txt")
        member.size = 100_000
        archive.addfile(member, io.BytesIO(bytes(100_000)))
    return file.getvalue()[:50_000]


def test_check_prints_what_it_found(photos: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["data", "check", str(photos)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line[0] != "d")
    assert lines["files"] == "images of photos"
    assert lines["splits"] == "all 12"
    assert lines["used"] == "as   train 10, validation 1, test 1; split at random (seed 0) into 10, 1 and 1"
    assert lines["shape"] == "8 x 8 RGB: 12"
    assert lines["values"] == "0 to 255"
    assert lines["bad"] == "none"


def test_check_fails_if_something_is_bad_and_says_the_remedy(photos: Path, capsys: pytest.CaptureFixture[str]):
    (photos / "[x].png").write_bytes(b"")
    (photos / "y.png").write_bytes(picture(pixels(8, 9, 3)))
    assert main(["data", "check", str(photos)]) == 2
    shown = capsys.readouterr()
    assert "shape     8 x 9 RGB: 1, such as " in shown.out
    assert "to train, make them alike: --data.size 64" in shown.out
    assert "bad       1\n" in shown.out
    assert "[x].png: cannot be read as a picture" in shown.out
    assert shown.err.splitlines()[-1] == (
        f"sigmavae: {photos}: 1 of 14 cannot be read; --data.skip-bad trains without them"
    )


def test_check_does_not_advise_to_leave_out_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    np.save(tmp_path / "a.npy", np.full((4, 8, 8), 7.0))
    said = fails(capsys, "check", str(tmp_path / "a.npy"))
    assert "none of 4 can be read; a.npy: image" in said
    assert "has values from 7 to 7" in said
    assert "skip-bad" not in said


def test_check_of_a_folder_of_several_arrays_says_what_it_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / name, pixels(4, 8, 8))
    assert ".npy and .npz, one file or train and test" in fails(capsys, "check", str(tmp_path))


def test_check_counts_shapes_and_bad_items_that_it_does_not_list(photos: Path, capsys: pytest.CaptureFixture[str]):
    for number in range(9):
        (photos / f"s{number}.png").write_bytes(picture(pixels(4, 10 + number, 3)))
    for number in range(15):
        (photos / f"b{number}.png").write_bytes(b"bad")
    assert main(["data", "check", str(photos)]) == 2
    shown = capsys.readouterr().out
    assert "and 5 more shapes" in shown
    assert "and 5 more\n" in shown


def test_check_reads_as_the_set_that_is_named(photos: Path, capsys: pytest.CaptureFixture[str]):
    for number in range(12):
        (photos / str(number % 4)).mkdir(exist_ok=True)
        (photos / f"{number:02}.png").rename(photos / str(number % 4) / f"{number}.png")
    assert main(["data", "check", str(photos), "--name", "videos", "--size", "4"]) == 0
    assert "3 frames of 4 x 4 RGB: 4" in capsys.readouterr().out


CHECKS = {
    "there is no such file or folder": ["nowhere"],
    "holds nothing that can be read as a data set": ["."],
    "cannot be read as SVHN, cropped digits; sigmavae data check": [".", "--name", "svhn"],
    "data.name='imges': did you mean 'images'": [".", "--name", "imges"],
    "data.name='fashion': is embedded": [".", "--name", "fashion"],
    "--size 0: must be 1 or more": [".", "--size", "0"],
}


@pytest.mark.parametrize("words", CHECKS)
def test_errors_of_check_are_one_line(words: str, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert words in fails(capsys, "check", *CHECKS[words])


FETCHES = {
    "fashion comes with sigmavae: there is nothing to fetch": "fashion",
    "nothing is published to fetch; name files of your own": "images",
    "did you mean 'cifar'": "cifr",
}


@pytest.mark.parametrize("words", FETCHES)
def test_errors_of_fetch_are_one_line(words: str, capsys: pytest.CaptureFixture[str]):
    assert words in fails(capsys, "fetch", FETCHES[words])


def test_fetch_says_where_the_files_are(cache: Path, monkeypatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("sigmavae.data.fetch.fetch", lambda known, progress, folder: folder)  # noqa: ARG005
    assert main(["data", "fetch", "svhn"]) == 0
    folder = cache / "downloads" / "svhn"
    assert capsys.readouterr().out == f"wrote {folder / 'train_32x32.mat'}\nwrote {folder / 'test_32x32.mat'}\n"


def test_the_network_for_fid_is_fetched_to_where_it_is_looked_for(cache: Path, monkeypatch, capsys):
    monkeypatch.setattr("sigmavae.data.fetch.fetch", lambda known, progress, folder: folder)  # noqa: ARG005
    assert main(["data", "fetch", "inception"]) == 0
    file = cache / "features" / "default_1.pt"
    assert capsys.readouterr().out == f"wrote {file}\n"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.setattr("sigmavae.metrics.inception.PACKAGE", "a_wheel_for_a_test")
    monkeypatch.delenv("SIGMAVAE_INCEPTION", raising=False)
    assert find_inception() == file


def side(count: int, length: int) -> int:
    return count * (length + GAP) - GAP


def test_show_writes_a_sheet(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "sheet.png"
    assert main(["data", "show", "images", "--path", str(photos), "--size", "8", "--out", str(out)]) == 0
    with Image.open(out) as sheet:  # ten images, each enlarged twelvefold, four in a row
        assert sheet.size == (side(4, 96), side(3, 96))
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"wrote {out}: 10 of 10 (train)"
    assert shown[1].startswith("images of photos; ")


def test_show_of_arrays_shows_what_is_in_them(tmp_path: Path):
    images = pixels(30, 96, 96, 3)
    np.savez(tmp_path / "x.npz", train=images, test=images[:1])
    out = tmp_path / "sheet.png"
    words = ["data", "show", "arrays", "--path", str(tmp_path / "x.npz"), "--split", "test", "--out", str(out)]
    assert main(words) == 0
    with Image.open(out) as sheet:
        assert np.array_equal(np.asarray(sheet)[..., :3], images[0])


def test_show_of_videos_has_a_row_for_each(tmp_path: Path):
    for number in range(5):
        frames = np.stack([np.full((16, 16, 3), 20 * t + number, np.uint8) for t in range(12)])
        (tmp_path / f"{number}.gif").write_bytes(gif(frames))
    out = tmp_path / "sheet.png"
    words = ["data", "show", "videos", "--path", str(tmp_path), "--size", "16", "--n", "2", "--out", str(out)]
    assert main(words) == 0
    with Image.open(out) as sheet:
        assert sheet.size == (side(10, 96), side(2, 96))


def test_show_is_of_the_embedded_set_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "show", "fashion", "--n", "9"]) == 0
    first = (tmp_path / "fashion.png").read_bytes()
    assert main(["data", "show", "fashion", "--n", "9", "--seed", "1"]) == 0
    assert (tmp_path / "fashion.png").read_bytes() != first


SHOWS = {
    "svhn needs files: sigmavae data fetch svhn brings them, or name them with --data.path": ["svhn"],
    "images needs files: name them with --data.path": ["images"],
    "did you mean 'svhn'": ["svnh"],
    "--n 0: must be 1 or more": ["fashion", "--n", "0"],
    "--frames 0: must be 1 or more": ["bair", "--frames", "0"],
    "--seed -1: must be 0 or more": ["fashion", "--seed", "-1"],
    "photos: cannot be written (Is a directory)": ["fashion", "--out", "photos"],
    "00.png/x.png: cannot be written": ["fashion", "--out", "photos/00.png/x.png"],
}


@pytest.mark.parametrize("words", SHOWS)
@pytest.mark.usefixtures("photos")
def test_errors_of_show_are_one_line(words: str, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    assert words in fails(capsys, "show", *SHOWS[words])


def test_show_skips_what_is_bad_if_told_so(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (photos / "x.png").write_bytes(b"bad")
    words = ["show", "images", "--path", str(photos), "--out", str(tmp_path / "sheet.png")]
    assert "x.png: cannot be read as a picture" in fails(capsys, *words)
    assert not (tmp_path / "sheet.png").exists()
    assert main(["data", *words, "--skip-bad"]) == 0
    shown = capsys.readouterr()
    assert "1 bad item left out" in shown.out
    assert "skipped 1 bad item; " in shown.err
