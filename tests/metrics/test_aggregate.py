"""The density of the aggregate posterior, beside torch's mixture."""

import math

import pytest
import torch
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from sigmavae.metrics import aggregate
from sigmavae.metrics.aggregate import log_aggregate, log_aggregate_of_many
from sigmavae.metrics.posteriors import Posteriors
from tests.metrics.codes import normal, standard


def beside(z: torch.Tensor, q: Posteriors) -> torch.Tensor:
    parts = Independent(Normal(q.mean, (0.5 * q.log_variance).exp()), 1)
    return MixtureSameFamily(Categorical(logits=torch.zeros(len(q), dtype=torch.float64)), parts).log_prob(z)


@pytest.mark.parametrize("variance", [1.0, 1e-4, 1e-7])
def test_it_is_the_density_of_the_mixture(variance: float):
    mean = 3 * normal(500, 20, 0)
    q = Posteriors(mean, math.log(variance) - normal(500, 20, 2).abs())
    z = torch.cat([q.sample(lambda like: normal(*like.shape, 3)), normal(100, 20, 1)])
    torch.testing.assert_close(log_aggregate(z, q), beside(z, q), rtol=1e-9, atol=1e-4)


def test_tiles_do_not_matter(monkeypatch: pytest.MonkeyPatch):
    q = standard(rate=10.0, count=101, d=5)
    z = q.sample(lambda like: normal(*like.shape, 3))
    whole = log_aggregate(z, q)
    monkeypatch.setattr(aggregate, "COLUMNS", 7)
    monkeypatch.setattr(aggregate, "ROWS", 13)
    torch.testing.assert_close(log_aggregate_of_many(z, q, torch.device("cpu")), whole)
