"""MATLAB files, against scipy, which writes and reads them; no damaged byte does worse than a DataError."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.io import loadmat, savemat

from sigmavae.data.mat import read_bytes
from sigmavae.errors import DataError
from tests.data.files import pixels
from tests.data.real import real

VALUES = pixels(3, 5, 2)
fuzz = settings(max_examples=300, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
changes = st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), min_size=1, max_size=4)


def write(path: Path, compressed: bool = False, **variables: np.ndarray) -> Path:
    savemat(path, variables or {"X": VALUES, "y": np.arange(3)}, do_compression=compressed)
    return path


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("name", ["X", "name", "a_name_of_more_than_eight_letters"])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 5, 2), (2, 3, 4, 5)])
def test_what_scipy_writes_is_read(compressed: bool, name: str, shape: tuple[int, ...], tmp_path: Path):
    values = pixels(*shape)
    path = write(tmp_path / "x.mat", compressed, before=np.eye(3), **{name: values}, after=np.array(["text"]))
    assert np.array_equal(read_bytes(path, name, len(shape)), values)


def test_a_file_of_the_other_byte_order_is_read(tmp_path: Path):
    values = np.arange(6, dtype=np.uint8).reshape(2, 3)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\1\0MI"
    words = lambda *numbers: np.array(numbers, ">u4").tobytes()  # noqa: E731
    content = words(6, 8, 9, 0) + words(5, 8, 2, 3) + words(1 << 16 | 1) + b"X\0\0\0" + words(2, 6)
    content += values.tobytes(order="F") + b"\0\0"
    path = tmp_path / "x.mat"
    path.write_bytes(header + words(14, len(content)) + content)
    assert np.array_equal(loadmat(path)["X"], values)
    assert np.array_equal(read_bytes(path, "X", 2), values)


@pytest.mark.parametrize("compressed", [True, False])
def test_cut_anywhere_it_is_an_error_that_names_the_file(compressed: bool, tmp_path: Path):
    path = write(tmp_path / "x.mat", compressed)
    content = path.read_bytes()
    # A file that ends where its second variable would begin is whole: no format could tell.
    whole = write(tmp_path / "one.mat", compressed, X=VALUES).stat().st_size
    for length in range(len(content)):
        path.write_bytes(content[:length])
        if length == whole:
            continue
        with pytest.raises(DataError, match=r"x\.mat: "):
            read_bytes(path, "X", 3)


@fuzz
@given(compressed=st.booleans(), changes=changes)
@example(compressed=True, changes=[(140 + place, 1) for place in range(4)])
@example(compressed=False, changes=[(160, 2)])  # fewer rows than there are values for
@example(compressed=False, changes=[(144, 5)])  # another class: scipy's reader takes the process down with it
def test_damaged_bytes_raise_only_the_readers_own_error(
    compressed: bool, changes: list[tuple[int, int]], tmp_path: Path
):
    content = bytearray(write(tmp_path / "x.mat", compressed).read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    (tmp_path / "x.mat").write_bytes(content)
    try:
        values = read_bytes(tmp_path / "x.mat", "X", 3)
    except DataError as error:
        assert "x.mat: " in str(error)  # noqa: PT017, not every example raises
        return
    assert values.nbytes == VALUES.nbytes
    assert not compressed or np.array_equal(values, VALUES)  # a deflated variable has a checksum


@fuzz
@given(rest=st.binary(max_size=300))
def test_random_bytes_after_a_header(rest: bytes, tmp_path: Path):
    (tmp_path / "x.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + rest)
    with pytest.raises(DataError, match=r"x\.mat: "):
        read_bytes(tmp_path / "x.mat", "X", 3)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"Y": VALUES}, "has no variable 'X'"),
        ({"X": VALUES.astype(float)}, r"is float64 \(3, 5, 2\), not 8-bit values in 3"),
        ({"X": VALUES.astype(np.int8)}, "is int8"),
        ({"X": VALUES[..., 0]}, "not 8-bit values in 3 dimensions"),
        ({"X": np.zeros((0, 2, 2), np.uint8)}, "not 8-bit values in 3 dimensions"),
        ({"X": "text"}, "is char"),
        ({"X": {"a": 1}}, "is struct"),
    ],
)
def test_other_variables_are_refused(variables: dict, words: str, tmp_path: Path):
    with pytest.raises(DataError, match=words):
        read_bytes(write(tmp_path / "x.mat", **variables), "X", 3)


def test_an_older_format_is_refused(tmp_path: Path):
    savemat(tmp_path / "x.mat", {"X": VALUES[..., 0]}, format="4")
    with pytest.raises(DataError, match=r"x\.mat: is no whole MATLAB 5 file"):
        read_bytes(tmp_path / "x.mat", "X", 2)


@pytest.mark.parametrize(
    ("file", "name"), [("svhn/test_32x32_first10000.mat", "X"), ("freyface/frey_rawface.mat", "ff")]
)
def test_real_files_are_read_as_scipy_reads_them(file: str, name: str):
    expected = loadmat(real(file), variable_names=[name])[name]
    assert np.array_equal(read_bytes(real(file), name, expected.ndim), expected)
