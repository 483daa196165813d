"""CIFAR-10 batches: both layouts, in folders and archives; a pickle is never loaded."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sigmavae.data.cifar import locate, open_cifar, parse_binary, parse_python
from sigmavae.errors import DataError
from tests.data.files import any_config, binary_batch, items, modern_batch, pixels, python_batch, write_tar

NAMES = [*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]
IMAGES = {name: pixels(2, 32, 32, 3, seed=n) for n, name in enumerate(NAMES)}
fuzz = settings(max_examples=300, deadline=1000)


def batches(layout: str) -> dict[str, bytes]:
    if layout == "bin":
        return {f"{name}.bin": binary_batch(images) for name, images in IMAGES.items()}
    return {name: python_batch(images) for name, images in IMAGES.items()}


def check(source) -> None:
    assert np.array_equal(items(source.parts["train"]), np.concatenate([IMAGES[name] for name in NAMES[:5]]))
    assert np.array_equal(items(source.parts["test"]), IMAGES["test_batch"])


@pytest.mark.parametrize("layout", ["bin", "py"])
@pytest.mark.parametrize("below", [".", "cifar-10-batches-{}"])
def test_folders(layout: str, below: str, tmp_path: Path):
    folder = tmp_path / below.format(layout)
    folder.mkdir(exist_ok=True)
    for name, content in batches(layout).items():
        (folder / name).write_bytes(content)
    check(open_cifar(locate(tmp_path), any_config()))


@pytest.mark.parametrize(("layout", "archive"), [("bin", "binary"), ("py", "python")])
def test_archives_as_published(layout: str, archive: str, tmp_path: Path):
    members = {f"cifar-10-batches-{layout}/{name}": content for name, content in batches(layout).items()}
    path = write_tar(tmp_path / f"cifar-10-{archive}.tar.gz", {"cifar-10-batches/readme.html": b"hello"} | members)
    for place in (path, tmp_path):
        check(open_cifar(locate(place), any_config()))


def test_our_python_batch_is_a_real_one():
    loaded = pickle.loads(python_batch(IMAGES["test_batch"]), encoding="bytes")
    assert np.array_equal(loaded[b"data"].reshape(-1, 3, 32, 32), np.moveaxis(IMAGES["test_batch"], -1, 1))
    assert loaded[b"labels"] == [7, 7]


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_python_batches_of_other_pickle_protocols(protocol: int):
    images = IMAGES["test_batch"]
    assert np.array_equal(parse_python(modern_batch(images, protocol), "batch"), images)


def test_a_pickle_that_would_run_a_program_runs_nothing(tmp_path: Path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "owned"),)

    content = pickle.dumps({"data": Evil(), "labels": []})
    with pytest.raises(DataError, match="holds no images"):
        parse_python(content, "data_batch_1")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("missing", [0, 5])
def test_an_archive_without_one_batch_names_it(missing: int, tmp_path: Path):
    members = batches("bin")
    del members[f"{NAMES[missing]}.bin"]
    with pytest.raises(DataError, match=f"has no {NAMES[missing]}"):
        open_cifar([write_tar(tmp_path / "cifar-10-binary.tar.gz", members)], any_config())


def test_a_truncated_archive_is_named(tmp_path: Path):
    path = write_tar(tmp_path / "cifar-10-binary.tar.gz", batches("bin"))
    content = path.read_bytes()
    for length in (0, 1, 20, len(content) // 2, len(content) - 20):
        path.write_bytes(content[:length])
        with pytest.raises(
            DataError, match=r"cifar-10-binary\.tar\.gz: is no whole archive \([^\n]+\); fetch it again$"
        ):
            open_cifar([path], any_config())


@fuzz
@given(st.binary(max_size=4000))
def test_random_bytes_as_a_binary_batch(content: bytes):
    try:
        images = parse_binary(content, "batch")
    except DataError:
        return
    assert images.shape == (1, 32, 32, 3)


@fuzz
@given(st.binary(max_size=4000))
def test_random_bytes_as_a_python_batch(content: bytes):
    with pytest.raises(DataError):
        parse_python(content, "batch")


@fuzz
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6), st.integers(0, 10**6))
@example(changes=[(11, 92)], cut=33)  # a backslash that Python would warn of
def test_damaged_python_batches(changes: list[tuple[int, int]], cut: int):
    content = bytearray(python_batch(IMAGES["test_batch"]))
    for place, value in changes:
        content[place % len(content)] = value
    try:
        images = parse_python(bytes(content[: cut % len(content)]), "batch")
    except DataError:
        return
    assert images.shape[1:] == (32, 32, 3)


@pytest.mark.parametrize(
    "claim", [b"B\xff\xff\xff\xffx", b"\x8e" + b"\xff" * 7 + b"\x7fx", b"r\xff\xff\xff\x7f.", b"I" + b"9" * 9999]
)
def test_a_pickle_that_claims_much_is_given_little(claim: bytes):
    with pytest.raises(DataError):
        parse_python(b"\x80\x02" + claim, "batch")
