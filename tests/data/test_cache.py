"""Prepared data: made once, found again, made anew when anything changed, never half there."""

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from sigmavae.config import DataConfig
from sigmavae.data import Batches, Splits, catalogue, load
from sigmavae.data.cache import cache_folder, prepared
from sigmavae.errors import DataError
from sigmavae.files import write_json
from sigmavae.progress import Silent
from tests.data.files import picture, pixels


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SIGMAVAE_CACHE", str(folder))
    return folder


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.png").write_bytes(picture(pixels(6, 6, 3, seed=number)))
    return folder


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been read since, in order."""
    seen: list[str] = []
    opened = catalogue.opened

    def listening(*arguments):
        seen.append("opened")
        return opened(*arguments)

    monkeypatch.setattr(catalogue, "opened", listening)
    return seen


def loaded(path: Path, **fields) -> Splits:
    return load(DataConfig(name="images", path=path, **fields), Silent())


def folders(cache: Path) -> list[Path]:
    return [path for path in (cache / "prepared").iterdir() if not path.name.endswith(".lock")]


def test_a_set_larger_than_the_memory_can_be_mapped():
    count, *shape = (os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20) + 1000, 1, 1024, 1024

    def make(folder: Path) -> None:  # files with holes: they take no room on the disk
        for name in ("train", "validation", "test"):
            with (folder / f"{name}.u8").open("wb") as file:
                file.truncate(count << 20)
        counts = dict.fromkeys(("train", "validation", "test"), count)
        write_json(folder / "about.json", {"shape": shape, "counts": counts, "source": "holes", "fingerprint": "0"})

    splits = prepared("large", [], {}, make)
    batches = Batches(splits.train, 2, 0, torch.device("cpu"))
    assert batches[count // 2].shape == (2, *shape)


def test_the_folder_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, place in (("~/x", tmp_path / "x"), ("x", tmp_path / "x"), ("/y", Path("/y"))):
        monkeypatch.setenv("SIGMAVAE_CACHE", value)
        assert cache_folder() == place
    monkeypatch.setenv("SIGMAVAE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs"))
    assert "sigmavae" in cache_folder().parts


def test_sources_are_read_once(photos: Path, cache: Path, reads: list[str]):
    first, second = loaded(photos), loaded(photos)
    assert reads == ["opened"]
    assert first.source == second.source
    assert first.fingerprint == second.fingerprint
    for name in ("train", "validation", "test"):
        assert np.array_equal(first.split(name), second.split(name))
    assert len(folders(cache)) == 1


def test_arrays_are_mapped_and_cannot_be_written(photos: Path):
    splits = loaded(photos)
    for name in ("train", "validation", "test"):
        assert isinstance(splits.split(name), np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            splits.split(name)[:] = 0


def touched(file: Path) -> None:
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1_000_000_000))


def removed(file: Path) -> None:
    file.unlink()


def grown(file: Path) -> None:
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.write_bytes(file.read_bytes() + b"x")
    os.utime(file, ns=times)


def renamed(file: Path) -> None:
    file.rename(file.with_name("x.png"))


@pytest.mark.parametrize("change", [touched, removed, grown, renamed])
def test_a_changed_source_is_prepared_anew(change: Callable, photos: Path, cache: Path, reads: list[str]):
    loaded(photos)
    change(photos / "3.png")
    loaded(photos)
    assert len(reads) == 2
    assert len(folders(cache)) == 2


def test_every_option_has_its_own_preparation(photos: Path, reads: list[str]):
    shapes = [loaded(photos, **fields).shape for fields in ({}, {"size": 4}, {"channels": 1}, {"skip_bad": True})]
    assert shapes == [(3, 6, 6), (3, 4, 4), (1, 6, 6), (3, 6, 6)]
    assert len(reads) == 4


def cut(folder: Path) -> None:
    (folder / "train.u8").write_bytes(b"")


def shortened(folder: Path) -> None:
    os.truncate(folder / "test.u8", (folder / "test.u8").stat().st_size - 1)


def without_words(folder: Path) -> None:
    (folder / "about.json").unlink()


def without_meaning(folder: Path) -> None:
    (folder / "about.json").write_text('{"shape": [3, 6, 6')


def of_another_kind(folder: Path) -> None:
    (folder / "about.json").write_text("[1, 2]")


def emptied(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


@pytest.mark.parametrize("damage", [cut, shortened, without_words, without_meaning, of_another_kind, emptied])
def test_a_damaged_preparation_is_made_again(damage: Callable, photos: Path, cache: Path, reads: list[str]):
    before = loaded(photos)
    (folder,) = folders(cache)
    expected = before.train.copy()
    damage(folder)
    assert np.array_equal(loaded(photos).train, expected)
    assert len(reads) == 2
    assert folders(cache) == [folder]


def test_an_error_leaves_nothing_behind(photos: Path, cache: Path):
    (photos / "7.png").write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"7\.png: cannot be read as a picture"):
        loaded(photos)
    assert folders(cache) == []
    (photos / "7.png").unlink()
    assert len(loaded(photos).train) == 7


def test_an_interruption_leaves_nothing_behind(cache: Path, photos: Path):
    def interrupted(folder: Path) -> None:
        (folder / "train.u8").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared("x", [photos / "1.png"], {}, interrupted)
    assert folders(cache) == []


def test_what_a_killed_process_left_is_cleared_away(photos: Path, cache: Path):
    loaded(photos)
    (folder,) = folders(cache)
    leftover = folder.parent / f".{folder.name}.abc.tmp" / "data"
    leftover.mkdir(parents=True)
    (leftover / "train.u8").write_bytes(b"half")
    cut(folder)
    loaded(photos)
    assert folders(cache) == [folder]


def test_a_cache_that_cannot_be_written_says_what_to_do(photos: Path, cache: Path):
    cache.write_bytes(b"a file where the folder should be")
    with pytest.raises(DataError, match=r"prepared data cannot be written below .*SIGMAVAE_CACHE"):
        loaded(photos)


def test_a_source_that_cannot_be_opened_is_named_and_not_the_cache(tmp_path: Path):
    for name in (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"):
        (tmp_path / name).write_bytes(bytes(3073))
    files = catalogue.files_of("cifar", tmp_path)
    files[2].unlink()
    with pytest.raises(DataError, match=r"data_batch_3\.bin: cannot be read \(No such file or directory\)"):
        catalogue.opened(catalogue.FORMATS["cifar"], files, DataConfig(name="cifar", path=tmp_path))


def make_slowly(folder: Path, log: Path) -> None:
    with log.open("a") as file:
        file.write("made\n")
    time.sleep(0.3)
    for name in ("train", "validation", "test"):
        (folder / f"{name}.u8").write_bytes(bytes(12))
    counts = {"train": 1, "validation": 1, "test": 1}
    write_json(folder / "about.json", {"shape": [3, 2, 2], "counts": counts, "source": "", "fingerprint": ""})


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_of_processes_at_once_one_prepares_and_all_have_it(tmp_path: Path, cache: Path):
    (tmp_path / "source").write_bytes(b"x")
    log = tmp_path / "log"

    def have() -> None:
        splits = prepared("x", [tmp_path / "source"], {}, lambda folder: make_slowly(folder, log))
        assert splits.shape == (3, 2, 2)

    together = [multiprocessing.get_context("fork").Process(target=have) for _ in range(3)]
    for process in together:
        process.start()
    for process in together:
        process.join(30)
    assert [process.exitcode for process in together] == [0, 0, 0]
    assert log.read_text() == "made\n"
    assert len(folders(cache)) == 1


def test_a_prepared_set_starts_at_once(tmp_path: Path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((50_000, 4, 4, 3), np.uint8))
    config = DataConfig(name="arrays", path=path)
    load(config, Silent())
    began = time.monotonic()
    load(config, Silent())
    assert time.monotonic() - began < 1
