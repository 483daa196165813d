"""Noise that belongs to items: the same in any batch, and noise."""

import pytest
import torch
from scipy import stats

from sigmavae.noise import ItemNoise
from sigmavae.seeds import Stream

SURE = 1e-4  # a test of true noise fails once in ten thousand seeds; the seed is fixed


def like(rows, *shape, dtype=torch.float32):
    return torch.empty(rows, *shape, dtype=dtype)


def test_the_same_in_any_batch_and_order():
    whole = ItemNoise(3, torch.arange(10))
    one, two = whole(like(10, 2, 3)), whole(like(10, 5))
    order = torch.tensor([7, 2, 9])
    part = ItemNoise(3, order)
    assert torch.equal(part(like(3, 2, 3)), one[order])
    assert torch.equal(part(like(3, 5)), two[order])


def test_items_draws_seeds_and_streams_differ():
    items = torch.arange(100)
    source = ItemNoise(0, items)
    draws = [source(like(100, 4)), source(like(100, 4))]
    draws += [ItemNoise(1, items)(like(100, 4)), ItemNoise(0, items, Stream.PICTURES)(like(100, 4))]
    rows = torch.cat(draws)
    assert len(rows.flatten().unique()) == rows.numel()


@pytest.mark.parametrize("shape", [(4000, 50), (100, 2000), (200_000, 1)], ids=str)
def test_normal_noise_is_normal(shape):
    noise = ItemNoise(5, torch.arange(shape[0]))(like(*shape, dtype=torch.float64))
    assert stats.kstest(noise.flatten().numpy(), "norm").pvalue > SURE
    # neighbours among items and among elements are not correlated: r * sqrt(n) is standard normal
    for a, b in ((noise[1:], noise[:-1]), (noise[:, 1:], noise[:, :-1])):
        if a.numel():
            r = (a * b).mean() * a.numel() ** 0.5
            assert abs(float(r)) < 4


def test_uniform_noise_is_uniform_and_open():
    noise = ItemNoise(5, torch.arange(2000)).uniform(like(2000, 100))
    assert noise.dtype == torch.float32
    assert float(noise.min()) > 0
    assert float(noise.max()) < 1
    assert stats.kstest(noise.flatten().double().numpy(), "uniform").pvalue > SURE


def test_type_of_what_it_is_like():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        assert ItemNoise(0, torch.arange(2))(like(2, 3, dtype=dtype)).dtype == dtype
