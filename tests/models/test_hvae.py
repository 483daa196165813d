"""The hierarchical VAE: the paper's sizes to the letter, and what holds at any size."""

import copy

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

import sigmavae
from sigmavae.errors import ConfigError
from sigmavae.models import HVAE, HVAEConfig
from sigmavae.models.gated import GatedBlock
from sigmavae.models.map_conv import MapConv2d
from sigmavae.models.weight_norm import STD, normed_layers
from sigmavae.noise import ItemNoise
from tests.cases import CASES, Case, over

NARROW = {"latents": (3, 2, 2), "halvings": (1, 3), "width": 6, "blocks": 2}
SHAPE = (3, 16, 16)


def narrow(name: str = "optimal-sigma", shape=SHAPE, **options) -> HVAE:
    torch.manual_seed(0)
    return HVAE(shape, sigmavae.likelihood(name), **{**NARROW, **options})


def images(count: int = 8, shape=SHAPE) -> torch.Tensor:
    return torch.randint(0, 256, (count, *shape), generator=torch.Generator().manual_seed(1)) / 255


def ready(**options) -> HVAE:
    """A model after its first batch, and a few steps away from where all layers say the same."""
    model = narrow(**options)
    model.initialise(images())
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize(("skips", "millions"), [(True, 54.4), (False, 53.0)])
def test_parameter_count_of_the_paper(skips: bool, millions: float):
    with torch.device("meta"):
        model = HVAE((3, 32, 32), sigmavae.likelihood("categorical"), skips=skips)
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(millions * 1e6, rel=0.01)
    maps = [module for module in model.modules() if isinstance(module, MapConv2d)]
    assert len(maps) == 29  # fifteen posteriors, and all priors but the highest
    assert sum(p.numel() for module in maps for p in module.parameters()) == pytest.approx(30.0e6, rel=0.01)


def test_latents_and_layers_of_the_paper():
    with torch.device("meta"):
        model = HVAE((3, 32, 32), sigmavae.likelihood("optimal-sigma"))
    channels = (38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10)
    sides = [16] * 10 + [8] * 4 + [4]
    assert model.latent_shapes == [(c, s, s) for c, s in zip(channels, sides, strict=True)]
    assert sum(c * h * w for c, h, w in model.latent_shapes) == 78_240
    for number, stage in enumerate(model.stages):
        blocks = [*stage.up, *stage.down]
        assert len(blocks) == 6
        assert all(isinstance(block, GatedBlock) for block in blocks)
        assert {block.conv1.kernel_size for block in blocks} == {(3, 3) if number else (5, 5)}
        assert [block.conv2.stride[0] for block in stage.up] == [1, 1, 2 if number in (0, 10, 14) else 1]
        assert stage.posterior.parameters_of.size == stage.size


def test_the_papers_model_draws_these_latents():
    torch.manual_seed(0)
    model = HVAE((3, 32, 32), sigmavae.likelihood("optimal-sigma"))
    x = images(1, (3, 32, 32))
    with torch.no_grad():
        _, samples = model._ascend(x, torch.randn_like)
    assert [tuple(z.shape[1:]) for z in samples] == model.latent_shapes


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 16, 24), (3, 32, 32), (2, 40, 8)], ids=str)
def test_any_sides_that_eight_divides(shape: tuple[int, int, int]):
    model = narrow(shape=shape, halvings=(1, 2, 3))
    x = images(2, shape)
    model.initialise(x)
    assert model(x).bound.shape == (2,)
    assert model.reconstruct(x).shape == x.shape
    assert model.sample(3).shape == (3, *shape)


@pytest.mark.parametrize("shape", [(3, 18, 16), (3, 16), (0, 16, 16), (3, 2, 16, 16)], ids=str)
def test_a_shape_it_cannot_take_is_named(shape: tuple[int, ...]):
    with pytest.raises(ValueError, match="this HVAE takes .* that 4 divides"):
        narrow(shape=shape)


@pytest.mark.parametrize(
    "wrong",
    [
        {"latents": ()}, {"latents": (1, 0)}, {"halvings": (1, 16)}, {"halvings": (2, 2)}, {"halvings": (0,)},
        {"width": 0}, {"blocks": 0}, {"dropout": 1.0}, {"free_bits": -1.0}, {"log_variance": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_options_are_refused_by_name(wrong: dict):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"model.{name}="):
        HVAEConfig(**wrong)


@over(CASES)
def test_every_likelihood_takes_a_step(case: Case):
    torch.manual_seed(0)
    model = HVAE(SHAPE, case.make(), latents=(2, 2), halvings=(1,), width=4, blocks=1)
    x = images(4)
    model.initialise(x)
    optimizer = torch.optim.Adamax(model.parameters(), lr=2e-3)
    before = [p.clone() for p in model.parameters()]
    loss = model(x).loss
    loss.backward()
    optimizer.step()
    assert bool(torch.isfinite(loss))
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    assert any(not torch.equal(p, b) for p, b in zip(model.parameters(), before, strict=True))
    assert model.eval().sample(2, noise=True).shape == (2, *SHAPE)


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("log_variance", ["bounded", "softplus", "free"])
def test_the_gradient_reaches_every_parameter(log_variance: str, skips: bool):
    model = ready(log_variance=log_variance, skips=skips, free_bits=0.0)
    model(images()).loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name


def test_the_rate_of_every_layer_is_that_of_torch_distributions_and_not_negative_in_expectation():
    model = ready().eval()
    x = images(4)
    rates = torch.stack([model.layers(x, ItemNoise(seed, torch.arange(4)))[1].detach() for seed in range(300)])
    assert rates.shape == (300, 4, 3)
    error = rates.std(0) / 300**0.5
    assert bool((rates.mean(0) > -4 * error).all())
    # The highest layer's posterior depends on noise only through the layers below: with no noise there it is fixed.
    posteriors, samples = model._ascend(x, torch.zeros_like)
    top = posteriors[-1]
    z = top.draw()
    mixed = iter(samples[:-1])
    q = torch.distributions.Normal(top.mean, torch.exp(0.5 * top.log_variance))
    want = (q.log_prob(z) - torch.distributions.Normal(0.0, 1.0).log_prob(z)).sum((1, 2, 3))

    def noise(like: torch.Tensor) -> torch.Tensor:
        low = next(mixed, None)
        return torch.zeros_like(like) if low is not None else (z - top.mean) / torch.exp(0.5 * top.log_variance)

    torch.testing.assert_close(model.layers(x, noise)[1][:, -1], want, rtol=1e-4, atol=1e-3)


def test_free_bits_are_no_part_of_the_bound():
    model = ready(free_bits=1000.0, dropout=0.0)
    x = images()
    torch.manual_seed(3)
    elbo = model(x)
    torch.testing.assert_close(elbo.rate, elbo.rates.sum(1))
    torch.testing.assert_close(elbo.bound, -(elbo.distortion + elbo.rate))
    torch.testing.assert_close(elbo.loss, (elbo.distortion + elbo.rates.clamp(min=1000.0).sum(1)).mean())
    torch.manual_seed(3)
    model.free_bits = 0.0
    torch.testing.assert_close(model(x).bound, elbo.bound)


def test_the_first_batch_sets_outputs_once():
    model = narrow()
    x = images()
    torch.manual_seed(4)
    model.initialise(x)
    found: list[torch.Tensor] = []
    for layer in normed_layers(model):
        layer.register_forward_hook(lambda _module, _inputs, y: found.append(y.detach()))
    torch.manual_seed(4)
    model.eval().infer(x)
    assert len(found) == len(normed_layers(model))
    for y in found:
        torch.testing.assert_close(y.std((0, 2, 3), unbiased=False), torch.full((y.shape[1],), STD), rtol=0.01, atol=0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert bool(before["initialised"])
    model.initialise(torch.zeros_like(x))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_an_averaged_copy_and_a_loaded_one_equal_their_source_after_initialisation():
    model = narrow()
    model.initialise(images())
    average = AveragedModel(model)
    loaded = narrow()
    loaded.load_state_dict(model.state_dict())
    copied = copy.deepcopy(model)
    for other in (average.module, loaded, copied):
        other.initialise(images() / 2)  # it has been: nothing happens
        state = other.state_dict()
        assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    average.update_parameters(model)
    assert all(torch.equal(a, b) for a, b in zip(average.module.parameters(), model.parameters(), strict=True))


@pytest.mark.parametrize("skips", [True, False])
def test_computing_twice_instead_of_keeping_gives_the_same_gradients(skips: bool):
    x, found = images(), []
    for checkpoint in (False, True):
        model = ready(checkpoint=checkpoint, skips=skips, dropout=0.5).double()
        torch.manual_seed(5)
        loss = model(x.double()).loss
        loss.backward()
        found.append((loss.detach(), *(p.grad for p in model.parameters())))
    for kept, twice in zip(*found, strict=True):
        assert torch.equal(kept, twice)


def test_computing_twice_keeps_less():
    held = []
    for checkpoint in (False, True):
        model, sizes = ready(checkpoint=checkpoint), []
        with torch.autograd.graph.saved_tensors_hooks(lambda t, s=sizes: s.append(t.nbytes) or t, lambda t: t):
            model(images())
        held.append(sum(sizes))
    assert held[1] < 0.3 * held[0]


def test_item_noise_makes_the_batch_not_matter():
    model = ready().eval()
    x, items = images(), torch.arange(8)
    with torch.no_grad():
        h, rate = model.infer(x, ItemNoise(0, items))
        for part in (items[:3], items[3:]):
            parts = model.infer(x[part], ItemNoise(0, part))
            torch.testing.assert_close(parts[0], h[part], rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(parts[1], rate[part], rtol=1e-4, atol=1e-3)


def test_layers_drawn_from_the_prior_replace_those_of_the_posterior():
    model = ready().eval()
    x, items = images(), torch.arange(8)
    with torch.no_grad():
        posterior = model.infer(x, ItemNoise(0, items))[0]
        torch.testing.assert_close(model.mix(x, (), ItemNoise(0, items)), posterior)
        for drawn in ({3}, {2, 3}, {1}):
            assert not torch.allclose(model.mix(x, drawn, ItemNoise(0, items)), posterior)
        # With all of them drawn the image does not matter.
        every = [model.mix(given, {1, 2, 3}, ItemNoise(0, items)) for given in (x, 1 - x)]
    torch.testing.assert_close(*every)
    with pytest.raises(ValueError, match="there are 1, nearest the image, to 3"):
        model.mix(x, {4})


def test_without_skips_only_the_lowest_layer_speaks_to_the_image():
    model = ready(skips=False).eval()
    x, items = images(), torch.arange(8)
    with torch.no_grad():
        posterior = model.infer(x, ItemNoise(0, items))[0]
        torch.testing.assert_close(model.mix(x, {2, 3}, ItemNoise(0, items)), posterior)
        assert not torch.allclose(model.mix(x, {1}, ItemNoise(0, items)), posterior)


def test_a_temperature_of_zero_leaves_one_image():
    model = ready().eval()
    cold = model.sample(4, temperature=0.0)
    torch.testing.assert_close(cold, cold[:1].expand(4, *SHAPE))
    warm = model.sample(4)
    assert not torch.allclose(warm, warm[:1].expand(4, *SHAPE), atol=1e-3)


def test_autocast_leaves_the_rate_in_full_precision():
    model = ready(dropout=0.0).to(memory_format=torch.channels_last)
    x = images().contiguous(memory_format=torch.channels_last)
    bounds = []
    for enabled in (False, True):
        torch.manual_seed(6)
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            elbo = model(x)
        assert elbo.rates.dtype == elbo.distortion.dtype == torch.float32
        bounds.append(elbo.bound.detach())
    torch.testing.assert_close(*bounds, rtol=0.02, atol=20.0)


def test_a_gated_block_is_its_formula():
    torch.manual_seed(0)
    block = GatedBlock(4, 4, skip=1).double()
    x, skip = torch.randn(2, 4, 5, 5).double(), torch.randn(2, 4, 5, 5).double()
    elu = nn.ELU()
    a, b = block.conv2(elu(block.conv1(elu(x)) + block.side(skip))).chunk(2, dim=1)
    torch.testing.assert_close(block(x, skip), a * torch.sigmoid(b) + x)
    down = GatedBlock(4, 4, scale="down").double()
    even = torch.randn(2, 4, 6, 6).double()
    a, b = down.conv2(elu(down.conv1(elu(even)))).chunk(2, dim=1)
    torch.testing.assert_close(down(even), a * torch.sigmoid(b) + nn.AvgPool2d(3, 2, 1)(even))
    assert GatedBlock(4, 4, scale="up").double()(even).shape == (2, 4, 12, 12)
    assert GatedBlock(4, 4, scale="up", skip=2).double()(even, torch.randn(2, 4, 3, 3).double()).shape == (2, 4, 12, 12)
