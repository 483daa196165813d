"""SVG-LP: the networks' sizes, the bound against one computed frame by frame, what is seen by whom, and futures."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

import sigmavae
from sigmavae.config import LikelihoodConfig
from sigmavae.errors import ConfigError, MetricError
from sigmavae.models import SVG, SVGConfig
from sigmavae.models.frame_blocks import Joined
from sigmavae.noise import ItemNoise
from sigmavae.video_recipes import WEIGHT
from tests.cases import CASES, Case, over

SHAPE = (8, 3, 16, 16)
SMALL = {"past": 2, "future": 4, "g": 6, "z": 3, "rnn": 5, "width": 2}
MODES = ["last", "before-last", "previous"]


def model(name: str = "optimal-sigma", shape=SHAPE, likelihood=None, **options) -> SVG:
    torch.manual_seed(0)
    return SVG(shape, likelihood or sigmavae.likelihood(name), **{**SMALL, **options})


def lively(net: SVG) -> SVG:
    """The same in double precision with weights and statistics that let everything through, as after training."""
    generator = torch.Generator().manual_seed(1)
    for module in net.modules():
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
            fan = module.weight[0].numel()
            module.weight.data = 2 * torch.randn(module.weight.shape, generator=generator) / fan**0.5
        elif isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.3, generator=generator)
            module.running_var.uniform_(0.5, 2.0, generator=generator)
    return net.double().eval()


def clips(count: int = 3, frames: int = 6, seed: int = 0, shape=SHAPE) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (count, frames, *shape[1:]), generator=generator).double() / 255


def item_noise(count: int) -> ItemNoise:
    return ItemNoise(0, torch.arange(count))


@pytest.mark.parametrize(("backbone", "millions"), [("vgg", 22.83), ("dcgan", 12.69)])
def test_parameters_at_the_papers_bair_setting(backbone, millions):
    with torch.device("meta"):
        net = SVG((30, 3, 64, 64), sigmavae.likelihood("gaussian"), backbone=backbone)
    assert sum(p.numel() for p in net.parameters()) == pytest.approx(millions * 1e6, rel=0.001)


def test_initial_weights():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = SVG((12, 1, 64, 64), sigmavae.likelihood("gaussian"), width=16)
    for module in net.modules():
        if isinstance(module, nn.Conv2d | nn.ConvTranspose2d) and module.weight.numel() > 10_000:
            assert float(module.weight.detach().std()) == pytest.approx(0.02, rel=0.05)
            assert float(module.weight.detach().mean()) == pytest.approx(0, abs=0.002)
            assert not module.bias.any()
    scales = torch.cat([m.weight for m in net.modules() if isinstance(m, nn.BatchNorm2d)]).detach()
    assert float(scales.mean()) == pytest.approx(1, abs=0.003)
    assert float(scales.std()) == pytest.approx(0.02, rel=0.15)


def step_by_step(net: SVG, x: Tensor, z_noise: Tensor) -> tuple[Tensor, Tensor]:
    """Features (B, F, T', H, W) and rate of frames past .. T-1, from one frame after the other with torch's own KL."""
    state = dict.fromkeys(("q", "p", "f"))
    features, rate = [], torch.zeros(len(x), dtype=x.dtype)
    for t in range(1, x.shape[1]):
        before, maps_before = net.encoder(x[:, t - 1])
        now, _ = net.encoder(x[:, t])
        (q_mean, q_log), state["q"] = net.posterior(now.unsqueeze(1), state["q"])
        (p_mean, p_log), state["p"] = net.prior(before.unsqueeze(1), state["p"])
        z = q_mean + torch.exp(q_log / 2) * z_noise[:, t - 1 : t]
        predicted, state["f"] = net.predictor(torch.cat([before.unsqueeze(1), z], 2), state["f"])
        if net.last_skip is None or t - 1 <= net.last_skip:
            maps = maps_before
        h = net.decoder(predicted.squeeze(1), maps)
        if t >= net.past:
            q, p = (torch.distributions.Normal(m, torch.exp(v / 2)) for m, v in ((q_mean, q_log), (p_mean, p_log)))
            rate = rate + torch.distributions.kl_divergence(q, p).flatten(1).sum(1)
            features.append(h)
    return torch.stack(features, 2), rate


@pytest.mark.parametrize("skips", MODES)
@pytest.mark.parametrize("backbone", ["vgg", "dcgan"])
def test_all_frames_in_one_call_are_the_numbers_of_one_after_the_other(backbone, skips):
    net = lively(model(backbone=backbone, skips=skips, past=3))
    x = clips()
    with torch.no_grad():
        h, rate = net.infer(x, item_noise(3))
        want, want_rate = step_by_step(net, x, item_noise(3)(torch.empty(3, 5, 3, dtype=x.dtype)))
    torch.testing.assert_close(h, want, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(rate, want_rate, rtol=1e-9, atol=1e-10)
    assert float(want.std()) > 0.01
    assert float(want_rate.min()) > 0.01


def test_gradients_of_one_call_are_those_of_one_after_the_other():
    net = lively(model())
    x = clips()
    h, rate = net.infer(x, item_noise(3))
    (h.square().sum() + rate.sum()).backward()
    found = {name: p.grad.clone() for name, p in net.named_parameters() if p.grad is not None}
    net.zero_grad()
    h, rate = step_by_step(net, x, item_noise(3)(torch.empty(3, 5, 3, dtype=x.dtype)))
    (h.square().sum() + rate.sum()).backward()
    for name, p in net.named_parameters():
        if p.grad is not None:
            torch.testing.assert_close(found[name], p.grad, rtol=1e-7, atol=1e-9, msg=name)


def test_maps_that_are_passed_on_count_as_if_they_lay_beside():
    torch.manual_seed(0)
    joined = Joined(lambda: nn.Conv2d(3, 5, 3, padding=1)).double()
    both = nn.Conv2d(6, 5, 3, padding=1).double()
    both.weight.data = torch.cat([joined.own.weight, joined.passed.weight], 1).data
    both.bias.data = (joined.own.bias + joined.passed.bias).data
    maps, passed = torch.randn(2 * 4, 3, 6, 6).double(), torch.randn(2, 3, 6, 6).double()
    want = both(torch.cat([maps, passed.repeat_interleave(4, 0)], 1))
    torch.testing.assert_close(joined(maps, passed), want)


def test_the_bound_of_a_clip_is_of_its_predicted_frames():
    net = lively(model("gaussian"))
    x = clips()
    torch.manual_seed(3)
    elbo = net(x)
    torch.manual_seed(3)
    h, _ = net.infer(x)
    squares = (torch.sigmoid(h) - x[:, 2:].transpose(1, 2)).square().flatten(1).sum(1)
    torch.testing.assert_close(elbo.distortion, squares / 2 + 4 * 3 * 16 * 16 / 2 * math.log(2 * math.pi))


def test_weigh_averages_to_the_rate():
    net = lively(model())
    x = clips(1)
    with torch.no_grad():
        _, rate = net.infer(x[:, :4], item_noise(1))
        found = torch.stack([net.weigh(x[:, :4], ItemNoise(0, torch.tensor([i])))[1] for i in range(400)])
    # z of the first frames changes nothing about q and p of later ones: both see encodings alone.
    assert float(found.mean()) == pytest.approx(float(rate), abs=4 * float(found.std()) / 20)


def test_nobody_sees_what_comes_later():
    net = lively(model())
    x = clips(1)
    changed = x.clone()
    changed[:, 4] = 1 - changed[:, 4]
    with torch.no_grad():
        (h, rate), (h2, rate2) = (net.infer_frames(each, item_noise(1)) for each in (x, changed))
    same = (h - h2).abs().amax((0, 1, 3, 4)), (rate - rate2).abs().amax(0)
    for difference in same:  # frames 2 and 3 come before frame 4; its own z sees it
        assert float(difference[:2].max()) < 1e-12
        assert float(difference[2:].min()) > 1e-6


@pytest.mark.parametrize(("skips", "source"), [("last", 2), ("before-last", 1)])
def test_whose_maps_the_decoder_is_shown(skips, source):
    net = lively(model(skips=skips, past=3))
    _, maps = net._encode(clips(2))
    passed = net._passed(maps, range(3, 6))
    for each, every in zip(passed, maps, strict=True):
        assert torch.equal(each, every[:, source])


def test_evaluation_does_not_depend_on_who_else_is_in_the_batch():
    net = lively(model())
    x = clips(4)
    alone = torch.cat([net.infer(x[i : i + 1], ItemNoise(0, torch.tensor([i])))[0] for i in range(4)])
    torch.testing.assert_close(net.infer(x, item_noise(4))[0], alone)


def test_training_moves_running_statistics_and_evaluation_leaves_them():
    net = model()
    x = clips().float()
    before = copy.deepcopy(dict(net.named_buffers()))
    net.eval()(x)
    assert all(torch.equal(before[name], b) for name, b in net.named_buffers())
    net.train()(x)
    moved = [name for name, b in net.named_buffers() if "running_mean" in name and not torch.equal(before[name], b)]
    assert len(moved) == sum(isinstance(m, nn.BatchNorm2d) for m in net.modules())


def test_futures_begin_as_teacher_forcing_does_and_then_follow_their_own_predictions():
    net = lively(model("gaussian"))
    x = clips(2)
    with torch.no_grad():
        future = net.roll_out(x[:, :2], 3, item_noise(2))
        other = net.roll_out(torch.cat([x[:, :2], 1 - x[:, 2:]], 1), 3, item_noise(2))
        torch.testing.assert_close(future, other)  # what comes later is not seen
        # The first predicted frame: the same networks, given z from the prior, one step at a time.
        (q_mean, q_log), _ = net.posterior(net.encoder(x[:, 1])[0].unsqueeze(1))
        encoded = [net.encoder(x[:, t])[0].unsqueeze(1) for t in (0, 1)]
        noise = item_noise(2)
        z0 = q_mean + torch.exp(q_log / 2) * noise(q_mean)
        _, prior = net.prior(encoded[0])
        _, state = net.predictor(torch.cat([encoded[0], z0], 2))
        (p_mean, p_log), prior = net.prior(encoded[1], prior)
        z1 = p_mean + torch.exp(p_log / 2) * noise(p_mean)
        predicted, state = net.predictor(torch.cat([encoded[1], z1], 2), state)
        first = net.decoder(predicted.squeeze(1), net.encoder(x[:, 1])[1])
        torch.testing.assert_close(future[:, :, 0], first)
        (p_mean, p_log), _ = net.prior(net.encoder(torch.sigmoid(first))[0].unsqueeze(1), prior)
        z2 = p_mean + torch.exp(p_log / 2) * noise(p_mean)
        again = net.encoder(torch.sigmoid(first))[0].unsqueeze(1)
        predicted, _ = net.predictor(torch.cat([again, z2], 2), state)
        torch.testing.assert_close(future[:, :, 1], net.decoder(predicted.squeeze(1), net.encoder(x[:, 1])[1]))


def rolled_out(net: SVG, x: Tensor, length: int, skips: str, noise: ItemNoise) -> Tensor:
    """Features of futures, one frame after the other: z from q while frames are given, from p once they are not."""
    frames = list(x[:, : net.past].unbind(1))
    given = noise(torch.empty(len(x), net.past - 1, SMALL["z"], dtype=x.dtype))
    state = dict.fromkeys(("q", "p", "f"))
    features = []
    for t in range(1, net.past + length):
        before = net.encoder(frames[t - 1])[0].unsqueeze(1)
        (mean, log), state["p"] = net.prior(before, state["p"])
        if t < net.past:
            (mean, log), state["q"] = net.posterior(net.encoder(frames[t])[0].unsqueeze(1), state["q"])
        z = mean + torch.exp(log / 2) * (given[:, t - 1 : t] if t < net.past else noise(mean))
        predicted, state["f"] = net.predictor(torch.cat([before, z], 2), state["f"])
        if t >= net.past:
            source = {"last": net.past - 1, "before-last": net.past - 2, "previous": t - 1}[skips]
            features.append(net.decoder(predicted.squeeze(1), net.encoder(frames[source])[1]))
            frames.append(torch.sigmoid(features[-1]))
    return torch.stack(features, 2)


@pytest.mark.parametrize("skips", MODES)
@pytest.mark.parametrize("backbone", ["vgg", "dcgan"])
def test_futures_are_those_of_one_step_after_the_other(backbone, skips):
    net = lively(model("gaussian", backbone=backbone, skips=skips, past=3))
    x = clips(2)
    with torch.no_grad():
        found = net.roll_out(x, 4, item_noise(2))
        want = rolled_out(net, x, 4, skips, item_noise(2))
    torch.testing.assert_close(found, want, rtol=1e-9, atol=1e-10)
    assert float(want.std()) > 0.01


def test_without_temperature_all_futures_are_the_same():
    net = lively(model("gaussian"))
    cold, warm = (net.predict(clips(2), n=3, temperature=temperature) for temperature in (0.0, 1.0))
    torch.testing.assert_close(cold[1:], cold[:1].expand_as(cold[1:]), rtol=0, atol=1e-12)
    assert float((warm[1] - warm[0]).abs().max()) > 1e-4


def test_half_precision_ends_where_the_encoder_does(monkeypatch: pytest.MonkeyPatch):
    net = lively(model("gaussian")).float()
    x = clips().float()
    with torch.no_grad():
        encoded = net._encode(x)
        monkeypatch.setattr(net, "_encode", lambda _: encoded)
        _, want = net.infer_frames(x, item_noise(3))
        with torch.autocast("cpu", torch.bfloat16):
            h, found = net.infer_frames(x, item_noise(3))
    assert h.dtype == torch.bfloat16, "the decoder is under autocast"
    torch.testing.assert_close(found, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("past", [1, 2])
@pytest.mark.parametrize("skips", MODES)
def test_many_futures_at_once(past, skips):
    net = lively(model(past=past, skips=skips))
    x = clips(2)
    futures = net.predict(x, n=3)
    assert futures.shape == (3, 2, 6 - past, 3, 16, 16)
    assert not torch.equal(futures[0], futures[1])
    assert net.predict(x, n=2, length=9).shape[2] == 9
    assert 0 <= float(futures.min()) <= float(futures.max()) <= 1
    assert net.reconstruct(x).shape == (2, 6 - past, 3, 16, 16)
    drawn = net.predict(x, noise=True)
    assert float((drawn[0] - futures[0]).std()) > 0.1  # sigma starts at one


def test_it_makes_nothing_from_nothing():
    with pytest.raises(MetricError, match="use predict"):
        model().sample(2)


@over([case for case in CASES if case.name != "categorical"])
def test_every_likelihood_trains(case: Case):
    net = model(likelihood=case.make(), shape=(6, 3, 16, 16))
    elbo = net(clips(4).float())
    elbo.loss.backward()
    assert elbo.bound.shape == (4,)
    assert bool(torch.isfinite(elbo.bound).all())
    for name, p in net.named_parameters():
        assert p.grad is None or bool(torch.isfinite(p.grad).all()), name
    net.eval().predict(clips(1).float(), noise=True)


def original_loss(net: SVG, x: Tensor, noise: Tensor) -> Tensor:
    """The mean squared error of every frame from the second on, and 1e-4 KL, as the released code adds them up."""
    total = torch.zeros((), dtype=x.dtype)
    state = dict.fromkeys(("q", "p", "f"))
    for t in range(1, x.shape[1]):
        (before, maps_now), (now, _) = net.encoder(x[:, t - 1]), net.encoder(x[:, t])
        if t < net.past:  # so the last maps are those of the frame before the last that is given
            maps = maps_now
        (q_mean, q_log), state["q"] = net.posterior(now.unsqueeze(1), state["q"])
        (p_mean, p_log), state["p"] = net.prior(before.unsqueeze(1), state["p"])
        z = q_mean + torch.exp(q_log / 2) * noise[:, t - 1 : t]
        predicted, state["f"] = net.predictor(torch.cat([before.unsqueeze(1), z], 2), state["f"])
        image = torch.sigmoid(net.decoder(predicted.squeeze(1), maps))
        q, p = (torch.distributions.Normal(m, torch.exp(v / 2)) for m, v in ((q_mean, q_log), (p_mean, p_log)))
        kl = torch.distributions.kl_divergence(q, p).sum() / len(x)
        total = total + (image - x[:, t]).square().mean() + 1e-4 * kl
    return total


def test_the_original_loss_is_a_beta_decoder():
    values = 3 * 16 * 16
    likelihood = LikelihoodConfig("beta", weight=WEIGHT).build(SHAPE)
    net = lively(model(likelihood=likelihood, past=3, skips="before-last", score_past=True))
    for part in net.modules():
        part.training = not isinstance(part, nn.BatchNorm2d)  # statistics that do not depend on how frames are grouped
    x = clips()
    noise = item_noise(3)(torch.empty(3, 5, 3, dtype=x.dtype))
    h, rate = net.infer(x, lambda like: noise.to(like))
    p = net.likelihood(h, net.target(x))
    ours = (rate - p.log_prob(net.target(x))).mean()
    theirs = original_loss(net, x, noise)
    sigma2 = float(net.likelihood.sigma) ** 2
    constant = 5 * values / 2 * math.log(2 * math.pi * sigma2)
    torch.testing.assert_close(ours, theirs * values / (2 * sigma2) + constant, rtol=1e-7, atol=1e-6)
    assert sigma2 == pytest.approx(values * 1e-4 / 2)
    ours.backward()
    gradients = {name: p.grad.clone() for name, p in net.named_parameters() if p.grad is not None}
    net.zero_grad()
    original_loss(net, x, noise).backward()
    for name, p in net.named_parameters():
        if p.grad is not None:
            torch.testing.assert_close(gradients[name], p.grad * values / (2 * sigma2), rtol=1e-5, atol=1e-8, msg=name)


def test_given_frames_count_in_training_alone():
    net = model(past=3, score_past=True)
    x = clips()
    assert net.train().target(x).shape[2] == 5
    assert net.eval().target(x).shape[2] == 3


def test_sigma_of_the_papers_bair_setting():
    likelihood = LikelihoodConfig("beta", weight=WEIGHT).build((30, 3, 64, 64))
    assert float(likelihood.sigma) == pytest.approx(0.78, abs=0.005)


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((3, 16, 16), {}, "SVG takes videos"),
        ((8, 3, 16, 20), {}, "sides that 16 divides"),
        ((5, 3, 16, 16), {}, "SVG trains on 2 . 4: name fewer with --model.past or --model.future"),
        ((8, 3, 16, 16), {"past": 0}, "past=0"),
        (
            (8, 3, 16, 16),
            {"score_past": True, "likelihood": sigmavae.likelihood("optimal-sigma", frames=2)},
            "leave one of them out",
        ),
    ],
)
def test_what_it_cannot_take_is_named(shape, options, words):
    with pytest.raises(ValueError, match=words):
        model(shape=shape, **options)


def test_a_clip_without_a_future_is_named():
    with pytest.raises(ValueError, match="none is left to predict"):
        model()(clips(1, 2).float())
    for frames, length in ((2, None), (1, 3)):
        with pytest.raises(ValueError, match="2 are given, then 1 or more follow"):
            model().predict(clips(1, frames).float(), length=length)


def test_the_configuration_reaches_the_network():
    config = SVGConfig(past=1, future=3, backbone="dcgan", g=5, z=2, rnn=7, width=3, skips="previous")
    net = config.build((4, 1, 32, 16), sigmavae.likelihood("gaussian"))
    assert (net.past, net.future, net.clip, net.last_skip) == (1, 3, 4, None)
    assert net.predictor.recurrent.embed.weight.shape == (7, 5 + 2)
    with pytest.raises(ConfigError, match=r"model.rnn=0"):
        SVGConfig(rnn=0)
