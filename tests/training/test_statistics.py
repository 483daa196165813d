"""Running statistics of averaged weights."""

import copy

import pytest
import torch
from torch import nn

from sigmavae.training.statistics import BATCHES, recompute_statistics
from tests.metrics.models import FRAMES, SIDE, small_svg, small_vae


def batch(number: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(number)
    return torch.rand(4, FRAMES, 1, SIDE, SIDE, generator=generator)


def test_they_are_the_mean_over_the_stated_number_of_batches():
    net = small_svg()
    layer = next(module for module in net.encoder.modules() if isinstance(module, nn.BatchNorm2d))
    seen: list[torch.Tensor] = []
    layer.register_forward_hook(lambda _, given, __: seen.append(given[0].detach()))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    recompute_statistics(net, batch)
    assert len(seen) == BATCHES
    torch.testing.assert_close(layer.running_mean, torch.stack([x.mean((0, 2, 3)) for x in seen]).mean(0))
    torch.testing.assert_close(layer.running_var, torch.stack([x.var((0, 2, 3)) for x in seen]).mean(0))
    moved = {name for name, value in net.state_dict().items() if not torch.equal(value, before[name])}
    assert moved
    assert all("running_" in name or "num_batches" in name for name in moved)
    assert not any("likelihood" in name for name in moved)
    assert layer.momentum == pytest.approx(0.1)
    assert not any(module.training for module in net.modules())


def test_a_model_without_batch_normalisation_is_left_alone():
    model = small_vae()
    before = copy.deepcopy(model.state_dict())
    recompute_statistics(model, lambda _: pytest.fail("no batch is needed"))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model.training
