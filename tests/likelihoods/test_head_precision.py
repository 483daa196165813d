"""A fused head computes in float32, or float64 if its features are, whatever autocast and its weights are in."""

import contextlib
import copy

import pytest
import torch
from torch import Tensor

import sigmavae
from tests.cases import CASES, Case, over
from tests.likelihoods.test_head import MANY, WIDTH

EVENT = (3, 5, 4)


def given(case: Case) -> tuple[sigmavae.FusedHead, Tensor, Tensor]:
    """Return a head in float32 of several tiles, inputs and data."""
    likelihood, _, x = case.given(event=EVENT, dtype=torch.float32)
    torch.manual_seed(0)
    head = sigmavae.FusedHead(likelihood, WIDTH, EVENT[0], memory=7 * likelihood.features(EVENT[0]) * 4)
    return head, torch.randn(len(x), WIDTH, *EVENT[1:]), x


def lowered(low: bool) -> contextlib.AbstractContextManager[object]:
    return torch.autocast("cpu", torch.bfloat16, enabled=low)


def gradients(case: Case, answer: str, forward: bool, backward: bool) -> tuple[Tensor, ...]:
    """Return an answer and its gradients, made inside autocast or not, and followed back inside it or not."""
    head, inputs, x = given(case)
    inputs.requires_grad_()
    with lowered(forward):
        p = head(inputs, x)
        value = {"log_prob": lambda: p.log_prob(x), "mean": lambda: p.mean, "cdf": lambda: p.cdf(x)}[answer]()
    with lowered(backward):
        value.square().sum().backward()
    return value.detach(), inputs.grad, head.weight.grad, head.bias.grad


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("answer", ["log_prob", "mean", "cdf"])
@over(MANY)
def test_autocast_changes_no_answer_and_no_gradient(case: Case, answer: str, backward: bool):
    want = gradients(case, answer, forward=False, backward=False)
    have = gradients(case, answer, forward=True, backward=backward)
    torch.testing.assert_close(have, want, rtol=0, atol=0)


@over(CASES)
def test_autocast_changes_nothing_that_is_learned_or_refitted(case: Case):
    results = []
    for low in (False, True):
        head, inputs, x = given(case)
        with lowered(low):
            head.observe(inputs, x)
            with contextlib.suppress(ValueError):  # most have no scale that one pass can fit
                head = head.refit([(inputs, x)])
        results.append(dict(head.named_buffers()))
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=0)


@over(CASES)
def test_weights_in_half_precision_are_lifted_and_features_in_float64_stay(case: Case):
    head, inputs, x = given(case)
    head.bfloat16()
    lifted = copy.deepcopy(head).float()
    p, q = head(inputs.bfloat16(), x), lifted(inputs.bfloat16().float(), x)
    assert p.log_prob(x).dtype == torch.float32
    if not dict(head.named_buffers()) and not dict(head.likelihood.named_parameters()):
        torch.testing.assert_close(p.log_prob(x), q.log_prob(x), rtol=0, atol=0)
    (p.log_prob(x).sum() + p.mean.sum()).backward()
    assert head.weight.grad.dtype == torch.bfloat16
    assert lifted(inputs.double(), x).log_prob(x.double()).dtype == torch.float64


@over(MANY)
def test_data_in_float64_beside_features_in_float32(case: Case):
    head, inputs, x = given(case)
    results = []
    for data in (x, x.double()):
        f = inputs.clone().requires_grad_()
        value = head(f, data).log_prob(data)
        results.append((value.detach(), *torch.autograd.grad(value.sum(), (f, head.weight, head.bias))))
    torch.testing.assert_close(results[1], results[0])
