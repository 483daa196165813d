"""Batches are functions of seed and step alone, and processes share them out."""

import numpy as np
import torch

from sigmavae.data import Batches
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


def test_seeds_of_places_do_not_collide():
    seeds = {
        seed_for(seed, stream, a, b) for seed in range(3) for stream in Stream for a in range(20) for b in range(5)
    }
    assert len(seeds) == 3 * len(Stream) * 100
    assert all(0 <= seed < 2**63 for seed in seeds)
