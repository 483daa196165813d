"""Numbers by frame: parts of the bound, calibration of a decoder that is right, and futures of known quality."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from sigmavae.errors import MetricError
from sigmavae.metrics.bound import bound
from sigmavae.metrics.calibration import calibration
from sigmavae.metrics.futures import futures
from sigmavae.metrics.importance import importance
from sigmavae.metrics.similarity import psnr
from sigmavae.noise import ItemNoise
from sigmavae.seeds import Stream
from tests.metrics.models import FRAMES, PAST, SIDE, random_images, small_vae
from tests.metrics.models import random_videos as videos
from tests.metrics.models import small_svg as svg
from tests.processes import in_two


@pytest.mark.parametrize(("name", "options"), [
    ("optimal-sigma", {}), ("optimal-sigma", {"frames": 2}), ("image-sigma", {}), ("logistic-mixture", {}),
    ("categorical", {"fused": True}),
])  # fmt: skip
def test_frames_are_parts_of_the_bound(name: str, options: dict):
    net = svg(name, **options)
    whole = dict(bound(net, videos(), 0))
    found = dict(futures(net, videos(), 0, 2))
    frames = [found[f"video_nll_frame_{t:02}"] for t in range(PAST, FRAMES)]
    assert sum(frames) == pytest.approx(whole["nll"], rel=1e-6)
    assert found["video_nll"] == pytest.approx(whole["nll_per_frame"], rel=1e-6)
    assert whole["nll_per_frame"] == pytest.approx(whole["nll"] / 3)
    assert found["video_nll_discrete"] * 3 == pytest.approx(whole["nll_discrete"], rel=1e-6)
    assert found["video_bits_per_dim"] == pytest.approx(whole["bits_per_dim"], rel=1e-6)
    assert whole["bits_per_dim"] == pytest.approx(whole["nll_discrete"] / (3 * SIDE * SIDE * math.log(2)))
    assert "video_nll_frame_01" not in found
    assert "video_nll_frame_05" not in found
    assert found["video_predictions"] == 2


def test_the_rate_of_frames_is_that_of_the_bound():
    net = svg()
    whole = dict(bound(net, videos(), 0))
    found = dict(futures(net, videos(), 0, 1))
    assert found["video_rate"] * 3 == pytest.approx(whole["rate"], rel=1e-6)


def test_a_decoder_that_is_right_is_calibrated_in_every_frame():
    net = svg("shared-sigma")
    net.eval()
    with torch.no_grad():
        net.likelihood.log_sigma.fill_(math.log(0.05))
        x = torch.from_numpy(videos(40)).float() / 255
        h, _ = net.infer(x, ItemNoise(0, torch.arange(40)))
        torch.manual_seed(1)
        drawn = torch.sigmoid(h) + 0.05 * torch.randn_like(h)
    made = videos(40)
    made[:, PAST:] = (drawn * 255).round().clamp(0, 255).to(torch.uint8).transpose(1, 2).numpy()
    # The first predicted frame depends on none that was changed. Its z does, but the decoder hardly listens to it yet.
    found = dict(futures(net, made, 0, 1))
    assert found["video_error_frame_02"] < 0.02
    assert found["video_z_variance_frame_02"] == pytest.approx(1, abs=0.05)
    with torch.no_grad():
        net.likelihood.log_sigma.fill_(math.log(0.025))
    narrow = dict(futures(net, made, 0, 1))
    assert narrow["video_z_variance_frame_02"] == pytest.approx(4, abs=0.2)
    assert narrow["video_error_frame_02"] > 0.15


def test_calibration_asks_a_decoder_that_has_not_seen_the_video():
    net, made = svg("image-sigma").eval(), videos(5)
    net.likelihood.running.value.copy_(torch.tensor([math.log(0.1), math.log(0.1) ** 2]))
    x = torch.from_numpy(made).float() / 255
    with torch.no_grad():
        h, _ = net.infer(x, ItemNoise(0, torch.arange(5)))
    want = float(((torch.sigmoid(h) - net.target(x)) / 0.1).square().mean())
    assert want > 5  # and one with the sigma that this very video asked for
    assert dict(futures(net, made, 0, 1))["video_z_variance"] == pytest.approx(want, rel=1e-4)


def measured() -> dict[str, float]:
    return dict(futures(svg(), videos(5), 0, 2, batch=2))


def test_two_processes_equal_one(tmp_path: Path):
    want = measured()
    for found in in_two(measured, tmp_path):
        assert found == pytest.approx(want, rel=1e-6)


def test_futures_are_those_of_the_prior_and_the_best_is_no_worse():
    net = svg().eval()
    for module in net.modules():  # so that futures differ
        if isinstance(module, torch.nn.Linear | torch.nn.ConvTranspose2d):
            torch.nn.init.normal_(module.weight, 0, 0.5)
    made = videos(3)
    found = dict(futures(net, made, 5, 4))
    x = torch.from_numpy(made).float() / 255
    table = []
    for item in range(3):
        for number in range(4):
            noise = ItemNoise(5, torch.tensor([4 * item + number]), Stream.PICTURES)
            with torch.no_grad():
                h = net.roll_out(x[item : item + 1], 3, noise)
            table.append(psnr(torch.sigmoid(h).transpose(1, 2), x[item : item + 1, PAST:])[0])
    every = torch.stack(table).reshape(3, 4, 3)
    assert float(every.mean(2).std(1).min()) > 0.003
    assert found["psnr"] == pytest.approx(float(every.mean()), abs=1e-4)
    assert found["psnr_best"] == pytest.approx(float(every.mean(2).amax(1).mean()), abs=1e-4)
    assert found["psnr_frame_04"] == pytest.approx(float(every[..., 2].mean()), abs=1e-4)


@pytest.mark.parametrize("metric", [futures, bound, importance])
def test_any_batch_size_gives_the_same_numbers(metric):
    net = svg()
    more = {"importance": [3], "futures": [2]}.get(metric.__name__, [])
    one, other = (dict(metric(net, videos(5), 0, *more, batch=batch)) for batch in (2, 5))
    assert one == pytest.approx(other, rel=1e-4)


def test_calibration_of_videos_is_of_their_predicted_frames_and_has_no_prior():
    found = dict(calibration(svg(), videos(), 0))
    assert 0 <= found["calibration_error"] <= 0.5
    assert not any(name.startswith("prior_") for name in found)


def test_models_of_images_are_refused():
    with pytest.raises(MetricError, match="predicts no frames"):
        list(futures(small_vae(), random_images(4, (1, 8, 8)), 0))


def test_videos_without_a_future_are_refused():
    with pytest.raises(MetricError, match="have no future"):
        list(futures(svg(), videos()[:, :2], 0))
