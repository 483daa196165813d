"""A likelihood behind a fused layer is the likelihood behind that layer, in less memory."""

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

import sigmavae
from sigmavae.likelihoods.tiles import cut
from tests.cases import CASES, Case, over

MANY = [Case("categorical"), Case("bitwise"), Case("logistic-mixture"), Case("logistic-mixture", {"components": 2})]
WIDTH = 5


def given(case: Case, event: tuple[int, ...] = (3, 5, 4), tile: int = 7) -> tuple[sigmavae.FusedHead, Tensor, Tensor]:
    """Return a head in float64 whose tiles hold so many pixels, inputs and data."""
    likelihood, _, x = case.given(event=event)
    torch.manual_seed(0)
    memory = tile * likelihood.features(event[0]) * 8
    head = sigmavae.FusedHead(likelihood, WIDTH, event[0], memory).double()
    return head, torch.randn(len(x), WIDTH, *event[1:], dtype=torch.float64), x


def plain(head: sigmavae.FusedHead, inputs: Tensor) -> Tensor:
    """Return the features h of the layer, by an ordinary product."""
    return torch.einsum("kf,bf...->bk...", head.weight, inputs) + head.bias.reshape(-1, *[1] * (inputs.dim() - 2))


@pytest.mark.parametrize("tile", [1, 7, 20, 50, 1000])
@pytest.mark.parametrize("event", [(3, 5, 4), (1, 6), (2,)], ids=str)
@over(CASES)
def test_equals_the_layer_and_the_likelihood(case: Case, event: tuple[int, ...], tile: int):
    head, inputs, x = given(case, event, tile)
    results = []
    for score in (
        lambda f: head(f, x).log_prob(x),
        lambda f: head.likelihood(plain(head, f), x).log_prob(x),
    ):
        head.zero_grad()
        f = inputs.clone().requires_grad_()
        value = score(f)
        (value * torch.arange(1.0, 5.0)).sum().backward()
        results.append((value.detach(), f.grad, head.weight.grad, head.bias.grad))
    torch.testing.assert_close(*results)


@over(MANY)
def test_gradcheck(case: Case):
    head, inputs, x = given(case, (2, 3), tile=2)
    parameters = (inputs[:2], head.weight.detach(), head.bias.detach())

    def score(f: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.func.functional_call(head, {"weight": weight, "bias": bias}, (f, x[:2])).log_prob(x[:2])

    assert torch.autograd.gradcheck(score, [p.requires_grad_() for p in parameters], fast_mode=True)


@pytest.mark.parametrize("event", [(3, 5, 4), (2,)], ids=str)
@over(MANY)
def test_every_answer_is_that_of_the_whole(case: Case, event: tuple[int, ...]):
    head, inputs, x = given(case, event)
    head.requires_grad_(False)
    p, q = head(inputs), head.likelihood(plain(head, inputs))
    torch.testing.assert_close(p.mean, q.mean)
    for values in (x, torch.stack([x, 1 - x])):
        for name in ("cdf", "bin_cdf", "bin_log_prob", "log_prob"):
            torch.testing.assert_close(getattr(p, name)(values), getattr(q, name)(values), msg=name)
    draws = p.sample((400,))
    assert draws.shape == (400, *x.shape)
    spread = (q.sample((400,)).std(0) / 20).clamp(min=1e-3)
    assert float(((draws.mean(0) - q.mean).abs() / spread).max()) < 6


@over(CASES)
def test_a_head_is_a_likelihood_for_every_model(case: Case):
    head = sigmavae.FusedHead(case.make(), width=6, channels=3)
    model = sigmavae.ConvVAE((3, 8, 8), head, latent=2, width=4)
    x = torch.randint(0, 256, (4, 3, 8, 8)) / 255
    assert (model.likelihood.discrete, head.held_out) == (case.make().discrete, case.make().held_out)
    model(x).loss.backward()
    assert all(p.grad is not None for p in model.parameters())
    model.eval().observe(x)
    assert model.sample(2).shape == (2, 3, 8, 8)


def test_the_scale_inside_is_refitted():
    head, inputs, x = given(Case("optimal-sigma"))
    fitted = head.refit([(inputs, x)])
    error = (x - torch.sigmoid(plain(head, inputs))).square().mean().sqrt()
    torch.testing.assert_close(fitted(inputs).scale.double(), error)


def test_tiles_cover_every_pixel_once_within_the_budget():
    for batch, pixels, most in [(3, 10, 4), (3, 10, 10), (5, 10, 25), (1, 1, 1), (0, 4, 2)]:
        seen = torch.zeros(batch, 2, pixels)
        for at in cut(seen, 6, most * 6 * 4):
            seen[at] += 1
            assert seen[at][:, 0].numel() <= most
        assert bool((seen == 1).all())


def test_wrong_use_is_named():
    head = sigmavae.FusedHead(sigmavae.likelihood("categorical"), width=6)
    with pytest.raises(ValueError, match=r"decoder features \(B, 6, \*S\)"):
        head(torch.zeros(2, 768, 4, 4))
    with pytest.raises(ValueError, match="made for channels=3, not 1"):
        head.features(1)
    with pytest.raises(TypeError, match=r"'categorical' is no likelihood: sigmavae.likelihood\(name\)"):
        sigmavae.FusedHead("categorical", width=6)
    with pytest.raises(ValueError, match="width=0"):
        sigmavae.FusedHead(sigmavae.likelihood("categorical"), width=0)


def test_starts_as_a_convolution_and_loads_one():
    torch.manual_seed(0)
    head = sigmavae.FusedHead(sigmavae.likelihood("bitwise"), WIDTH, channels=3)
    torch.manual_seed(0)
    conv = torch.nn.Conv2d(WIDTH, 24, 1)
    assert torch.equal(head.weight, conv.weight[..., 0, 0])
    assert torch.equal(head.bias, conv.bias)
    other = torch.nn.Conv2d(WIDTH, 24, 1)
    head.load_state_dict(other.state_dict())
    inputs = torch.randn(2, WIDTH, 4, 3)
    torch.testing.assert_close(head.apply_layer(inputs), other(inputs))
    head.load_state_dict(head.state_dict())
    with pytest.raises(RuntimeError, match="size mismatch"):
        sigmavae.FusedHead(sigmavae.likelihood("bitwise"), 9, 3).load_state_dict(torch.nn.Conv2d(1, 24, 3).state_dict())
    assert "width=5, channels=3" in repr(head)


@over(MANY)
def test_no_samples_and_nothing_to_observe(case: Case):
    head, inputs, x = given(case)
    p, q = head(inputs), head.likelihood(plain(head, inputs))
    for lead in ((0,), (2, 0), (0, 2)):
        none = x.expand(*lead, *x.shape)
        assert p.log_prob(none).shape == q.log_prob(none).shape == (*lead, len(x))
    with FlopCounterMode(display=False) as counted:
        head.observe(inputs, x)
    assert counted.get_total_flops() == 0


@over([*MANY[:3], Case("optimal-sigma")])
def test_a_hierarchical_model_trains_with_a_head(case: Case):
    head = sigmavae.FusedHead(case.make(), 4, 3)
    model = sigmavae.HVAE((3, 8, 8), head, latents=(2, 2), halvings=(1,), width=4, blocks=1)
    x = torch.randint(0, 256, (4, 3, 8, 8)) / 255
    model.initialise(x)
    model(x).loss.backward()
    assert bool(head.weight.grad.abs().sum() > 0)
    assert model.eval().sample(2).shape == (2, 3, 8, 8)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # torch's compiler does
@over(MANY)
def test_traces_into_one_graph(case: Case):
    torch._dynamo.reset()
    head, inputs, x = given(case)
    compiled = torch.compile(lambda f: head(f, x).log_prob(x), fullgraph=True, backend="aot_eager")
    results = []
    for score in (compiled, lambda f: head(f, x).log_prob(x)):
        f = inputs.clone().requires_grad_()
        value = score(f)
        results.append((value.detach(), *torch.autograd.grad(value.sum(), (f, head.weight, head.bias))))
    torch.testing.assert_close(*results)
