"""The optimizer and its learning rate."""

import json

import pytest
import torch

from sigmavae.config import TrainConfig
from sigmavae.training.checkpoint import pack_optimizer, unpack_optimizer
from sigmavae.training.optimizer import learning_rate, make_optimizer, set_learning_rate


def test_the_learning_rate_falls_by_a_factor_a_step_to_its_floor():
    train = TrainConfig(lr=0.1, lr_decay=0.5, lr_floor=0.02)
    assert [learning_rate(train, step) for step in range(5)] == pytest.approx([0.1, 0.05, 0.025, 0.02, 0.02])
    assert learning_rate(TrainConfig(lr=1e-3), 10**9) == 1e-3
    assert learning_rate(TrainConfig(lr=1e-3, lr_floor=1.0), 5) == 1e-3, "a floor raises nothing"


def test_the_papers_schedule():
    train = TrainConfig(lr=2e-3, lr_decay=0.999999, lr_floor=1e-4)
    assert learning_rate(train, 30_000) == pytest.approx(2e-3 * 0.9704, rel=1e-4)


def test_adamax_is_its_formula():
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64))
    optimizer = make_optimizer([weight], TrainConfig(optimizer="adamax", lr=0.01))
    want, mean, largest = weight.detach().clone(), torch.zeros(3).double(), torch.zeros(3).double()
    for step in range(1, 6):
        gradient = torch.sin(torch.arange(3.0).double() + step)
        weight.grad = gradient.clone()
        rate = 0.01 / step
        set_learning_rate(optimizer, rate)
        optimizer.step()
        mean = 0.9 * mean + 0.1 * gradient
        largest = torch.maximum(0.999 * largest, gradient.abs() + 1e-8)
        want = want - rate / (1 - 0.9**step) * mean / largest
    torch.testing.assert_close(weight.detach(), want)


def test_adamax_survives_packing_and_json():
    weight = torch.nn.Parameter(torch.randn(4, 3))
    optimizer = make_optimizer([weight], TrainConfig(optimizer="adamax", lr=0.01))
    weight.grad = torch.randn(4, 3)
    optimizer.step()
    tensors, groups = pack_optimizer(optimizer.state_dict())
    other = make_optimizer([weight], TrainConfig(optimizer="adamax", lr=0.5))
    other.load_state_dict(unpack_optimizer(tensors, json.loads(json.dumps(groups))))
    for key, value in optimizer.state[weight].items():
        assert torch.equal(other.state[weight][key], value)
