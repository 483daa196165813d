"""PSNR and SSIM of frames against closed forms and scipy's filters."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import ndimage

from sigmavae.errors import MetricError
from sigmavae.metrics.similarity import psnr, ssim
from tests.data.real import real


def pairs(*shape: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    a = ndimage.gaussian_filter(rng.random(shape), [0] * (len(shape) - 2) + [2, 2])
    a = (a - a.min()) / (a.max() - a.min())
    return torch.from_numpy(a), torch.from_numpy(np.clip(a + 0.1 * rng.normal(size=shape), 0, 1))


def scipy_ssim(a: np.ndarray, b: np.ndarray) -> float:
    """Of one plane, by filters that pad, with the padded margin cut away."""

    def blur(x: np.ndarray) -> np.ndarray:
        return ndimage.gaussian_filter(x, 1.5, radius=5)[5:-5, 5:-5]

    var_a, var_b, both = blur(a * a) - blur(a) ** 2, blur(b * b) - blur(b) ** 2, blur(a * b) - blur(a) * blur(b)
    top = (2 * blur(a) * blur(b) + 1e-4) * (2 * both + 9e-4)
    return float((top / ((blur(a) ** 2 + blur(b) ** 2 + 1e-4) * (var_a + var_b + 9e-4))).mean())


def test_psnr_of_a_constant_error():
    a = torch.full((2, 3, 3, 8, 9), 0.5)
    for error in (0.1, 0.01, 0.5):
        torch.testing.assert_close(psnr(a + error, a), torch.full((2, 3), -20 * math.log10(error)))
    assert bool((psnr(a, a) == 100).all())


def test_psnr_is_of_the_frame_and_not_the_mean_over_channels():
    a, b = torch.zeros(2, 12, 12), torch.zeros(2, 12, 12)
    b[0] = 0.1
    assert float(psnr(a, b)) == pytest.approx(-10 * math.log10(0.005))


@pytest.mark.parametrize("shape", [(1, 11, 11), (3, 16, 25), (2, 3, 64, 64)])
def test_ssim_is_that_of_scipy(shape: tuple[int, ...]):
    a, b = pairs(*shape)
    planes = zip(a.reshape(-1, *shape[-2:]).numpy(), b.reshape(-1, *shape[-2:]).numpy(), strict=True)
    want = np.reshape([scipy_ssim(x, y) for x, y in planes], shape[:-2]).mean(-1)
    np.testing.assert_allclose(ssim(a, b).numpy(), want, rtol=1e-12)
    np.testing.assert_allclose(ssim(a.float(), b.float()).numpy(), want, rtol=1e-4)


def test_ssim_is_symmetric_and_one_for_equal_frames_only():
    a, b = pairs(2, 3, 20, 20)
    torch.testing.assert_close(ssim(a, b), ssim(b, a))
    torch.testing.assert_close(ssim(a, a), torch.ones(2, dtype=torch.float64))
    assert bool((ssim(a, b) < 0.9).all())


def test_ssim_of_flat_frames_compares_their_brightness():
    a, b = torch.full((1, 12, 12), 0.2, dtype=torch.float64), torch.full((1, 12, 12), 0.6, dtype=torch.float64)
    assert float(ssim(a, b)) == pytest.approx((2 * 0.12 + 1e-4) / (0.04 + 0.36 + 1e-4))


def test_frames_smaller_than_the_window_are_refused():
    with pytest.raises(MetricError, match="11 x 11 pixels, and frames are 10 x 64"):
        ssim(torch.zeros(1, 10, 64), torch.zeros(1, 10, 64))


def test_real_frames_are_no_different():
    frames = np.load(real("bair/bair_raw_1traj_2views_30x64x64x3_u8.npy"))[0, :4].astype(float) / 255
    a, b = (torch.from_numpy(frames[i]).permute(2, 0, 1) for i in (0, 3))
    want = np.mean([scipy_ssim(frames[0, ..., c], frames[3, ..., c]) for c in range(3)])
    assert float(ssim(a, b)) == pytest.approx(want, rel=1e-12)
    assert float(ssim(a.float(), b.float())) == pytest.approx(want, rel=1e-4)
