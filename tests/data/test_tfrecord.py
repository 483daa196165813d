"""TFRecord files: what is written by hand is read, and nothing but DataError comes of anything else."""

import re
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigmavae.data.tfrecord import Record, bytes_features, index, read_record
from sigmavae.errors import DataError
from tests.data.files import delimited, example, feature, floats, masked, record, varint

ALL = re.compile(".*")
CONTENTS = [b"", b"a", b"hello" * 100, bytes(range(256))]
fuzz = settings(max_examples=300, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, content: bytes) -> Path:
    path = folder / "x.tfrecords"
    path.write_bytes(content)
    return path


def parse(content: bytes, wanted: re.Pattern[str] = ALL) -> dict[str, bytes]:
    return bytes_features(Record(Path("x.tfrecords"), 12, len(content)), content, wanted)


def test_checksums_are_those_of_the_format():
    assert masked(b"123456789") == struct.pack("<I", ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) % 2**32)


def test_what_is_written_is_read(tmp_path: Path):
    path = write(tmp_path, b"".join(map(record, CONTENTS)))
    assert [read_record(found) for found in index(path)] == CONTENTS


def test_a_range_of_a_file_is_read(tmp_path: Path):
    middle = b"".join(map(record, CONTENTS))
    path = write(tmp_path, b"before" + middle + b"after")
    assert [read_record(found) for found in index(path, 6, len(middle))] == CONTENTS
    for start, length in ((6, len(middle) - 1), (5, len(middle)), (6, len(middle) + 100), (6, 0)):
        with pytest.raises(DataError, match=r"x\.tfrecords: byte"):
            index(path, start, length)


def test_cut_anywhere_it_is_an_error_that_names_the_file(tmp_path: Path):
    content = record(b"abc") + record(b"defg")
    for length in range(len(content)):
        if length == len(record(b"abc")):
            continue  # a whole file of one record
        with pytest.raises(DataError, match=r"x\.tfrecords: byte \d+: the file ends .*; fetch it again"):
            index(write(tmp_path, content[:length]))


def test_every_changed_byte_is_found(tmp_path: Path):
    content = record(b"abc") + record(b"defg")
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0x10
        path = write(tmp_path, changed)
        with pytest.raises(DataError, match=r"x\.tfrecords: byte \d+: .*checksum.*; fetch it again"):
            [read_record(found) for found in index(path)]


def test_a_length_that_lies_is_not_believed(tmp_path: Path):
    for claimed in (2**63, 2**64 - 1, 10**9):
        length = struct.pack("<Q", claimed)
        with pytest.raises(DataError, match=rf"the file ends within a record of {claimed} bytes"):
            index(write(tmp_path, length + masked(length) + b"abc"))


def test_a_file_that_vanishes_is_named(tmp_path: Path):
    path = write(tmp_path, record(b"abc"))
    (found,) = index(path)
    path.unlink()
    for again in (lambda: read_record(found), lambda: index(path), lambda: index(tmp_path)):
        with pytest.raises(DataError, match=r"cannot be read"):
            again()


def test_features_by_key():
    content = example(feature("a", b"1"), floats("b", 1.5, 2.5), feature("long/" * 50, b"x" * 10_000), feature("", b""))
    assert parse(content, re.compile("a|long.*|")) == {"a": b"1", "long/" * 50: b"x" * 10_000, "": b""}
    assert parse(content, re.compile("lon")) == {}  # only as a whole
    assert parse(b"") == {}


def test_other_fields_are_passed_over():
    others = varint(3 << 3) + varint(2**64 - 1) + varint(4 << 3 | 1) + bytes(8) + varint(5 << 3 | 5) + bytes(4)
    assert parse(others + delimited(6, b"abc") + example(feature("a", b"1")) + others) == {"a": b"1"}


def test_the_last_of_two_features_of_a_key_counts():
    assert parse(example(feature("a", b"1"), feature("a", b"2"))) == {"a": b"2"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (example(feature("a", b"1", b"2")), "feature a has 2 byte strings instead of one"),
        (example(floats("a", 1.0)), "feature a has 0 byte strings"),
        (example(delimited(1, delimited(1, b"\xff"))), "the key of a feature is not UTF-8"),
        (example(feature("a", b"1"))[:-1], "ends outside of it"),
        (varint(1 << 3 | 2) + varint(2**63), "ends outside of it"),
        (varint(1 << 3 | 1) + bytes(7), "ends outside of it"),
        (b"\xff" * 20, "does not end"),
        (b"\x80", "does not end"),
        (varint(1 << 3 | 3), "there is no kind 3"),
        (delimited(0, b""), "field 0"),
    ],
)
def test_what_is_wrong_with_an_example_is_said(content: bytes, words: str):
    with pytest.raises(DataError, match=rf"x\.tfrecords: byte \d+: .*{words}.*; fetch it again"):
        parse(content)


def test_many_tiny_fields_take_time_in_proportion():
    content = example(feature("a", b"1") * 30_000)
    assert parse(content) == {"a": b"1"}  # within the time that a test may take; squared it would be hours


def whatever(path: Path) -> None:
    try:
        for found in index(path):
            bytes_features(found, read_record(found), ALL)
    except DataError as error:
        assert str(path) in str(error)  # noqa: PT017, not every example raises


@fuzz
@given(content=st.binary(max_size=500))
def test_random_bytes_as_a_file(content: bytes, tmp_path: Path):
    whatever(write(tmp_path, content))


@fuzz
@given(content=st.binary(max_size=500))
def test_random_bytes_as_a_record_whose_checksums_are_right(content: bytes, tmp_path: Path):
    whatever(write(tmp_path, record(content)))


@fuzz
@given(changes=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), min_size=1, max_size=5))
def test_a_damaged_example_whose_checksums_are_right(changes: list[tuple[int, int]], tmp_path: Path):
    content = bytearray(example(feature("0/image_aux1/encoded", b"12345678"), floats("0/action", 1.0, 2.0)))
    for place, value in changes:
        content[place % len(content)] = value
    whatever(write(tmp_path, record(bytes(content))))
