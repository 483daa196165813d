"""Items to prepared arrays: splits, what is done with bad items, and what is recorded."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigmavae.data.prepare import CHUNK, assign, prepare
from sigmavae.data.resize import SQUARE, Item
from sigmavae.data.source import Part, Source, of_array
from sigmavae.errors import DataError
from sigmavae.progress import Silent
from tests.data.files import any_config, pixels
from tests.data.heard import Heard


def source(**parts: Part) -> Source:
    return Source(parts, SQUARE, "things of x")


def part_of(items: Sequence[Item | None]) -> Part:
    """Items of a list; what is none cannot be read."""

    def read(i: int) -> Item:
        if items[i] is None:
            raise DataError(f"{i}.png: cannot be read")
        return items[i]

    return Part(len(items), read, lambda i: f"{i}.png")


def numbered(count: int) -> Part:
    return of_array(np.arange(count, dtype=np.uint16).view(np.uint8).reshape(count, 1, 2, 1), "numbers")


def made(folder: Path, name: str) -> np.ndarray:
    about = json.loads((folder / "about.json").read_text())
    return np.fromfile(folder / f"{name}.u8", np.uint8).reshape(about["counts"][name], *about["shape"])


def run(folder: Path, what: Source, progress: Silent | None = None, **fields) -> dict:
    prepare(what, any_config(**fields), folder, progress or Silent())
    return json.loads((folder / "about.json").read_text())


@given(st.integers(3, 3000))
def test_what_has_no_split_is_split_into_all_of_it(count: int):
    splits, (how,) = assign(source(all=numbered(count)))
    sizes = {name: len(split.items) for name, split in splits.items()}
    share = max(1, count // 10)
    assert sizes == {"train": count - 2 * share, "validation": share, "test": share}
    assert sorted(i for split in splits.values() for i in split.items) == list(range(count))
    assert how == f"split at random (seed 0) into {sizes['train']}, {share} and {share}"
    again, _ = assign(source(all=numbered(count)))
    assert [again[name].items for name in sizes] == [splits[name].items for name in sizes]
    assert all(list(split.items) == sorted(split.items) for split in splits.values())


@given(st.integers(2, 3000))
def test_validation_is_held_out_of_the_training_items(count: int):
    splits, (how,) = assign(source(train=numbered(count), test=numbered(7)))
    share = max(1, count // 10)
    assert sorted([*splits["train"].items, *splits["validation"].items]) == list(range(count))
    assert len(splits["validation"].items) == share
    assert splits["validation"].part is splits["train"].part
    assert list(splits["test"].items) == list(range(7))
    assert how == f"{share} of the training items held out at random (seed 0) for validation"


def test_splits_as_published_are_kept():
    parts = {name: numbered(count) for name, count in (("train", 4), ("validation", 1), ("test", 2))}
    splits, how = assign(source(**parts))
    assert {name: list(split.items) for name, split in splits.items()} == {
        "train": [0, 1, 2, 3],
        "validation": [0],
        "test": [0, 1],
    }
    assert how == []


def test_too_few_to_split_is_said():
    with pytest.raises(DataError, match="things of x: 2 cannot be split into train, validation and test: give 3"):
        assign(source(all=numbered(2)))
    with pytest.raises(DataError, match="things of x: 1 cannot be split into train and validation: give 2"):
        assign(source(train=numbered(1), test=numbered(5)))


@pytest.mark.parametrize("shape", [(5, 6, 3), (5, 6, 1), (2, 5, 6, 3)])
def test_every_item_arrives_with_its_channels_first(shape: tuple[int, ...], tmp_path: Path):
    items = pixels(2 * CHUNK + 9, *shape)
    about = run(tmp_path, source(train=of_array(items, "x"), validation=of_array(items[:3], "x"), test=part_of(items)))
    assert about["counts"] == {"train": len(items), "validation": 3, "test": len(items)}
    assert np.array_equal(made(tmp_path, "train"), np.moveaxis(items, -1, -3))
    assert np.array_equal(made(tmp_path, "test"), np.moveaxis(items, -1, -3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["about.json", "test.u8", "train.u8", "validation.u8"]


def test_what_was_done_is_recorded(tmp_path: Path):
    items = pixels(20, 8, 6, 3)
    about = run(tmp_path, source(all=of_array(items, "x")), size=4, channels=1)
    assert about["shape"] == [1, 4, 4]
    assert about["source"] == (
        "things of x; the largest centre square resized to 4 x 4, bilinear; gray; "
        "split at random (seed 0) into 16, 2 and 2"
    )


def test_the_fingerprint_is_of_the_values(tmp_path: Path):
    items = pixels(20, 8, 6, 3)
    one = run(tmp_path, source(all=of_array(items, "x")))["fingerprint"]
    assert run(tmp_path, source(all=of_array(items, "another name")))["fingerprint"] == one
    items[7, 3, 3, 1] ^= 1
    assert run(tmp_path, source(all=of_array(items, "x")))["fingerprint"] != one


def test_a_bad_item_stops_and_names_itself_and_the_remedy(tmp_path: Path):
    items = [*pixels(200, 4, 4, 3)]
    items[150] = None
    with pytest.raises(DataError, match=r"^150\.png: cannot be read; or --data\.skip-bad leaves out what is bad$"):
        run(tmp_path, source(all=part_of(items)))
    assert not (tmp_path / "about.json").exists()


def test_bad_items_are_left_out_and_counted(tmp_path: Path):
    items: list[Item | None] = [*pixels(30, 4, 4, 3)]
    items[3] = items[20] = None
    items[25] = pixels(4, 5, 3)
    heard = Heard()
    about = run(tmp_path, source(train=part_of(items), validation=part_of(items[4:7]), test=part_of(items[:3])),
                heard, skip_bad=True)  # fmt: skip
    assert about["counts"] == {"train": 27, "validation": 3, "test": 3}
    good = np.stack([item for i, item in enumerate(items) if i not in (3, 20, 25)])
    assert np.array_equal(made(tmp_path, "train"), np.moveaxis(good, -1, 1))
    assert heard.said == ["skipped 3 bad items; 3.png: cannot be read"]
    assert [reason.split()[0] for reason in about["skipped"]] == ["3.png:", "20.png:", "25.png"]
    assert about["source"] == "things of x; 3 bad items left out"
    assert heard.steps[-1] == (36, {})


def test_a_split_of_bad_items_alone_is_an_error_all_the_same(tmp_path: Path):
    good = part_of(pixels(3, 4, 4, 3))
    with pytest.raises(DataError, match=r"nothing of the test split can be read; 0\.png: cannot be read"):
        run(tmp_path, source(train=good, validation=good, test=part_of([None, None])), skip_bad=True)
    assert not (tmp_path / "about.json").exists()


@pytest.mark.parametrize(
    ("odd", "remedy", "fields"),
    [((4, 5, 3), "--data.size 64", {"size": 4}), ((4, 4, 1), "--data.channels 3", {"channels": 3})],
)
def test_unlike_shapes_are_named_and_can_be_made_alike(odd: tuple[int, ...], remedy: str, fields, tmp_path: Path):
    items = [*pixels(30, 4, 4, 3)]
    items[17] = pixels(*odd)
    what = source(all=part_of(items))
    with pytest.raises(DataError, match=rf"17\.png is {odd[0]} x {odd[1]} x {odd[2]}, but .* is 4 x 4 x 3: .*{remedy}"):
        run(tmp_path, what)
    assert run(tmp_path, what, **fields)["counts"] == {"train": 24, "validation": 3, "test": 3}


def test_splits_of_unlike_shapes_are_refused(tmp_path: Path):
    with pytest.raises(DataError, match="image 0 of b is 5 x 4 x 3, but image 0 of a is 4 x 4 x 3"):
        run(tmp_path, source(train=of_array(pixels(5, 4, 4, 3), "a"), validation=of_array(pixels(2, 4, 4, 3), "a"),
                             test=of_array(pixels(2, 5, 4, 3), "b")))  # fmt: skip


def test_progress_is_told_of_all_items(tmp_path: Path):
    heard = Heard()
    run(tmp_path, source(all=numbered(2 * CHUNK + 5)), heard)
    done = [done for done, _ in heard.steps]
    assert done == sorted(done)
    assert heard.begun == [("preparing images", 2 * CHUNK + 5, 0)]
    assert done[-1] == 2 * CHUNK + 5
    assert heard.said == []
