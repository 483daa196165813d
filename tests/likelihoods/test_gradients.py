"""Gradients against finite differences, in float64."""

import pytest
import torch

from tests.cases import CASES, Case, over


@pytest.mark.parametrize("score", ["log_prob", "bin_log_prob"])
@over(CASES)
def test_gradcheck(case: Case, score: str):
    likelihood, h, x = case.given(event=(2, 2), batch=2)
    likelihood(h, x)
    likelihood.eval()  # a batch's own sigma is a constant to autograd by design: see test_optimal_sigma
    x[0, 0, 0], x[1, 1, 1] = 0.0, 1.0
    if case.name == "image-sigma":
        p = likelihood(h, x)
        scale = p.scale

        def score_of(h: torch.Tensor) -> torch.Tensor:
            q = likelihood(h, x)
            q.scale = scale
            return getattr(q, score)(x)

    else:

        def score_of(h: torch.Tensor) -> torch.Tensor:
            return getattr(likelihood(h, x), score)(x)

    assert torch.autograd.gradcheck(score_of, (h.requires_grad_(),))


def test_gradcheck_of_bernoulli_masses_where_the_logit_is_zero():
    likelihood, h, x = Case("bernoulli").given(event=(2, 2), batch=2)
    likelihood(h, x)
    h = torch.zeros_like(h).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: likelihood(h, x).bin_log_prob(x), (h,), eps=1e-8, atol=1e-4)


@over([case for case in CASES if list(case.make().parameters())])
def test_gradcheck_of_parameters(case: Case):
    likelihood, h, x = case.given(event=(2, 2), batch=2)
    names, values = zip(*likelihood.named_parameters(), strict=True)

    def score_of(*parameters: torch.Tensor) -> torch.Tensor:
        state = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(likelihood, state, (h, x)).log_prob(x)

    assert torch.autograd.gradcheck(score_of, values)


ONCE = ("categorical", "bitwise", "logistic-mixture", "discretized-logistic", "discretized-gaussian")


@over(CASES)
def test_second_derivatives_are_right_or_refused(case: Case):
    likelihood, h, x = case.given(event=(2, 2), batch=2)
    likelihood(h, x)
    p = likelihood.eval()(h.requires_grad_())  # without x: an image's own sigma is a constant to autograd
    if case.name in ONCE:
        with pytest.raises(RuntimeError, match="can be differentiated once"):
            torch.autograd.grad(p.log_prob(x).sum(), h, create_graph=True)
    else:
        assert torch.autograd.gradgradcheck(lambda h: likelihood(h).log_prob(x), (h,))


@pytest.mark.parametrize("name", ["pixel-sigma", "student-t"])
def test_gradcheck_of_data(name: str):
    likelihood, h, x = Case(name).given(event=(2, 2), batch=2)
    p = likelihood(h, x)
    x = x.clamp(0.1, 0.9)
    assert torch.autograd.gradcheck(p.log_prob, (x.requires_grad_(),))
    assert torch.autograd.gradcheck(p.log_prob, (torch.stack([x, x / 2]).detach().requires_grad_(),))
