"""BAIR robot pushing in each of its forms: TFRecords, the tar of them, PNG frames, arrays."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sigmavae.data.bair import locate, open_bair
from sigmavae.errors import DataError
from tests.data.files import (
    any_config,
    delimited,
    example,
    feature,
    items,
    likeness,
    picture,
    pixels,
    record,
    trajectory,
)  # fmt: skip
from tests.data.real import real

VIDEOS = {"train": pixels(5, 11, 64, 64, 3), "test": pixels(2, 11, 64, 64, 3, seed=1)}
OTHER = pixels(11, 64, 64, 3, seed=2)


def records() -> dict[str, bytes]:
    """Three files with two records each, but the last: names that only numbers put in order."""
    contents = {split: [trajectory(video, OTHER) for video in videos] for split, videos in VIDEOS.items()}
    return {
        "train/traj_0_to_1.tfrecords": b"".join(contents["train"][:2]),
        "train/traj_2_to_9.tfrecords": b"".join(contents["train"][2:4]),
        "train/traj_10_to_11.tfrecords": contents["train"][4],
        "test/traj_0_to_1.tfrecords": b"".join(contents["test"]),
    }


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def write_records(folder: Path) -> Path:
    put(folder / "softmotion30_44k", records() | {"train/.traj_0.tfrecords": b"hidden"})
    return folder


def write_tar(folder: Path, name: str = "bair_robot_pushing_dataset_v0.tar") -> Path:
    with tarfile.open(folder / name, "w") as archive:
        link = tarfile.TarInfo("softmotion30_44k/train/link.tfrecords")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for inside, content in (records() | {"readme.txt": b"hello", "train/._traj_0.tfrecords": b"hidden"}).items():
            member = tarfile.TarInfo(f"softmotion30_44k/{inside}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return folder


def write_pictures(folder: Path) -> Path:
    for split, videos in VIDEOS.items():
        for number, video in enumerate(videos):
            put(folder, {f"{split}/traj_{number}/{t}.png": picture(frame) for t, frame in enumerate(video)})
    return folder


def write_arrays(folder: Path) -> Path:
    np.savez_compressed(folder / "bair.npz", **VIDEOS)
    return folder


FORMS: list[Callable[[Path], Path]] = [write_records, write_tar, write_pictures, write_arrays]


@pytest.mark.parametrize("write", FORMS)
def test_every_form_holds_the_same_sequences(write: Callable[[Path], Path], tmp_path: Path):
    source = open_bair(locate(write(tmp_path)), any_config())
    assert source.parts.keys() == VIDEOS.keys()
    for split, videos in VIDEOS.items():
        assert np.array_equal(items(source.parts[split]), videos)
    assert source.about.startswith("BAIR robot pushing, ")


@pytest.mark.parametrize("write", FORMS)
def test_the_first_frames_are_taken_if_so_many_are_asked_for(write: Callable[[Path], Path], tmp_path: Path):
    files = locate(write(tmp_path))
    part = open_bair(files, any_config(frames=4)).parts["test"]
    assert np.array_equal(items(part), VIDEOS["test"][:, :4])
    with pytest.raises(DataError, match=r"11 frames, fewer than --data\.frames 12"):
        open_bair(files, any_config(frames=12)).parts["test"].read(0)


def test_the_records_are_found_in_the_folder_itself_and_in_a_tar_of_any_name(tmp_path: Path):
    inner = write_records(tmp_path) / "softmotion30_44k"
    assert locate(inner) == locate(tmp_path)
    assert locate(write_tar(tmp_path, "COPY.TAR") / "COPY.TAR") == [tmp_path / "COPY.TAR"]


def test_records_have_names(tmp_path: Path):
    part = open_bair(locate(write_records(tmp_path)), any_config()).parts["train"]
    assert [part.name(i).rpartition("/")[2] for i in (1, 2)] == ["traj_0_to_1.tfrecords", "traj_2_to_9.tfrecords"]
    assert part.name(1).startswith("record 1 of ")


def without_frame(number: int) -> bytes:
    return record(example(*(feature(f"{t}/image_aux1/encoded", bytes(64 * 64 * 3)) for t in range(4) if t != number)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (trajectory(pixels(3, 32, 32, 3)), "frame [012] of a record has 3072 bytes instead of 12288"),
        (without_frame(1), "3 frames image_aux1 are not numbered 0, 1, 2 and so on"),
        (without_frame(0), "3 frames image_aux1 are not numbered"),
        (record(example(feature("0/image_main/encoded", b"x"))), "0 frames image_aux1"),
        (record(delimited(1, b"\xff")), "does not end"),
    ],
)
def test_what_is_wrong_with_a_sequence_is_said(content: bytes, words: str, tmp_path: Path):
    files = locate(put(tmp_path, {"train/a.tfrecords": content, "test/a.tfrecords": content}))
    with pytest.raises(DataError, match=rf"a\.tfrecords: byte \d+: .*{words}.*; fetch it again"):
        open_bair(files, any_config()).parts["train"].read(0)


@pytest.mark.parametrize("write", [write_records, write_tar])
def test_a_changed_byte_is_named(write: Callable[[Path], Path], tmp_path: Path):
    files = locate(write(tmp_path))
    content = bytearray(files[0].read_bytes())
    content[5_000] ^= 1
    files[0].write_bytes(content)
    part = open_bair(files, any_config()).parts["train"]
    with pytest.raises(DataError, match=r": byte \d+: a record of \d+ bytes does not match its checksum; fetch"):
        part.read(0)
    assert np.array_equal(part.read(1), VIDEOS["train"][1])


def test_a_cut_tar_is_named_wherever_it_is_cut(tmp_path: Path):
    path = write_tar(tmp_path) / "bair_robot_pushing_dataset_v0.tar"
    content = path.read_bytes()
    with tarfile.open(path) as archive:
        ends = [member.offset for member in archive.getmembers() if member.offset]
    assert len(ends) > 4
    for length in (*ends, ends[1] + 100, len(content) // 2):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"dataset_v0\.tar: is no whole tar archive"):
            open_bair(locate(tmp_path), any_config())


def test_a_damaged_header_within_a_tar_is_not_taken_for_its_end(tmp_path: Path):
    path = write_tar(tmp_path) / "bair_robot_pushing_dataset_v0.tar"
    content = bytearray(path.read_bytes())
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1].offset
    content[last + 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"is no whole tar archive \(byte {last} is neither a file nor the end\)"):
        open_bair(locate(tmp_path), any_config())


def test_a_tar_without_a_split_says_so(tmp_path: Path):
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        content = trajectory(VIDEOS["train"][0][:1])
        member = tarfile.TarInfo("train/a.tfrecords")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    with pytest.raises(DataError, match=r"x\.tar: has no records of the test split"):
        open_bair(locate(tmp_path / "x.tar"), any_config())


def test_other_things_are_not_bair(tmp_path: Path):
    assert not locate(tmp_path)
    assert not locate(put(tmp_path / "one", {"train/a.tfrecords": trajectory(VIDEOS["train"][0])}))
    small = put(tmp_path / "small", {f"{s}/0/{t}.png": picture(pixels(32, 32, 3)) for s in VIDEOS for t in range(2)})
    assert not locate(small)
    loose = put(tmp_path / "loose", {f"{s}/{t}.png": picture(pixels(64, 64, 3)) for s in VIDEOS for t in range(2)})
    assert not locate(loose)
    np.savez(tmp_path / "x.npz", frames=pixels(2, 3, 32, 32, 3))
    assert not locate(tmp_path / "x.npz")
    (tmp_path / "bair_robot_pushing_dataset_v0.tar").write_bytes(b"no tar at all" * 100)
    assert not locate(tmp_path)
    (tmp_path / "x.tar").mkdir()
    assert not locate(tmp_path / "x.tar")


def test_pictures_under_another_ending_are_read(tmp_path: Path):
    files = {f"{s}/0/{t}.jpg": picture(VIDEOS[s][0][t]) for s in VIDEOS for t in range(3)}
    part = open_bair(locate(put(tmp_path, files)), any_config()).parts["test"]
    assert np.array_equal(part.read(0), VIDEOS["test"][0][:3])


def test_real_sequences_come_back_from_every_form(tmp_path: Path):
    cameras = np.load(real("bair/bair_raw_1traj_2views_30x64x64x3_u8.npy"))
    assert min(likeness(cameras, axis) for axis in (1, 2, 3)) > 0.8  # the next frame, row and column
    content = trajectory(cameras[0], cameras[1])
    files = put(tmp_path / "records", {"train/a.tfrecords": content, "test/a.tfrecords": content})
    frames = {f"{s}/traj_0/{t}.png": picture(f) for s in VIDEOS for t, f in enumerate(cameras[0])}
    for place in (files, put(tmp_path / "frames", frames)):
        part = open_bair(locate(place), any_config()).parts["train"]
        assert np.array_equal(items(part), cameras[:1])
    part = open_bair(locate(real("bair/bair_raw_1traj_2views_30x64x64x3_u8.npy")), any_config()).parts["all"]
    assert np.array_equal(items(part), cameras)


@pytest.mark.parametrize(("file", "shape"), [("savp", (8, 30, 64, 64, 3)), ("ivideogpt", (6, 16, 64, 64, 3))])
def test_real_arrays(file: str, shape: tuple[int, ...]):
    (path,) = real("bair").glob(f"{file}_*.npz")
    source = open_bair(locate(path), any_config())
    assert np.array_equal(items(source.parts["all"]), np.load(path)["frames"])
    assert items(source.parts["all"]).shape == shape
