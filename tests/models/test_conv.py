"""The small VAE: the paper's layers to the letter, and any other size."""

import pytest
import torch
from torch import nn

import sigmavae
from sigmavae.models import ConvVAE
from sigmavae.models.transposed import TransposedConv2d
from tests.cases import CASES, Case, over


def model(shape=(3, 28, 28), name="optimal-sigma", **options):
    torch.manual_seed(0)
    return ConvVAE(shape, sigmavae.likelihood(name), **options)


def test_parameter_count_of_the_paper():
    assert sum(p.numel() for p in model().parameters()) == 992_427


def test_layers_of_the_paper():
    net = model()
    convolutions = [
        (type(m), m.in_channels, m.out_channels, m.kernel_size[0], m.stride[0], m.padding[0])
        for m in net.modules()
        if isinstance(m, nn.Conv2d | nn.ConvTranspose2d)
    ]
    assert convolutions == [
        (nn.Conv2d, 3, 32, 3, 1, 1),
        (nn.Conv2d, 32, 64, 4, 2, 1),
        (nn.Conv2d, 64, 128, 5, 2, 2),
        (TransposedConv2d, 128, 64, 6, 2, 2),
        (TransposedConv2d, 64, 32, 6, 2, 2),
        (nn.ConvTranspose2d, 32, 3, 5, 1, 2),
    ]
    linears = [(m.in_features, m.out_features) for m in net.modules() if isinstance(m, nn.Linear)]
    assert linears == [(6272, 20), (6272, 20), (20, 6272)]


def literal(net: ConvVAE) -> tuple[nn.Module, nn.Module, nn.Module, nn.Module]:
    """The same weights in the layers as the paper lists them: no activation after the decoder's linear layer."""
    up, down = net.decoder, net.encoder
    transposed = []
    for layer in (up.first, up.second, up.last):
        size = layer.in_channels, layer.out_channels, layer.kernel_size[0], layer.stride[0]
        transposed.append(nn.ConvTranspose2d(*size, padding=2).double())
        transposed[-1].load_state_dict(layer.state_dict())
    a, b, c = transposed
    decoder = nn.Sequential(up.linear, nn.Unflatten(1, up.shape), a, nn.ReLU(), b, nn.ReLU(), c)
    encoder = nn.Sequential(down[0], nn.ReLU(), down[2], nn.ReLU(), down[4], nn.ReLU(), nn.Flatten())
    return encoder, net.mean, net.log_variance, decoder


@pytest.mark.parametrize("shape", [(3, 28, 28), (1, 12, 20)], ids=str)
def test_the_fast_forms_are_the_layers_of_the_paper(shape):
    net = model(shape, width=8).double().to(memory_format=torch.channels_last)
    encoder, mean, log_variance, decoder = literal(net)
    x = torch.rand(3, *shape, dtype=torch.float64).contiguous(memory_format=torch.channels_last)
    z = torch.randn(3, 20, dtype=torch.float64)
    features = encoder(x)
    wanted = mean(features), log_variance(features), decoder(z)
    for ours, theirs in zip((*net.encode(x), net.decode(z)), wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "shape",
    [(1, 8, 8), (3, 9, 8), (1, 28, 20), (3, 32, 32), (3, 33, 47), (2, 10, 11), (3, 64, 64), (1, 13, 30)],
    ids=str,
)
def test_any_size_from_eight_up(shape):
    net = model(shape, width=4)
    x = torch.rand(2, *shape)
    elbo = net(x)
    assert elbo.distortion.shape == elbo.rate.shape == elbo.bound.shape == (2,)
    assert net.reconstruct(x).shape == x.shape
    assert net.sample(3).shape == (3, *shape)
    elbo.loss.backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name


@pytest.mark.parametrize("shape", [(3, 7, 28), (3, 28), (0, 28, 28), (3, 2, 28, 28)], ids=str)
def test_a_shape_it_cannot_take_is_named(shape):
    with pytest.raises(ValueError, match="ConvVAE takes"):
        model(shape)


def test_the_bound_is_two_parts():
    elbo = model((1, 8, 8), width=4)(torch.rand(2, 1, 8, 8))
    distortion, rate = elbo
    assert distortion is elbo.distortion
    assert rate is elbo.rate
    torch.testing.assert_close(elbo.bound, -(distortion + rate))


def test_it_computes_in_double_precision():
    net = model((1, 8, 8), width=4).double()
    assert net(torch.rand(2, 1, 8, 8, dtype=torch.float64)).bound.dtype == torch.float64
    assert net.sample(2).dtype == torch.float64


@over(CASES)
def test_every_likelihood_plugs_in(case: Case):
    torch.manual_seed(0)
    net = ConvVAE((3, 12, 12), case.make(), width=4)
    x = torch.randint(0, 256, (4, 3, 12, 12)) / 255
    elbo = net(x)
    elbo.loss.backward()
    assert bool(torch.isfinite(elbo.bound).all())
    torch.testing.assert_close(elbo.loss, -elbo.bound.mean())
    assert net.eval().sample(2).shape == (2, 3, 12, 12)
    noisy = net.sample(2, noise=True)
    assert noisy.shape == (2, 3, 12, 12)
    assert not torch.equal(noisy, net.sample(2))


def test_rate_is_the_kl_of_torch_distributions():
    net = model(width=4)
    torch.manual_seed(1)
    x = torch.rand(5, 3, 28, 28)
    mean, log_variance = net.encode(x)
    q = torch.distributions.Normal(mean, torch.exp(0.5 * log_variance))
    want = torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0)).sum(1)
    torch.testing.assert_close(net(x).rate, want)


def test_posterior_samples_have_the_mean_and_variance_that_the_rate_is_paid_for():
    from sigmavae.models.gaussian_latent import draw

    torch.manual_seed(0)
    mean, log_variance = torch.tensor([[0.5, -2.0]]), torch.tensor([[0.3, -4.0]])
    z = draw(mean.expand(200_000, 2), log_variance.expand(200_000, 2))
    torch.testing.assert_close(z.mean(0), mean[0], atol=0.02, rtol=0)
    torch.testing.assert_close(z.var(0), log_variance[0].exp(), rtol=0.02, atol=0)


def test_image_sigma_pays_for_its_sigma_in_the_rate():
    torch.manual_seed(0)
    net = ConvVAE((1, 12, 12), sigmavae.likelihood("image-sigma"), width=4)
    x = torch.rand(4, 1, 12, 12)
    torch.manual_seed(1)
    elbo = net(x)
    torch.manual_seed(1)
    _, latent_rate = net.infer(x)
    assert bool((elbo.rate > latent_rate).all())


def test_observe_moves_a_sigma_from_validation_and_nothing_else():
    torch.manual_seed(0)
    net = ConvVAE((1, 12, 12), sigmavae.likelihood("optimal-sigma", source="validation"), width=4)
    before = {name: p.clone() for name, p in net.named_parameters()}
    net.observe(torch.rand(4, 1, 12, 12))
    assert float(net.likelihood.sigma) != 1.0
    assert all(torch.equal(p, before[name]) for name, p in net.named_parameters())


def test_overfits_one_batch_and_sigma_follows_the_error():
    torch.manual_seed(0)
    net = model((1, 12, 12), width=8)
    x = torch.rand(8, 1, 12, 12)
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    first = None
    for _ in range(150):
        elbo = net(x)
        first = elbo if first is None else first
        optimiser.zero_grad()
        elbo.loss.backward()
        optimiser.step()
    assert float(elbo.loss.detach()) < float(first.loss.detach()) - 50
    assert float(elbo.sigma) < 0.5 * float(first.sigma)


def test_images_of_another_shape_are_named():
    with pytest.raises(ValueError, match=r"x is \(2, 3, 32, 32\): this model takes images \(B, 3, 28, 28\)"):
        model()(torch.rand(2, 3, 32, 32))


def test_all_of_it_in_bfloat16():
    elbo = model(width=4).bfloat16()(torch.rand(2, 3, 28, 28).bfloat16())
    assert elbo.distortion.dtype == elbo.rate.dtype == torch.float32
    elbo.loss.backward()
