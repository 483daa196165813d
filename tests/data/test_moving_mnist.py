"""Stochastic Moving MNIST: every video is a function of its number, and digits move as they should."""

from pathlib import Path

import numpy as np
import pytest
import torch

from sigmavae.config import DataConfig
from sigmavae.data import Batches, load
from sigmavae.data.moving_mnist import MovingDigits, bounce, drawn, framed
from sigmavae.data.splits import Splits
from sigmavae.errors import ConfigError
from sigmavae.noise import ItemNoise
from sigmavae.progress import Silent
from sigmavae.seeds import Stream
from tests.data.files import pixels, write_idx
from tests.data.real import real

CPU = torch.device("cpu")
LAST = 31


def digits(count: int = 20) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 256, (count, 28, 28, 1)).astype(np.uint8)


def videos(frames: int = 12, seed: int = 0) -> MovingDigits:
    return MovingDigits(digits(), 50, frames, seed)


def test_a_video_is_a_function_of_its_number_and_seed():
    made = videos()
    some = made[np.array([7, 3, 49])]
    assert some.shape == (3, 12, 1, 64, 64)
    assert some.dtype == np.uint8
    assert np.array_equal(some[0], made[7])
    assert np.array_equal(made[:5], np.stack([made[i] for i in range(5)]))
    assert not np.array_equal(made[3], made[4])
    assert not np.array_equal(made[3], videos(seed=1)[3])
    assert np.array_equal(made[3], videos()[3])


def test_a_clip_is_a_part_of_its_video():
    made = videos()
    clip = made.compose(torch.tensor([4, 9]), torch.tensor([0, 7]), 5)
    assert np.array_equal(clip[0].numpy(), made[4][:5])
    assert np.array_equal(clip[1].numpy(), made[9][7:12])


def test_there_is_no_last_video():
    made = videos()
    later = made.compose(torch.tensor([50, 10**9]), torch.zeros(2, dtype=torch.long), 12)
    assert later.float().std() > 0
    assert not torch.equal(later[0], later[1])


def places(count: int = 2000, frames: int = 40) -> torch.Tensor:
    return bounce(ItemNoise(0, torch.arange(count), Stream.SCENES), count, frames)


def test_digits_stay_inside_and_bounce_off_the_edges_at_random():
    where = places()
    assert int(where.min()) == 0
    assert int(where.max()) == LAST
    speed = where.diff(dim=1)
    assert int(speed.abs().max()) == 4
    # A speed changes only from where the digit was at an edge.
    changed = speed[:, 1:] != speed[:, :-1]
    before = where[:, 1:-1]
    at_edge = ((before == 0) | (before == LAST)).any(-1, keepdim=True).expand_as(changed)
    # ... or where it is held at one, on its way there.
    ahead = where[:, 2:]
    held = ((ahead == 0) | (ahead == LAST)).any(-1, keepdim=True).expand_as(changed)
    assert not bool((changed & ~at_edge & ~held).any())


def test_after_a_bounce_every_speed_away_from_the_edge_is_as_likely():
    where = places(4000, 30)
    speed = where.diff(dim=1)
    rows, columns = where[..., 0], where[..., 1]
    inner = (columns[:, 1:-1] > 4) & (columns[:, 1:-1] < LAST - 4)
    arrived = (rows[:, 1:-1] == 0) & (speed[:, :-1, :, 0] < 0) & inner & (speed[:, 1:, :, 0] != 0)
    away = speed[:, 1:, :, 0][arrived]
    # A digit that reaches row 0 exactly stays on its way for a frame; the others leave at 1 to 4.
    leaving = away[away > 0]
    share = torch.bincount(leaving, minlength=5)[1:].double() / len(leaving)
    assert len(leaving) > 1000
    torch.testing.assert_close(share, torch.full((4,), 0.25, dtype=torch.float64), atol=0.06, rtol=0)


def test_a_bounce_off_one_edge_draws_the_other_speed_anew_whatever_it_was():
    found = places(4000)
    before, after = found[:, 1:-1] - found[:, :-2], found[:, 2:] - found[:, 1:-1]
    at = found[:, 1:-1]
    for axis in (0, 1):
        # Away from the axis' own edges, so that speeds are seen as they are; the other axis would have left its row.
        inner = (at[..., axis] >= 8) & (at[..., axis] <= 31 - 8)
        turned = (before[..., 1 - axis] * after[..., 1 - axis] < 0) & inner
        old, new = (speed[..., axis][turned].double() for speed in (before, after))
        assert len(old) > 5000
        shares = torch.stack([(new == speed).double().mean() for speed in range(-4, 5)])
        assert float((shares - 1 / 9).abs().max()) < 5 * (1 / 9 * 8 / 9 / len(new)) ** 0.5
        assert abs(float(torch.corrcoef(torch.stack([old, new]))[0, 1])) < 5 / len(new) ** 0.5


def test_starts_and_speeds_are_uniform():
    where = places(20_000, 2)
    first = torch.bincount(where[:, 0].flatten(), minlength=LAST + 1).double() / where[:, 0].numel()
    torch.testing.assert_close(first, torch.full((32,), 1 / 32, dtype=torch.float64), atol=0.003, rtol=0)
    inside = (where[:, 0] >= 4) & (where[:, 0] <= LAST - 4)
    inside = inside.all(-1, keepdim=True).expand_as(where[:, 0])
    speed = (where[:, 1] - where[:, 0])[inside]
    share = torch.bincount(speed + 4, minlength=9).double() / len(speed)
    torch.testing.assert_close(share, torch.full((9,), 1 / 9, dtype=torch.float64), atol=0.01, rtol=0)


def test_a_digit_is_drawn_where_it_is():
    patch = framed(digits(2))
    where = torch.tensor([[[0, 0], [31, 5]], [[12, 31], [7, 7]]])
    frames = drawn(patch, where)
    for item in range(2):
        for t in range(2):
            row, column = where[item, t].tolist()
            want = torch.zeros(64, 64, dtype=patch.dtype)
            want[row : row + 32, column : column + 32] = patch[item, 1:-1, 1:-1]
            assert torch.equal(frames[item, t], want)


def test_two_digits_add_up_and_stay_8_bit():
    made = MovingDigits(np.full((1, 28, 28, 1), 200, np.uint8), 8, 12, 0)[:]
    assert set(np.unique(made)) == {0, 200, 255}


def loaded(folder: Path, **fields) -> Splits:
    return load(DataConfig(name="moving-mnist", path=folder, **fields), Silent())


def test_splits_have_digits_of_their_own(tmp_path: Path):
    splits = loaded(write_idx(tmp_path, pixels(40, 28, 28, seed=1), pixels(10, 28, 28, seed=2)), frames=7)
    assert splits.shape == (7, 1, 64, 64)
    assert "36" not in splits.source
    assert "4 of the training digits held out" in splits.source
    parts = [set(map(bytes, splits.split(name)._digits.numpy())) for name in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [36, 4, 10]
    assert not parts[0] & parts[1]
    assert splits.fingerprint != loaded(tmp_path, frames=8).fingerprint


def test_what_it_is_not_is_refused(tmp_path: Path):
    folder = write_idx(tmp_path, pixels(40, 28, 28, seed=1), pixels(10, 28, 28, seed=2))
    with pytest.raises(ConfigError, match=r"data.size=32: moving-mnist is 64 x 64"):
        loaded(folder, size=32)
    with pytest.raises(ConfigError, match="for models of videos"):
        loaded(folder).frames()


def test_batches_are_the_same_for_any_number_of_processes_and_never_repeat():
    made = videos()
    whole = Batches(made, 10, 0, CPU, clip=5)
    shares = [Batches(made, 10, 0, CPU, rank, 2, clip=5) for rank in range(2)]
    for step in (0, 3, 12, 3):
        assert torch.equal(torch.cat([share[step] for share in shares]), whole[step])
    assert whole[0].shape == (10, 5, 1, 64, 64)
    numbers = torch.cat([whole.index(step) for step in range(15)])
    assert len(numbers.unique()) == 150
    assert sorted(numbers[50:100].tolist()) == list(range(50, 100))
    assert torch.equal(whole[2], torch.tensor(made.compose(whole.index(2), whole.starts(2), 5).numpy()).float() / 255)


def test_real_digits():
    splits = loaded(real("mnist"))
    frames = splits.test[:20]
    assert frames.shape == (20, 30, 1, 64, 64)
    assert 0.03 < frames.mean() / 255 < 0.09  # two digits of 32 x 32, of which 13 % is ink, on 64 x 64
