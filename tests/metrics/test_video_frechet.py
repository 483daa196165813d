"""Distances between sets of videos: of known Gaussians, over known features, under their right names."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sigmavae.errors import MetricError
from sigmavae.metrics.video_frechet import fvd, over_time, video_frechet
from tests.data.real import real


def videos(count: int = 400, seed: int = 0) -> Tensor:
    return torch.rand(count, 5, 1, 4, 4, generator=torch.Generator().manual_seed(seed))


def brightness(frames: Tensor) -> Tensor:
    return frames.flatten(2).mean(2)


def distance(features: str, extract, a: Tensor, b: Tensor) -> float:
    return dict(video_frechet(features, extract, [a], [b]))[f"frechet_{features}"]


def test_features_over_time_are_mean_and_deviation_of_every_frame():
    given = torch.arange(5.0).reshape(1, 5, 1, 1, 1).expand(2, 5, 3, 2, 2).clone()
    given[1] *= 2
    want = [[2.0] * 3 + [2**0.5] * 3, [4.0] * 3 + [2 * 2**0.5] * 3]
    torch.testing.assert_close(over_time(brightness)(given), torch.tensor(want, dtype=torch.float64))


def test_a_set_is_at_no_distance_from_itself_and_a_shift_is_its_square():
    a, extract = videos(), over_time(brightness)
    assert distance("brightness", extract, a, a) == pytest.approx(0, abs=1e-9)
    assert distance("brightness", extract, a, a + 0.3) == pytest.approx(0.09, rel=1e-5)


def test_one_feature_has_the_closed_form_of_two_normals():
    a, b = videos(), 0.5 + 2 * videos(300, seed=1)
    mean_a, mean_b = (brightness(v.flatten(0, 1)).reshape(len(v), -1).mean(1).double() for v in (a, b))
    want = (mean_a.mean() - mean_b.mean()) ** 2 + (mean_a.std() - mean_b.std()) ** 2
    extract = lambda v: over_time(brightness)(v)[:, :1]  # noqa: E731
    assert distance("mean", extract, a, b) == pytest.approx(float(want), rel=1e-6)


def test_what_moves_is_told_from_what_stands_still():
    # Frozen at a frame of their own, the videos have the brightness of the others on average, but none that changes.
    a, extract = videos(), over_time(brightness)
    still = a[:, :1].expand_as(a)
    moving = distance("brightness", extract, a, videos(seed=2))
    assert distance("brightness", extract, a, still) > 20 * moving


def test_batches_do_not_matter_and_the_number_of_videos_is_told():
    a, b, extract = videos(50), videos(40, seed=1), over_time(brightness)
    whole, parts = (dict(video_frechet("x", extract, a.split(n), b.split(n))) for n in (50, 7))
    assert parts == pytest.approx(whole, rel=1e-6)
    assert whole["frechet_x_videos"] == 40


def test_too_few_videos_are_refused():
    for few in ([], [videos(1)]):
        with pytest.raises(MetricError, match="needs 2 videos or more"):
            list(video_frechet("x", over_time(brightness), [videos(5)], few))


class Scores(nn.Module):
    """In place of I3D: 400 numbers, of which the first says what range and which axis it was given."""

    def __init__(self, classes: int = 400) -> None:
        super().__init__()
        self.classes = classes

    def forward(self, x: Tensor) -> Tensor:
        start = x[:, :, 0].flatten(1).mean(1).square()
        return torch.cat([start[:, None], torch.zeros(len(x), self.classes - 1)], 1)


def script(path: Path, module: nn.Module) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(module).save(str(path))
    return path


def test_fvd_is_over_the_scores_of_the_file_for_videos_from_minus_one_to_one(tmp_path: Path):
    a = videos(30)
    b = a.clone()
    b[:, 0] += 0.2
    found = dict(fvd(script(tmp_path / "i3d.pt", Scores()), a.split(11), b.split(8)))
    first, second = ((2 * v[:, 0].flatten(1).mean(1).double() - 1).square() for v in (a, b))
    want = (first.mean() - second.mean()) ** 2 + (first.std() - second.std()) ** 2
    assert found == {"fvd": pytest.approx(float(want), rel=1e-4), "fvd_videos": 30}


def test_only_a_network_of_400_scores_makes_an_fvd(tmp_path: Path):
    with pytest.raises(MetricError, match=r"gives \(5, 399\) for 5 videos, and I3D gives 400"):
        list(fvd(script(tmp_path / "other.pt", Scores(399)), [videos(5)], [videos(5)]))


def test_files_that_are_no_networks_are_named(tmp_path: Path):
    (tmp_path / "text.pt").write_text("hello")
    for name in ("text.pt", "absent.pt"):
        with pytest.raises(MetricError, match=f"{name}: cannot be read as TorchScript"):
            list(fvd(tmp_path / name, [videos(5)], [videos(5)]))


def test_noise_is_nearer_to_real_videos_than_standing_still():
    frames = np.load(real("bair/savp_groundtruth_8seq_gifquantised.npz"))["frames"]
    bair = torch.from_numpy(frames).permute(0, 1, 4, 2, 3).float() / 255
    noise = 0.05 * torch.randn(bair.shape, generator=torch.Generator().manual_seed(0))
    extract = over_time(brightness)
    still = bair[:, 1:2].expand_as(bair)
    assert distance("brightness", extract, bair, bair + noise) < 0.01 * distance("brightness", extract, bair, still)
