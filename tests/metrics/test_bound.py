"""The bound, on models whose answer is known."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

import sigmavae
from sigmavae.likelihoods import Likelihood
from sigmavae.metrics import bound
from sigmavae.models import LatentModel
from tests.cases import CASES, Case, over

SHAPE = (1, 4, 5)


class Constant(LatentModel):
    """A decoder that ignores z, with a rate of 3 nats: everything about it can be computed by hand."""

    def __init__(self, likelihood: Likelihood, value: float = 0.0) -> None:
        super().__init__(SHAPE, likelihood)
        self.h = torch.nn.Parameter(torch.full((likelihood.features(1), *SHAPE[1:]), value))

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.h.expand(len(x), *self.h.shape), torch.full((len(x),), 3.0)

    def generate(self, n: int) -> Tensor:
        return self.h.expand(n, *self.h.shape)


def images(count: int = 600):
    return np.random.default_rng(0).integers(0, 256, (count, *SHAPE)).astype(np.uint8)


def test_unit_gaussian_by_hand():
    data = images()
    metrics = dict(bound(Constant(sigmavae.likelihood("gaussian")), data, seed=0))
    square = ((data / 255 - 0.5) ** 2).reshape(len(data), -1).sum(1)
    distortion = 0.5 * square + 10 * math.log(2 * math.pi)
    assert metrics["distortion"] == pytest.approx(distortion.mean(), rel=1e-6)
    assert metrics["rate"] == pytest.approx(3)
    assert metrics["nll"] == pytest.approx(distortion.mean() + 3, rel=1e-6)
    assert metrics["nll_stderr"] == pytest.approx(distortion.std(ddof=1) / math.sqrt(600), rel=1e-4)
    assert metrics["rmse"] == pytest.approx(math.sqrt(square.mean() / 20), rel=1e-6)
    assert metrics["sigma"] == 1
    assert metrics["beta"] == 2


def test_uniform_categorical_costs_eight_bits_and_the_rate():
    metrics = dict(bound(Constant(sigmavae.likelihood("categorical")), images(), seed=0))
    want = 20 * math.log(256) + 3
    assert metrics["nll"] == pytest.approx(want, rel=1e-6)
    assert metrics["nll_discrete"] == pytest.approx(want, rel=1e-6)
    assert metrics["bits_per_dim"] == pytest.approx(8 + 3 / (20 * math.log(2)), rel=1e-6)
    assert "sigma" not in metrics


@over(CASES)
def test_the_discrete_bound_is_that_of_bin_masses(case: Case):
    model = Constant(case.make(), 0.3)
    data = images(40)
    metrics = dict(bound(model, data, seed=0))
    x = torch.from_numpy(data).float() / 255
    p = model.likelihood(model.infer(x)[0], x)
    want = (-p.bin_log_prob(x) + 3 + p.rate).mean()
    assert metrics["nll_discrete"] == pytest.approx(float(want.detach()), rel=1e-5)
    assert metrics["bits_per_dim"] == pytest.approx(metrics["nll_discrete"] / (20 * math.log(2)))


def test_the_same_seed_gives_the_same_numbers_and_the_model_is_left_alone():
    torch.manual_seed(0)
    model = sigmavae.ConvVAE((1, 8, 8), sigmavae.likelihood("optimal-sigma"), width=4)
    model(torch.rand(4, 1, 8, 8))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    data = np.random.default_rng(1).integers(0, 256, (300, 1, 8, 8)).astype(np.uint8)
    first = dict(bound(model, data, seed=5))
    assert first == dict(bound(model, data, seed=5))
    assert first["nll"] != dict(bound(model, data, seed=6))["nll"]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
