"""The rate of each layer, on models whose answer is known."""

import pytest
import torch

import sigmavae
from sigmavae.metrics import bound
from sigmavae.metrics.layers import layers
from tests.metrics.models import Constant, random_images


def hierarchy() -> sigmavae.HVAE:
    torch.manual_seed(0)
    model = sigmavae.HVAE(
        (1, 8, 8), sigmavae.likelihood("gaussian"), latents=(2, 1, 2), halvings=(1, 3), width=4, blocks=1
    )
    model.initialise(torch.rand(8, 1, 8, 8))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def test_one_layer_carries_the_whole_rate():
    found = dict(layers(Constant(sigmavae.likelihood("gaussian")), random_images(), seed=0))
    assert found == {"rate_01": pytest.approx(3), "rate_01_stderr": 0, "layers_used": 1}


def test_the_layers_rates_add_up_to_that_of_the_bound_whatever_the_batch():
    model, data = hierarchy(), random_images(50, (1, 8, 8))
    found, whole = dict(layers(model, data, seed=3)), dict(bound(model, data, seed=3))
    each = [found[f"rate_{number:02}"] for number in (1, 2, 3)]
    assert sum(each) == pytest.approx(whole["rate"], rel=1e-5)
    assert len(set(each)) == 3
    assert found["layers_used"] == sum(rate > 0.1 for rate in each)
    assert dict(layers(model, data, seed=3, batch=7)) == pytest.approx(found, rel=1e-4, abs=1e-4)
