"""Fixed and learned scales: what they are equal to, and the floors the paper's tables obey."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import sigmavae
from sigmavae.likelihoods.soft_clip import soft_clip


def test_beta_is_a_gaussian_of_variance_half_beta():
    h, x = torch.randn(4, 3, 5, 5), torch.rand(4, 3, 5, 5)
    have = sigmavae.likelihood("beta", beta=0.02)(h, x)
    assert float(have.scale) == pytest.approx(0.1)
    torch.testing.assert_close(
        sigmavae.likelihood("beta", beta=2.0)(h, x).log_prob(x), sigmavae.likelihood("gaussian")(h, x).log_prob(x)
    )


@pytest.mark.parametrize("beta", [0.001, 0.1, 1.0, 10.0])
def test_beta_vae_loss_and_this_likelihood_have_parallel_gradients(beta: float):
    # |x - mu|^2 + beta KL is beta times -ln p + KL: the gradient of ln p is 1 / beta times that of the squares.
    h = torch.randn(4, 3, 5, 5, requires_grad=True)
    x = torch.rand(4, 3, 5, 5)
    (ours,) = torch.autograd.grad(-sigmavae.likelihood("beta", beta=beta)(h, x).log_prob(x).sum(), h)
    (squares,) = torch.autograd.grad((torch.sigmoid(h) - x).square().sum(), h)
    torch.testing.assert_close(beta * ours, squares)


@pytest.mark.parametrize(("name", "options", "floor"), [("gaussian", {}, 2161.3), ("beta", {"beta": 1.0}, 1346.2)])
def test_floors_of_the_published_tables(name: str, options: dict, floor: float):
    # D / 2 ln(2 pi sigma^2) at 3 x 28 x 28: no fixed-variance decoder can score below it.
    likelihood = sigmavae.likelihood(name, **options)
    h = torch.randn(2, 3, 28, 28)
    nll = -likelihood(h).log_prob(torch.sigmoid(h))
    torch.testing.assert_close(nll, torch.full((2,), floor), atol=0.06, rtol=0)


def test_shared_sigma_starts_at_one_and_learns_the_root_mean_squared_error():
    likelihood = sigmavae.likelihood("shared-sigma", support="real")
    assert float(likelihood(torch.zeros(1, 1)).scale.detach()) == 1.0
    torch.manual_seed(0)
    x = 0.2 * torch.randn(64, 40)
    optimiser = torch.optim.Adam(likelihood.parameters(), lr=0.05)
    for _ in range(400):
        optimiser.zero_grad()
        (-likelihood(torch.zeros_like(x), x).log_prob(x).mean()).backward()
        optimiser.step()
    assert float(likelihood.log_sigma.detach().exp()) == pytest.approx(float(x.square().mean().sqrt()), rel=1e-3)


def test_soft_clip_is_the_papers_and_keeps_its_bounds():
    value = torch.linspace(-300, 300, 601, dtype=torch.float64)
    clipped = soft_clip(value, (-6.0, 2.0))
    inner = 2 - torch.nn.functional.softplus(2 - value)
    torch.testing.assert_close(clipped, -6 + torch.nn.functional.softplus(inner + 6))
    assert float(clipped.min()) >= -6
    assert float(clipped.max()) <= 2 + math.log1p(math.exp(-8))
    # The size of the distortion that keeps the clip away from analytic scales: 4.5 % at ln sigma = -2.905.
    assert float(soft_clip(torch.tensor(-2.905), (-6.0, 30.0))) == pytest.approx(-2.860, abs=1e-3)


@pytest.mark.parametrize(("block", "sigmas"), [(1, 6 * 10), (2, 3 * 5), (4, 2 * 3), (10, 1), (99, 1)])
def test_block_sigma_shares_one_sigma_a_block(block: int, sigmas: int):
    torch.manual_seed(0)
    h = torch.randn(1, 4, 6, 10, dtype=torch.float64)
    scale = sigmavae.likelihood("block-sigma", block=block)(h).scale
    assert scale.shape == (1, 1, 6, 10)
    assert len(torch.unique((scale * 1e9).round())) == sigmas
    want = soft_clip(h[0, 3, :block, :block].mean(), (-6.0, 2.0)).exp()
    torch.testing.assert_close(scale[0, 0, 0, 0], want)
    corner_rows, corner_columns = 6 % block or min(block, 6), 10 % block or min(block, 10)
    want = soft_clip(h[0, 3, -corner_rows:, -corner_columns:].mean(), (-6.0, 2.0)).exp()
    torch.testing.assert_close(scale[0, 0, -1, -1], want)


def test_block_sigma_takes_as_many_operations_for_a_long_signal_as_for_a_short_one():
    class Count(TorchDispatchMode):
        operations = 0

        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            self.operations += 1
            return function(*arguments, **(options or {}))

    counts = []
    for length in (43, 4003):
        with Count() as count:
            sigmavae.likelihood("block-sigma", block=4)(torch.randn(1, 2, length))
        counts.append(count.operations)
    assert counts[0] == counts[1]


def test_block_of_one_is_pixel_sigma_on_gray_images():
    h, x = torch.randn(3, 2, 6, 6), torch.rand(3, 1, 6, 6)
    torch.testing.assert_close(
        sigmavae.likelihood("block-sigma", block=1)(h, x).log_prob(x),
        sigmavae.likelihood("pixel-sigma")(h, x).log_prob(x),
    )


def test_student_t_degrees_of_freedom_stay_bounded_and_collect_no_false_nats():
    likelihood = sigmavae.likelihood("student-t")
    h = torch.zeros(1, 3, 100)
    h[:, 2] = 1e4
    p = likelihood(h)
    assert float(p.df.max()) <= 100 * 1.02
    x = torch.full((1, 1, 100), 0.5)
    want = torch.distributions.StudentT(p.df.double(), 0.5, p.scale.double()).log_prob(x.double()).sum()
    assert float(p.log_prob(x)) == pytest.approx(float(want), abs=0.01)
    assert float(likelihood(torch.zeros(1, 3)).df) == pytest.approx(2.0, abs=0.03)
