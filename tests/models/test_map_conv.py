"""A kernel as large as its map: through Fourier space, or directly, it is the ordinary convolution."""

import pytest
import torch
from torch.nn import functional as F

from sigmavae.models.map_conv import MapConv2d, directly, through_fourier

SIZES = [(16, 16), (8, 8), (4, 4), (1, 1), (2, 3), (5, 5), (9, 12), (12, 9), (1, 7)]


def by_definition(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """y[i] = sum_d w[d] x[i + d], d from -floor((n - 1) / 2)."""
    rows, columns = weight.shape[-2:]
    y = torch.zeros(len(x), len(weight), rows, columns, dtype=x.dtype)
    for a in range(rows):
        for b in range(columns):
            down, right = a - (rows - 1) // 2, b - (columns - 1) // 2
            moved = F.pad(x, (columns, columns, rows, rows)).roll((-down, -right), (2, 3))
            y += torch.einsum("bchw,oc->bohw", moved[:, :, rows : 2 * rows, columns : 2 * columns], weight[..., a, b])
    return y


@pytest.mark.parametrize("convolve", [directly, through_fourier])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values_and_gradients_are_those_of_the_definition(size: tuple[int, int], convolve):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, *size, generator=generator, dtype=torch.float64)
    weight = torch.randn(4, 3, *size, generator=generator, dtype=torch.float64)
    upstream = torch.randn(2, 4, *size, generator=generator, dtype=torch.float64)
    found = []
    for each in (by_definition, convolve):
        given = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
        y = each(*given)
        (y * upstream).sum().backward()
        found.append((y.detach(), *(value.grad for value in given)))
    for ours, theirs in zip(found[1], found[0], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [(4, 4), (12, 12)])
def test_the_layer_adds_its_bias_and_computes_in_full_precision(size: tuple[int, int]):
    torch.manual_seed(0)
    layer = MapConv2d(3, 4, size)
    x = torch.randn(2, 3, *size).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
    assert y.dtype == torch.float32
    want = by_definition(x.double(), layer.weight.detach().double().unflatten(2, size))
    want += layer.bias.detach()[:, None, None]
    torch.testing.assert_close(y.detach().double(), want, rtol=1e-5, atol=1e-5)
