"""What the base class of models does for all of them."""

import pytest
import torch

import sigmavae
from sigmavae.models import LatentModel

VALIDATION = {"name": "optimal-sigma", "source": "validation"}


def conv() -> LatentModel:
    return sigmavae.ConvVAE((3, 16, 16), sigmavae.likelihood(**VALIDATION), width=4, latent=3)


def hvae() -> LatentModel:
    options = {"latents": (3, 2, 2), "halvings": (1, 3), "width": 6, "blocks": 2, "dropout": 0.5}
    return sigmavae.HVAE((3, 16, 16), sigmavae.likelihood(**VALIDATION), **options)


def svg() -> LatentModel:
    options = {"past": 3, "future": 3, "g": 6, "z": 3, "rnn": 5, "width": 2, "score_past": True}
    return sigmavae.SVG((6, 3, 16, 16), sigmavae.likelihood(**VALIDATION), **options)


@pytest.mark.parametrize("make", [conv, hvae, svg])
def test_held_out_data_are_seen_as_in_evaluation_and_move_nothing_but_the_scale(make):
    torch.manual_seed(0)
    model = make().train()
    x = torch.rand(4, *model.shape)
    model.initialise(x)
    frozen = next(module for module in model.modules() if not list(module.children()))
    frozen.eval()
    modes = [module.training for module in model.modules()]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    torch.manual_seed(1)
    model.observe(x)
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert moved == {"likelihood.running.value", "likelihood.running.updates"}
    assert [module.training for module in model.modules()] == modes
    model.eval()
    torch.manual_seed(1)
    error = (torch.sigmoid(model.infer(x)[0]) - model.target(x)).square().mean().sqrt()
    torch.testing.assert_close(model.likelihood.sigma, error)
