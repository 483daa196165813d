"""Finite values and gradients where pixels are 0 or 255, outputs saturate or the reconstruction is perfect."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.cases import CASES, CONTINUOUS, Case, over


def loss_and_gradient(likelihood, h, x, score: str):
    h = h.clone().requires_grad_()
    loss = -getattr(likelihood(h, x), score)(x).mean()
    loss.backward()
    return loss, h.grad


def assert_finite(likelihood, h, x):
    for score in ("log_prob", "bin_log_prob"):
        likelihood.zero_grad()
        loss, gradient = loss_and_gradient(likelihood, h, x, score)
        assert bool(torch.isfinite(loss)), score
        assert bool(torch.isfinite(gradient).all()), score
        for name, parameter in likelihood.named_parameters():
            assert bool(torch.isfinite(parameter.grad).all()), (score, name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size", [0.0, 30.0, -30.0, 200.0, -200.0, 1e6, -1e6])
@pytest.mark.parametrize("value", [0.0, 1.0, 128 / 255])
@over(CASES)
def test_black_and_white_pixels_with_saturated_outputs(case: Case, value: float, size: float, dtype: torch.dtype):
    likelihood, h, x = case.given(dtype=dtype)
    assert_finite(likelihood, torch.full_like(h, size), torch.full_like(x, value))


@over(CASES)
def test_alternating_saturation(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    sign = torch.where(torch.arange(h[0].numel()) % 2 == 0, 1.0, -1.0).reshape(h[0].shape)
    assert_finite(likelihood, 100 * sign.expand_as(h), x)


@pytest.mark.parametrize("support", ["unit", "real"])
@over(CONTINUOUS)
def test_perfect_reconstruction(case: Case, support: str):
    likelihood, h, _ = Case(case.name, {**case.options, "support": support}).given(dtype=torch.float32)
    x = likelihood(h).mean.detach().clone()
    assert_finite(likelihood, h, x)
    assert_finite(likelihood.eval(), h, x)


@over(CASES)
def test_bf16_features_are_computed_in_float32(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    h = h.bfloat16()
    lifted = case.make()
    want = lifted(h.float(), x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        p = likelihood(h, x)
        values = {name: getattr(p, name)(x.bfloat16()) for name in ("log_prob", "bin_log_prob", "cdf")}
        values |= {"mean": p.mean, "rate": p.rate}
        torch.manual_seed(0)
        sample = p.sample()
    exact = {name: getattr(want, name)(x.bfloat16().float()) for name in ("log_prob", "bin_log_prob", "cdf")}
    exact |= {"mean": want.mean, "rate": want.rate}
    for name, value in values.items():
        assert value.dtype == torch.float32, name
        torch.testing.assert_close(value, exact[name], rtol=0, atol=0)
    torch.manual_seed(0)
    assert torch.equal(sample, want.sample())


@over(CASES)
def test_nothing_is_a_matrix_product(case: Case):
    # Those are rounded to fewer digits under autocast, and on a GPU wherever TF32 is allowed.
    likelihood, h, x = case.given(dtype=torch.float32)
    with FlopCounterMode(display=False) as counted:
        p = likelihood(h.requires_grad_(), x)
        (p.log_prob(x) + p.bin_log_prob(x) + p.rate).sum().backward()
        p.mean.sum(), p.cdf(x).sum(), p.sample((2,))
        likelihood.observe(h, x)
    assert counted.get_total_flops() == 0


@over(CASES)
def test_float32_agrees_with_float64(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    double = case.make(torch.float64)
    p, q = likelihood(h, x), double(h.double(), x.double())
    # 2e-5 nats for each of the 60 elements, relative to values of tens to hundreds of nats.
    for score in ("log_prob", "bin_log_prob"):
        torch.testing.assert_close(getattr(p, score)(x).double(), getattr(q, score)(x.double()), rtol=2e-6, atol=1.2e-3)


@over(CASES)
def test_items_do_not_depend_on_their_batch(case: Case):
    likelihood, h, x = case.given(batch=6)
    likelihood(h, x)  # running statistics, where there are any
    likelihood.eval()
    whole = likelihood(h, x)
    part = likelihood(h[2:3], x[2:3])
    for score in ("log_prob", "bin_log_prob"):
        torch.testing.assert_close(getattr(part, score)(x[2:3]), getattr(whole, score)(x)[2:3])


@pytest.mark.parametrize("event", [(1,), (5,), (2, 7), (3, 5, 4), (1, 4, 3, 2)], ids=str)
@over(CASES)
def test_any_channel_count_and_spatial_shape(case: Case, event: tuple[int, ...]):
    likelihood, h, x = case.given(event=event)
    p = likelihood(h, x)
    assert p.log_prob(x).shape == p.bin_log_prob(x).shape == p.rate.shape == (4,)
    assert p.mean.shape == p.sample().shape == p.cdf(x).shape == x.shape
    flat = 1
    for n in event:
        flat *= n
    # An image is the vector of its pixels: only block-sigma and the mixture know about pixels being neighbours.
    if case.name not in ("block-sigma", "logistic-mixture"):
        folded = h.unflatten(1, (-1, event[0])).reshape(4, -1, flat).flatten(1)
        vector = case.make(torch.float64)(folded, x.flatten(1))
        torch.testing.assert_close(vector.log_prob(x.flatten(1)), p.log_prob(x))
