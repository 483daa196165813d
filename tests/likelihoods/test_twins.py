"""Where scipy or torch.distributions has the same distribution, the numbers are the same."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch.distributions import Categorical, Independent, Normal, StudentT

import sigmavae
from sigmavae.likelihoods.special import log1mexp, log_bin, student_t_log_cdf
from tests.cases import CASES, DISCRETE, GAUSSIAN, Case, over

EVENTS = [(1,), (3, 7), (3, 5, 4), (2, 3, 4, 2)]


def squashed(h, case):
    return h if case.options.get("support") == "real" else torch.sigmoid(h)


@pytest.mark.parametrize("event", EVENTS, ids=str)
@over(GAUSSIAN)
def test_gaussians_equal_torch_normal(case: Case, event: tuple[int, ...]):
    likelihood, h, x = case.given(event=event)
    p = likelihood(h, x)
    twin = Independent(Normal(squashed(h[:, : event[0]], case), p.scale.detach()), len(event))
    torch.testing.assert_close(p.log_prob(x), twin.log_prob(x))
    torch.testing.assert_close(p.mean, twin.mean)
    torch.testing.assert_close(p.variance, twin.variance)
    torch.testing.assert_close(p.cdf(x), twin.base_dist.cdf(x))


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_student_t_equals_torch_and_scipy(event: tuple[int, ...]):
    likelihood, h, x = Case("student-t").given(event=event)
    p = likelihood(h, x)
    twin = Independent(StudentT(p.df, torch.sigmoid(h[:, : event[0]]), p.scale), len(event))
    torch.testing.assert_close(p.log_prob(x), twin.log_prob(x))
    torch.testing.assert_close(p.variance, twin.variance)
    want = stats.t.cdf(x.numpy(), p.df.numpy(), p.loc.numpy(), p.scale.numpy())
    torch.testing.assert_close(p.cdf(x), torch.from_numpy(want))


def test_categorical_equals_torch():
    likelihood, h, x = Case("categorical").given()
    twin = Independent(Categorical(logits=h.unflatten(1, (256, 3)).movedim(1, -1)), 3)
    torch.testing.assert_close(likelihood(h, x).log_prob(x), twin.log_prob((x * 255).round()))


def test_bitwise_equals_binary_cross_entropy():
    likelihood, h, x = Case("bitwise").given()
    k = (x * 255).round().long().unsqueeze(1)
    bits = (k >> torch.arange(8).reshape(1, 8, 1, 1, 1)) & 1
    want = (
        -torch.nn.functional.binary_cross_entropy_with_logits(h.unflatten(1, (8, 3)), bits.double(), reduction="none")
        .flatten(1)
        .sum(1)
    )
    torch.testing.assert_close(likelihood(h, x).log_prob(x), want)


def test_bernoulli_equals_binary_cross_entropy():
    likelihood, h, x = Case("bernoulli").given()
    want = -torch.nn.functional.binary_cross_entropy_with_logits(h, x, reduction="none").flatten(1).sum(1)
    torch.testing.assert_close(likelihood(h, x).log_prob(x), want)


@pytest.mark.parametrize(
    ("name", "twin"), [("discretized-gaussian", stats.norm), ("discretized-logistic", stats.logistic)]
)
def test_discretised_masses_equal_scipy(name: str, twin):
    likelihood, h, _ = Case(name, {"scale": 0.05}).given(event=(1,), batch=5)
    p = likelihood(h)
    edges = np.concatenate([[-np.inf], (np.arange(255) + 0.5) / 255, [np.inf]])
    loc = torch.sigmoid(h).numpy()
    want = np.diff(twin.cdf(edges[None, :], loc, 0.05), axis=1)
    values = (torch.arange(256, dtype=torch.float64) / 255).reshape(256, 1, 1).expand(256, 5, 1)
    torch.testing.assert_close(p.log_prob(values).exp().T.detach(), torch.from_numpy(want), atol=1e-12, rtol=1e-6)


def test_logistic_mixture_of_one_component_is_a_logistic():
    likelihood, h, x = Case("logistic-mixture", {"components": 1}).given(event=(3, 4), spread=0.3)
    weights, loc, log_scale = h.split([1, 3, 3], dim=1)
    scale = torch.exp(log_scale.clamp(min=-7)) / 2
    upper, lower = (stats.logistic.cdf(e, (1 + loc) / 2, scale) for e in (x + 0.5 / 255, x - 0.5 / 255))
    upper, lower = np.where(x == 1, 1, upper), np.where(x == 0, 0, lower)
    want = torch.from_numpy(np.log(upper - lower)).flatten(1).sum(1)
    torch.testing.assert_close(likelihood(h, x).log_prob(x), want, rtol=1e-7, atol=1e-7)
    assert weights.shape == (4, 1, 4)


@pytest.mark.parametrize("df", [1.0, 1.5, 2.0, 5.0, 29.3, 100.0])
def test_student_t_cdf_keeps_its_digits_from_the_centre_to_the_far_tail(df: float):
    z = torch.tensor([-50.0, -30.0, -3.0, -1.0, -0.5, -1e-3, 0.0, 1e-3, 0.7, 2.0, 40.0], dtype=torch.float64)
    have = student_t_log_cdf(z, torch.full_like(z, df))
    torch.testing.assert_close(have, torch.from_numpy(stats.t.logcdf(z.numpy(), df)), rtol=1e-10, atol=1e-12)


def test_log_bin_of_a_normal_far_out_on_either_side():
    a = torch.tensor([-50.0, 49.9, -0.01, 5.0], dtype=torch.float64)
    b = torch.tensor([-49.9, 50.0, 0.02, 5.001], dtype=torch.float64)
    inner = torch.zeros(4, dtype=torch.bool)
    have = log_bin(torch.special.log_ndtr, a, b, inner, inner)
    assert have[0] == pytest.approx(float(have[1]))
    want = [math.log(stats.norm.cdf(0.02) - stats.norm.cdf(-0.01)), math.log(stats.norm.sf(5) - stats.norm.sf(5.001))]
    assert have[2:].tolist() == pytest.approx(want)


@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-10), (torch.float32, 1e-4)], ids=str)
def test_bins_of_a_normal_are_the_same_with_and_without_one_far_out(dtype: torch.dtype, rtol: float):
    generator = torch.Generator().manual_seed(0)
    h, x = (torch.rand(1, 1, 400, generator=generator, dtype=dtype) for _ in range(2))
    x[..., :20], x[..., 20:40] = 0.0, 1.0
    likelihood = sigmavae.likelihood("beta", beta=2 * 0.1**2, support="real")
    near = likelihood(h, x)._bin_log_terms(x)
    h = torch.cat([h, torch.full_like(h[..., :1], 8.0)], -1)
    mixed = likelihood(h, torch.cat([x, x[..., :1]], -1))._bin_log_terms(torch.cat([x, x[..., :1]], -1))
    torch.testing.assert_close(near, mixed[..., :-1], rtol=rtol, atol=rtol)
    assert mixed[..., -1] == pytest.approx(stats.norm.logcdf(0.5 / 255, 8, 0.1), rel=1e-5)
    assert float(near.min()) < -40  # the near ones reach far


def test_log1mexp_against_high_precision():
    d = torch.tensor([1e-30, 1e-8, 0.1, 0.69, 0.7, 5.0, 50.0], dtype=torch.float64)
    want = [math.log(-math.expm1(-v)) if v < 1 else math.log1p(-math.exp(-v)) for v in d.tolist()]
    assert log1mexp(d).tolist() == pytest.approx(want, rel=1e-14)


@over(DISCRETE)
def test_bin_log_prob_of_a_discrete_family_is_its_log_prob(case: Case):
    likelihood, h, x = case.given()
    p = likelihood(h, x)
    if case.name == "bernoulli":
        ends = x.round()
        assert bool((p.bin_log_prob(ends) < p.log_prob(ends)).all())  # mass is also given to the 254 grays
    else:
        torch.testing.assert_close(p.bin_log_prob(x), p.log_prob(x), rtol=0, atol=0)


@over(CASES)
def test_it_is_a_torch_distribution(case: Case):
    likelihood, h, x = case.given()
    p = likelihood(h, x)
    assert isinstance(p, torch.distributions.Distribution)
    assert (p.batch_shape, p.event_shape) == (torch.Size([4]), torch.Size([3, 5, 4]))
    assert p.mean.shape == p.sample().shape == x.shape
    assert p.sample((2, 3)).shape == (2, 3, *x.shape)
    assert p.log_prob(p.sample((2, 3)).clamp(0, 1)).shape == (2, 3, 4)
    assert bool(p.support.check(x).all())
