"""Moments of features, merged in any way, are those of numpy over all of them."""

import numpy as np
import pytest
import torch

from sigmavae.metrics.moments import Moments


def features(count: int = 200, width: int = 7, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(width, width, generator=generator, dtype=torch.float64)
    return torch.randn(count, width, generator=generator, dtype=torch.float64) @ mixing + 3


def moments(values: torch.Tensor, batch: int = 1000) -> Moments:
    found = Moments(values.shape[1])
    for part in values.split(batch):
        found.add(part)
    return found


@pytest.mark.parametrize("batch", [1, 17, 200])
def test_they_are_those_of_numpy_for_any_batch_and_order(batch: int):
    values = features()
    shuffled = values[torch.from_numpy(np.random.default_rng(0).permutation(len(values)))]
    for found in (moments(values, batch), moments(shuffled, batch)):
        assert found.count == 200
        torch.testing.assert_close(found.mean, values.mean(0), rtol=1e-12, atol=0)
        torch.testing.assert_close(found.covariance, torch.from_numpy(np.cov(values.numpy().T)), rtol=1e-10, atol=1e-12)


def test_a_mean_far_from_zero_costs_no_digits():
    # With sums of squares it would: 1e16 added to a variance of one leaves no digit of it.
    values = features()
    found = moments(values + 1e8, 17)
    torch.testing.assert_close(found.covariance, moments(values).covariance, rtol=1e-6, atol=1e-6)


def test_nothing_added_changes_nothing():
    found = moments(features())
    before = found.mean.clone(), found.scatter.clone()
    found.add(torch.zeros(0, 7))
    assert found.count == 200
    assert torch.equal(found.mean, before[0])
    assert torch.equal(found.scatter, before[1])


def test_single_precision_features_are_summed_in_double():
    values = features().float()
    torch.testing.assert_close(moments(values, 3).mean, values.double().mean(0), rtol=1e-14, atol=0)
