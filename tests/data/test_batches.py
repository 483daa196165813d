"""Batches are functions of seed and step alone, and processes share them out."""

from pathlib import Path

import numpy as np
import pytest
import torch

from sigmavae.data import Batches
from sigmavae.data import batches as module
from sigmavae.errors import DataError
from sigmavae.seeds import Stream, seed_for

CPU = torch.device("cpu")


def numbered(count: int):
    return np.arange(count, dtype=np.uint8).reshape(count, 1, 1, 1)


def levels(batch: torch.Tensor) -> list[int]:
    return (batch * 255).round().int().flatten().tolist()


def test_an_epoch_shows_every_image_once_in_a_new_order_each_time():
    batches = Batches(numbered(60), 20, 0, CPU)
    epochs = [[k for step in range(3) for k in levels(batches[3 * epoch + step])] for epoch in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(60))
    assert epochs[0] != epochs[1] != epochs[2]


def test_any_step_can_be_asked_for_at_any_time():
    one, other = Batches(numbered(50), 16, 3, CPU), Batches(numbered(50), 16, 3, CPU)
    forward = [levels(one[step]) for step in range(10)]
    assert [levels(other[step]) for step in (9, 0, 5)] == [forward[9], forward[0], forward[5]]


def test_seeds_and_streams_differ():
    first = levels(Batches(numbered(50), 50, 0, CPU)[0])
    assert first != levels(Batches(numbered(50), 50, 1, CPU)[0])
    assert first != levels(Batches(numbered(50), 50, 0, CPU, stream=Stream.HELD_OUT)[0])


def test_processes_share_one_batch():
    whole = Batches(numbered(64), 16, 0, CPU)
    shares = [Batches(numbered(64), 16, 0, CPU, rank, 4) for rank in range(4)]
    for step in (0, 3, 5):
        assert [k for share in shares for k in levels(share[step])] == levels(whole[step])


def test_values_are_in_the_unit_interval_and_exact():
    batch = Batches(numbered(256), 256, 0, CPU)[0]
    assert batch.dtype == torch.float32
    assert torch.equal(batch.flatten().sort().values, torch.arange(256) / 255)


def test_a_set_smaller_than_the_batch_is_one_batch():
    batches = Batches(numbered(5), 128, 0, CPU)
    assert batches.per_epoch == 1
    assert sorted(levels(batches[7])) == list(range(5))


@pytest.fixture
def on_disk(tmp_path: Path) -> np.ndarray:
    np.random.default_rng(0).integers(0, 256, (50, 3, 4, 4), dtype=np.uint8).tofile(tmp_path / "train.u8")
    return np.memmap(tmp_path / "train.u8", dtype=np.uint8, mode="r", shape=(50, 3, 4, 4))


def from_the_map(images: np.ndarray, monkeypatch: pytest.MonkeyPatch, **fields) -> Batches:
    with monkeypatch.context() as patched:
        patched.setattr(module, "fits", lambda *_: False)
        return Batches(images, 16, 3, CPU, **fields)


def test_a_set_larger_than_memory_gives_the_same_batches(on_disk: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    for fields in ({}, {"rank": 1, "world": 2}):
        resident, mapped = Batches(on_disk, 16, 3, CPU, **fields), from_the_map(on_disk, monkeypatch, **fields)
        for step in (*range(12), 40, 41, 3):  # in a row over epochs, after a jump ahead, and back
            assert torch.equal(mapped[step], resident[step])
        assert torch.equal(from_the_map(on_disk, monkeypatch, **fields)[7], resident[7])  # as a resumed run begins


def test_shares_of_a_set_smaller_than_the_batch_are_equal():
    shares = [Batches(numbered(11), 128, 0, CPU, rank, 4) for rank in range(4)]
    seen = [levels(share[2]) for share in shares]
    assert [len(share) for share in seen] == [2, 2, 2, 2]
    assert len({k for share in seen for k in share}) == 8
    assert {share.per_epoch for share in shares} == {1}
    assert {share.batch for share in shares} == {8}


def test_fewer_images_than_devices_are_refused():
    for rank in range(3):
        with pytest.raises(DataError, match="a split of 2 cannot be shared out among 3 devices"):
            Batches(numbered(2), 128, 0, CPU, rank, 3)


def test_the_order_is_kept_where_the_images_are_gathered(on_disk: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    elsewhere = torch.device("meta")
    assert Batches(on_disk, 16, 0, elsewhere).index(1).device == elsewhere
    monkeypatch.setattr(module, "fits", lambda *_: False)
    assert Batches(on_disk, 16, 0, elsewhere).index(1).device == CPU


def test_seeds_of_places_do_not_collide():
    seeds = {
        seed_for(seed, stream, a, b) for seed in range(3) for stream in Stream for a in range(20) for b in range(5)
    }
    assert len(seeds) == 3 * len(Stream) * 100
    assert all(0 <= seed < 2**63 for seed in seeds)


def numbered_videos(count: int = 20, frames: int = 9) -> np.ndarray:
    return np.arange(count * frames, dtype=np.uint8).reshape(count, frames, 1, 1, 1)


def test_clips_are_frames_in_a_row_from_anywhere_in_a_video(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    batches = Batches(numbered_videos(), 10, 0, CPU, clip=4)
    starts = []
    for step in range(60):
        clips = (batches[step] * 255).round().int()
        assert clips.shape == (10, 4, 1, 1, 1)
        first = clips[:, 0].flatten()
        assert torch.equal(clips.flatten(1), first[:, None] + torch.arange(4))
        assert torch.equal(first // 9, batches.index(step))
        starts += (first % 9).tolist()
    assert {*starts} == {0, 1, 2, 3, 4, 5}
    assert max(starts.count(start) for start in range(6)) < 150  # of 600
    path = tmp_path / "train.u8"
    numbered_videos().tofile(path)
    mapped = from_the_map(np.memmap(path, dtype=np.uint8, mode="r", shape=(20, 9, 1, 1, 1)), monkeypatch, clip=4)
    for step in (0, 5, 1):
        assert torch.equal(mapped[step], Batches(numbered_videos(), 16, 3, CPU, clip=4)[step])


def test_processes_share_clips():
    whole = Batches(numbered_videos(), 8, 0, CPU, clip=3)
    shares = [Batches(numbered_videos(), 8, 0, CPU, rank, 4, clip=3) for rank in range(4)]
    for step in (0, 3, 5):
        assert torch.equal(torch.cat([share[step] for share in shares]), whole[step])


def test_a_clip_as_long_as_the_videos_is_all_of_them():
    assert torch.equal(Batches(numbered_videos(), 8, 0, CPU, clip=9)[1], Batches(numbered_videos(), 8, 0, CPU)[1])


def test_videos_shorter_than_a_clip_are_named():
    with pytest.raises(DataError, match="videos have 9 frames, fewer than the 10 of a clip"):
        Batches(numbered_videos(), 8, 0, CPU, clip=10)
