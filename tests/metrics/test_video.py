"""Predictions of videos whose quality is known, and simple predictors of real ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from sigmavae.errors import MetricError
from sigmavae.metrics.video import video_columns, video_metrics
from tests.data.real import real

PAST = 2


def videos(count: int = 6, frames: int = 4, seed: int = 0) -> Tensor:
    return torch.rand(count, frames, 1, 12, 13, generator=torch.Generator().manual_seed(seed)) * 0.5


def off_by(truth: Tensor, errors: Tensor) -> Tensor:
    """Predictions whose PSNR is -20 log10 of the errors (S, N, T)."""
    return truth + errors[..., None, None, None]


def test_means_bests_and_frames_of_known_errors():
    # Of two predictions, the first is better of video 0, the second of video 1, though not in its first frame.
    errors = torch.tensor([[[0.01, 0.1], [0.01, 0.1]], [[0.1, 0.1], [0.1, 0.001]]])
    metrics = dict(video_metrics(video_columns(off_by(videos(2, 2), errors), videos(2, 2)), PAST))
    decibel = -20 * torch.log10(errors)
    assert metrics["psnr"] == pytest.approx(float(decibel.mean()), rel=1e-4)
    assert metrics["psnr_frame_02"] == pytest.approx(30, rel=1e-4)
    assert metrics["psnr_frame_03"] == pytest.approx(30, rel=1e-4)
    assert metrics["psnr_best"] == pytest.approx((30 + 40) / 2, rel=1e-4)
    assert metrics["psnr_best_frame_02"] == pytest.approx((40 + 20) / 2, rel=1e-4)
    assert metrics["psnr_best_frame_03"] == pytest.approx((20 + 60) / 2, rel=1e-4)
    assert metrics["psnr_best_stderr"] == pytest.approx(5, rel=1e-4)
    assert metrics["video_predictions"] == 2
    assert "psnr_frame_01" not in metrics
    assert "psnr_frame_04" not in metrics


def test_the_best_by_a_measure_is_chosen_by_that_measure():
    # The first prediction has the higher PSNR in the mean over its frames, the second the higher SSIM.
    table = {"psnr": torch.tensor([[[30.0, 20.0], [21.0, 22.0]]]), "ssim": torch.tensor([[[0.3, 0.2], [0.7, 0.5]]])}
    metrics = dict(video_metrics(table, PAST))
    assert metrics["psnr_best"] == pytest.approx(25)
    assert metrics["ssim_best"] == pytest.approx(0.6)
    assert metrics["ssim_best_frame_03"] == pytest.approx(0.5)


def test_the_best_of_one_is_the_mean_and_more_are_never_worse():
    truth = videos()
    noise = torch.randn(8, *truth.shape, generator=torch.Generator().manual_seed(1))
    predictions = (truth + 0.1 * noise).clamp(0, 1)
    found = [dict(video_metrics(video_columns(predictions[:s], truth), PAST)) for s in (1, 2, 8)]
    for name in ("psnr", "ssim"):
        assert found[0][name] == found[0][f"{name}_best"]
        bests = [metrics[f"{name}_best"] for metrics in found]
        assert bests == sorted(bests)
        assert bests[0] < bests[2]
        frames = [found[2][f"{name}_best_frame_{number:02}"] for number in range(PAST, PAST + 4)]
        assert np.mean(frames) == pytest.approx(bests[2])


def test_columns_of_batches_join_to_those_of_all():
    truth = videos()
    predictions = torch.stack([truth.flip(0), truth.roll(1, 1)])
    whole = video_columns(predictions, truth)
    parts = [video_columns(predictions[:, at : at + 4], truth[at : at + 4]) for at in (0, 4)]
    for name, column in whole.items():
        assert column.shape == (6, 2, 4)
        torch.testing.assert_close(torch.cat([part[name] for part in parts]), column)


def test_predictions_of_other_frames_are_refused():
    with pytest.raises(MetricError, match=r"\(1, 6, 3, 1, 12, 13\) are not \(S, N, T, C, H, W\) of videos \(6, 4,"):
        video_columns(videos()[None, :, 1:], videos())


@pytest.fixture(scope="module")
def bair() -> Tensor:
    frames = np.load(real("bair/savp_groundtruth_8seq_gifquantised.npz"))["frames"]
    return torch.from_numpy(frames).permute(0, 1, 4, 2, 3).float() / 255


def test_the_last_frame_copied_is_ever_less_like_what_comes(bair: Tensor):
    truth = bair[:, PAST:]
    copied = bair[:, PAST - 1 : PAST].expand_as(truth)
    metrics = dict(video_metrics(video_columns(copied[None], truth), PAST))
    for name in ("psnr", "ssim"):
        frames = [metrics[f"{name}_frame_{number:02}"] for number in range(PAST, 30)]
        assert frames[0] == max(frames)
        assert np.mean(frames[:5]) > np.mean(frames[5:14]) > np.mean(frames[14:])


def test_the_truth_with_noise_is_as_far_as_the_noise(bair: Tensor):
    truth = bair[:, PAST:]
    noise = torch.randn(2, *truth.shape, generator=torch.Generator().manual_seed(0))
    metrics = dict(video_metrics(video_columns(truth + 0.05 * noise, truth), PAST))
    assert metrics["psnr"] == pytest.approx(-20 * math.log10(0.05), abs=0.02)
    assert metrics["psnr_best"] - metrics["psnr"] == pytest.approx(0, abs=0.05)
