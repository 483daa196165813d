"""A transposed convolution by phases is the ordinary one."""

import pytest
import torch
from torch import nn

from sigmavae.models.transposed import TransposedConv2d, last_two

SHAPES = [(6, 2), (5, 1), (4, 2), (2, 2), (3, 1), (1, 1), (8, 2), (7, 3), (5, 3), (3, 3), (8, 4)]


def twins(kernel: int, stride: int) -> tuple[nn.ConvTranspose2d, TransposedConv2d]:
    torch.manual_seed(0)
    plain = nn.ConvTranspose2d(3, 5, kernel, stride, padding=(kernel - stride) // 2).double()
    phased = TransposedConv2d(3, 5, kernel, stride).double()
    phased.load_state_dict(plain.state_dict())
    return plain, phased


@pytest.mark.parametrize(("kernel", "stride"), SHAPES)
def test_the_same_output_and_gradients(kernel: int, stride: int):
    x = torch.randn(2, 3, 6, 5, dtype=torch.float64)
    found = []
    for layer in twins(kernel, stride):
        x = x.detach().requires_grad_()
        y = layer(x)
        (y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum().backward()
        found.append((y.detach(), x.grad, layer.weight.grad, layer.bias.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("stride", "last"), [(2, 5), (2, 1), (2, 9), (1, 3), (3, 7)])
def test_the_last_two_layers_together(stride: int, last: int):
    plain, phased = twins(stride + 4, stride)
    final = nn.ConvTranspose2d(5, 2, last, padding=(last - 1) // 2).double()
    x = torch.randn(2, 3, 6, 5, dtype=torch.float64, requires_grad=True)
    found = []
    for up, y in ((plain, final(torch.relu(plain(x)))), (phased, last_two(x, phased, final))):
        total = (y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)).sum()
        found.append([y.detach(), *torch.autograd.grad(total, [x, *up.parameters(), *final.parameters()])])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_a_last_layer_that_does_not_fit_the_phases_is_refused():
    _, phased = twins(6, 2)
    with pytest.raises(ValueError, match="must be a multiple of stride"):
        last_two(torch.randn(2, 3, 4, 4, dtype=torch.float64), phased, nn.ConvTranspose2d(5, 2, 3, padding=1).double())


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 2}, {"padding": 4, "dilation": 2}])
def test_a_last_layer_that_changes_the_size_is_refused(options: dict[str, int]):
    _, phased = twins(6, 2)
    with pytest.raises(ValueError, match="keeps the size"):
        last_two(torch.randn(2, 3, 4, 4).double(), phased, nn.ConvTranspose2d(5, 2, 5, **options).double())


def test_no_images_give_none():
    _, phased = twins(6, 2)
    assert phased(torch.empty(0, 3, 4, 5, dtype=torch.float64)).shape == (0, 5, 8, 10)


def test_channels_last_stays_channels_last():
    layer = TransposedConv2d(8, 4, 6, 2).to(memory_format=torch.channels_last)
    x = torch.randn(2, 8, 7, 7).to(memory_format=torch.channels_last)
    assert layer(x).is_contiguous(memory_format=torch.channels_last)


def test_initial_weights_are_those_of_the_ordinary_layer():
    torch.manual_seed(0)
    plain = nn.ConvTranspose2d(3, 5, 6, 2, 2)
    torch.manual_seed(0)
    phased = TransposedConv2d(3, 5, 6, 2)
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), phased.parameters(), strict=True))


@pytest.mark.parametrize(("kernel", "stride"), [(5, 2), (1, 2)])
def test_sizes_that_do_not_come_out_even_are_refused(kernel: int, stride: int):
    with pytest.raises(ValueError, match="must be even"):
        TransposedConv2d(3, 5, kernel, stride)
