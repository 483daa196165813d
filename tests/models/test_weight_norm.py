"""Weight normalisation: the weight is g v / |v|, and one batch sets how large outputs are."""

import copy
from pathlib import Path

import pytest
import torch
from torch import nn

from sigmavae.models.map_conv import MapConv2d
from sigmavae.models.weight_norm import STD, initialising, normed, normed_layers
from tests.processes import in_two

LAYERS = {
    "convolution": lambda: nn.Conv2d(3, 5, 3, padding=1),
    "transposed": lambda: nn.ConvTranspose2d(3, 5, 3, stride=2, padding=1, output_padding=1),
    "map": lambda: MapConv2d(3, 5, (6, 6)),
}


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        normed(nn.Conv2d(3, 7, 3, padding=1)), nn.ELU(), normed(MapConv2d(7, 5, (6, 6))), normed(nn.Conv2d(5, 4, 1))
    )


def batch() -> torch.Tensor:
    return 3 * torch.rand(16, 3, 6, 6, generator=torch.Generator().manual_seed(1)) - 1


@pytest.mark.parametrize("name", LAYERS)
def test_each_output_has_a_gain_which_is_the_length_of_its_weight(name: str):
    torch.manual_seed(0)
    layer = normed(LAYERS[name]())
    gain = layer.parametrizations.weight.original0
    assert gain.numel() == 5
    with torch.no_grad():
        gain.copy_(torch.arange(1.0, 6.0).reshape(gain.shape))
    outputs = 1 if name == "transposed" else 0
    lengths = layer.weight.detach().movedim(outputs, 0).flatten(1).norm(dim=1)
    torch.testing.assert_close(lengths, torch.arange(1.0, 6.0))


def outputs_of(net: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    handles = [layer.register_forward_hook(lambda _m, _i, y: found.append(y.detach())) for layer in normed_layers(net)]
    net(x)
    for handle in handles:
        handle.remove()
    return found


def test_afterwards_every_output_has_mean_zero_and_the_standard_deviation_asked_for():
    net, x = network(), batch()
    with initialising(net):
        during = net(x)
    found = outputs_of(net, x)
    assert len(found) == 3
    for y in found:
        torch.testing.assert_close(y.mean((0, 2, 3)), torch.zeros(y.shape[1]), atol=1e-6, rtol=0)
        torch.testing.assert_close(
            y.var((0, 2, 3), unbiased=False).sqrt(), torch.full((y.shape[1],), STD), rtol=1e-3, atol=0
        )
    torch.testing.assert_close(during, net(x), rtol=1e-3, atol=1e-5)  # layers were fed what set layers give


def test_a_second_pass_outside_changes_nothing_and_a_copy_is_the_same():
    net, x = network(), batch()
    with initialising(net):
        net(x)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    net(2 * x)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    twin = copy.deepcopy(net)
    other = network()
    other.load_state_dict(net.state_dict())
    assert torch.equal(twin(x), net(x))
    assert torch.equal(other(x), net(x))


def test_an_output_that_never_varies_stays_finite():
    net = nn.Sequential(normed(nn.Conv2d(3, 2, 1)))
    with initialising(net):
        net(torch.zeros(4, 3, 2, 2))
    assert all(bool(torch.isfinite(value).all()) for value in net.state_dict().values())


def _initialised_by_half() -> dict[str, torch.Tensor]:
    net, rank = network(), torch.distributed.get_rank()
    with initialising(net):
        net(batch()[rank::2])
    return net.state_dict()


def test_two_processes_find_what_one_does(tmp_path: Path):
    net = network()
    with initialising(net):
        net(batch())
    first, second = in_two(_initialised_by_half, tmp_path)
    for name, value in net.state_dict().items():
        torch.testing.assert_close(first[name], value, rtol=1e-4, atol=1e-6)
        assert torch.equal(first[name], second[name])
