"""CelebA: a folder or zip of JPEGs in the official partition."""

from pathlib import Path

import numpy as np
import pytest

from sigmavae.data.celeba import FACE, locate, open_celeba, read_partition
from sigmavae.data.resize import with_size
from sigmavae.errors import DataError
from tests.data.files import any_config, likeness, picture, smooth, write_zip
from tests.data.real import real

SPLIT = {f"{n:06}.jpg": n % 3 for n in range(1, 8)}
FACES = {name: picture(smooth(218, 178, phase=n), "JPEG", quality=95) for n, name in enumerate(SPLIT)}


def write(folder: Path, packed: bool, lines: str | None = None) -> Path:
    text = "".join(f"{name} {split}\n" for name, split in (SPLIT | {"999999.jpg": 0}).items())
    (folder / "list_eval_partition.txt").write_text(text if lines is None else lines)
    if packed:
        write_zip(folder / "img_align_celeba.zip", {f"img_align_celeba/{name}": face for name, face in FACES.items()})
    else:
        (folder / "img_align_celeba").mkdir()
        for name, face in FACES.items():
            (folder / "img_align_celeba" / name).write_bytes(face)
    return folder


@pytest.mark.parametrize("packed", [True, False])
def test_the_official_partition(packed: bool, tmp_path: Path):
    parts = open_celeba(locate(write(tmp_path, packed)), any_config()).parts
    for number, name in enumerate(["train", "validation", "test"]):
        expected = [file for file, split in SPLIT.items() if split == number]
        assert [Path(parts[name].name(i)).name for i in range(parts[name].count)] == expected
        assert parts[name].read(0).shape == (218, 178, 3)


def test_the_published_tree_is_recognised(tmp_path: Path):
    (tmp_path / "Eval").mkdir()
    (tmp_path / "Img").mkdir()
    write(tmp_path, packed=True)
    (tmp_path / "list_eval_partition.txt").rename(tmp_path / "Eval" / "list_eval_partition.txt")
    (tmp_path / "img_align_celeba.zip").rename(tmp_path / "Img" / "img_align_celeba.zip")
    assert open_celeba(locate(tmp_path), any_config()).parts["train"].count == 2


def test_of_several_archives_the_faces_are_taken(tmp_path: Path):
    write(tmp_path, packed=True)
    write_zip(tmp_path / "anno.zip", {"x.txt": b""})
    (tmp_path / "img_align_celeba.zip").rename(tmp_path / "img_align_celeba.ZIP")
    assert [file.name for file in locate(tmp_path)] == ["list_eval_partition.txt", "img_align_celeba.ZIP"]
    assert locate(tmp_path / "img_align_celeba.ZIP") == locate(tmp_path)
    assert open_celeba(locate(tmp_path), any_config()).parts["train"].count == 2


def test_a_folder_called_like_the_partition_is_not_it(tmp_path: Path):
    write(tmp_path, packed=True)
    (tmp_path / "list_eval_partition.txt").unlink()
    (tmp_path / "list_eval_partition.txt").mkdir()
    assert not locate(tmp_path)
    assert not locate(tmp_path / "img_align_celeba.zip")


def test_the_crop_is_the_centre_at_any_resolution():
    rows, columns = FACE.box(218, 178)
    assert (rows, columns) == (slice(35, 183), slice(15, 163))
    rows, columns = FACE.box(109, 89)
    assert (rows.stop - rows.start, columns.stop - columns.start) == (74, 74)
    face = smooth(218, 178)
    whole, half = with_size(face, 28, FACE), with_size(face[::2, ::2], 28, FACE)
    assert np.abs(whole.astype(int) - half).mean() < 2


@pytest.mark.parametrize("line", ["000001.jpg 3", "000001.jpg", "", "<html>"])
def test_a_wrong_line_of_the_partition_is_quoted(line: str, tmp_path: Path):
    (tmp_path / "p.txt").write_text(f"000009.jpg 1\n{line}\n")
    with pytest.raises(DataError, match="line 2 is"):
        read_partition(tmp_path / "p.txt")


def test_a_face_without_a_split_is_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"000002\.jpg: is not in .*list_eval_partition"):
        open_celeba(locate(write(tmp_path, True, "000001.jpg 0\n")), any_config())


def test_a_subset_without_test_faces_says_so(tmp_path: Path):
    with pytest.raises(DataError, match="none of the 7 faces at hand is for validation"):
        open_celeba(locate(write(tmp_path, True, "".join(f"{name} 0\n" for name in SPLIT))), any_config())


def test_without_the_partition_it_is_not_celeba(tmp_path: Path):
    (write(tmp_path, False) / "list_eval_partition.txt").unlink()
    assert not locate(tmp_path)


def test_real_faces_are_in_their_official_splits():
    parts = open_celeba(locate(real("celeba")), any_config(size=64)).parts
    assert {name: part.count for name, part in parts.items()} == {"train": 14_283, "validation": 780, "test": 660}
    faces = np.stack([with_size(parts["test"].read(i), 64, FACE) for i in range(100)])
    assert min(likeness(faces, axis) for axis in (1, 2)) > 0.9
