"""Each likelihood traces into one graph; a few are also compiled to machine code and compared."""

import pytest
import torch

from tests.cases import CASES, Case, over


def step(likelihood, h, x):
    p = likelihood(h, x)
    return p.log_prob(x), p.bin_log_prob(x), p.rate


def agrees(case: Case, backend: str):
    torch._dynamo.reset()
    eager, h, x = case.given(dtype=torch.float32)
    traced = case.make()
    compiled = torch.compile(step, fullgraph=True, backend=backend)
    a, b = h.clone().requires_grad_(), h.clone().requires_grad_()
    want, have = step(eager, a, x), compiled(traced, b, x)
    for w, v in zip(want, have, strict=True):
        torch.testing.assert_close(v, w, rtol=1e-5, atol=1e-3)
    want[0].sum().backward()
    have[0].sum().backward()
    torch.testing.assert_close(b.grad, a.grad, rtol=1e-3, atol=1e-4)
    for w, v in zip(eager.buffers(), traced.buffers(), strict=True):
        torch.testing.assert_close(v, w)


@over(CASES)
def test_traces_into_one_graph(case: Case):
    agrees(case, "aot_eager")


@over(CASES)
def test_traces_with_sizes_left_open(case: Case):
    torch._dynamo.reset()
    likelihood, h, x = case.given(dtype=torch.float32)
    compiled = torch.compile(step, fullgraph=True, dynamic=True, backend="eager")
    for size in (4, 3):
        have, want = compiled(likelihood.eval(), h[:size], x[:size]), step(likelihood, h[:size], x[:size])
        torch.testing.assert_close(have[0], want[0])


@pytest.mark.parametrize("name", ["optimal-sigma", "logistic-mixture"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiles(name: str):
    agrees(Case(name), "inductor")
