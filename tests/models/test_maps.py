"""A linear layer from or to a map is the ordinary one on the flattened map."""

import torch
from torch import Tensor, nn

from sigmavae.models.maps import from_map, to_map


def results(y: Tensor, *inputs: Tensor) -> list[Tensor]:
    weights = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
    return [y.detach(), *torch.autograd.grad((y * weights).sum(), inputs)]


def test_from_a_map():
    torch.manual_seed(0)
    linears = [nn.Linear(5 * 3 * 4, 7).double(), nn.Linear(5 * 3 * 4, 2).double()]
    weights = [parameter for linear in linears for parameter in linear.parameters()]
    x = torch.randn(2, 5, 3, 4, dtype=torch.float64).contiguous(memory_format=torch.channels_last).requires_grad_()
    found = from_map(x, *linears)
    assert [y.shape for y in found] == [(2, 7), (2, 2)]
    ours = results(torch.cat(found, 1), x, *weights)
    theirs = results(torch.cat([linear(x.flatten(1)) for linear in linears], 1), x, *weights)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_to_a_map():
    torch.manual_seed(0)
    linear = nn.Linear(7, 5 * 3 * 4).double()
    z = torch.randn(2, 7, dtype=torch.float64, requires_grad=True)
    y = to_map(z, linear, (5, 3, 4))
    assert y.is_contiguous(memory_format=torch.channels_last)
    ours = results(y, z, *linear.parameters())
    theirs = results(linear(z).unflatten(1, (5, 3, 4)), z, *linear.parameters())
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
