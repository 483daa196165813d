"""idx files: read as written, and nothing but DataError from anything else."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigmavae.data.idx import locate, open_idx, read_images
from sigmavae.errors import DataError
from tests.data.files import any_config, idx, items, pixels, write_idx

fuzz = settings(max_examples=200, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("packed", [True, False])
def test_what_is_written_is_read(packed: bool, tmp_path: Path):
    train, test = pixels(5, 7, 9), pixels(3, 7, 9, seed=1)
    source = open_idx(locate(write_idx(tmp_path, train, test, packed)), any_config())
    assert np.array_equal(items(source.parts["train"])[..., 0], train)
    assert np.array_equal(items(source.parts["test"])[..., 0], test)


def test_one_file_alone_is_no_set(tmp_path: Path):
    write_idx(tmp_path, pixels(2, 3, 3), pixels(2, 3, 3))
    (tmp_path / "t10k-images-idx3-ubyte.gz").unlink()
    assert not locate(tmp_path)


@pytest.mark.parametrize("packed", [True, False])
def test_cut_anywhere_it_is_an_error_that_names_the_file(packed: bool, tmp_path: Path):
    whole = idx(pixels(2, 4, 4))
    content = gzip.compress(whole) if packed else whole
    path = tmp_path / "train-images-idx3-ubyte"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"train-images-idx3-ubyte: .*"):
            read_images(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (idx(pixels(2, 4, 4)) + b"x", "there are more"),
        (struct.pack(">BBBB3I", 0, 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1) + b"x", "there are only 1"),
        (struct.pack(">BBBB3I", 0, 0, 8, 3, 0, 28, 28), "holds no images"),
        (struct.pack(">BBBB3I", 0, 0, 13, 3, 1, 1, 1) + b"abcd", "no idx file of 8-bit images"),
        (struct.pack(">BBBB3I", 0, 0, 8, 1, 1, 1, 1) + b"abcd", "no idx file of 8-bit images"),
    ],
)
def test_a_header_that_lies_is_found_out(content: bytes, words: str, tmp_path: Path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_images(tmp_path / "file")


@fuzz
@given(head=st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\3", b"\0\0\x08\x03"]), rest=st.binary())
def test_random_bytes_raise_only_the_readers_own_error(head: bytes, rest: bytes, tmp_path: Path):
    (tmp_path / "file").write_bytes(head + rest)
    try:
        images = read_images(tmp_path / "file")
    except DataError:
        return
    assert images.nbytes <= len(rest)


@fuzz
@given(place=st.integers(0, 200), value=st.integers(0, 255))
def test_a_changed_byte_in_a_packed_file_is_found_or_harmless(place: int, value: int, tmp_path: Path):
    content = bytearray(gzip.compress(idx(pixels(3, 6, 6)), mtime=0))
    place %= len(content)
    content[place] = value
    (tmp_path / "file").write_bytes(content)
    try:
        images = read_images(tmp_path / "file")
    except DataError:
        return
    assert np.array_equal(images[..., 0], pixels(3, 6, 6))  # in gzip's header some bytes carry no data
