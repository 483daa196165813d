r"""How like two frames are, frame by frame: peak signal-to-noise ratio and structural similarity.

PSNR = -10 log10(MSE) in dB, for values in [0, 1].
SSIM = (2 m_x m_y + C_1) (2 c_xy + C_2) / ((m_x^2 + m_y^2 + C_1) (v_x + v_y + C_2)), C_i = K_i^2    (Wang et al., 2004)

with local means m, variances v and covariance c, weighted by a Gaussian window; averaged over all places where the
window fits, and over channels.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.errors import MetricError

WINDOW, DEVIATION = 11, 1.5
K1, K2 = 0.01, 0.03

_SMALLEST_ERROR = 1e-10


def psnr(a: Tensor, b: Tensor) -> Tensor:
    """Return dB for pairs of frames (..., C, H, W) in [0, 1]; equal ones count as 100 dB, so that means are finite."""
    error = (a - b).square().flatten(-3).mean(-1)
    return -10 * torch.log10(error.clamp(min=_SMALLEST_ERROR))


def ssim(a: Tensor, b: Tensor) -> Tensor:
    """Return the similarity, at most one, of pairs of frames (..., C, H, W) in [0, 1]."""
    a, b = torch.broadcast_tensors(a, b)
    if min(a.shape[-2:]) < WINDOW:
        raise MetricError(
            f"SSIM looks through a window of {WINDOW} x {WINDOW} pixels, and frames are {a.shape[-2]} x {a.shape[-1]}: "
            "take larger frames, or PSNR"
        )
    mean_a, mean_b = _local_mean(a), _local_mean(b)
    var_a = _local_mean(a * a) - mean_a**2
    var_b = _local_mean(b * b) - mean_b**2
    covariance = _local_mean(a * b) - mean_a * mean_b
    brightness = (2 * mean_a * mean_b + K1**2) / (mean_a**2 + mean_b**2 + K1**2)
    structure = (2 * covariance + K2**2) / (var_a + var_b + K2**2)
    return (brightness * structure).flatten(-3).mean(-1)


def _local_mean(x: Tensor) -> Tensor:
    """Return the mean under the window at every place where all of it is inside (..., H - 10, W - 10)."""
    offsets = torch.arange(WINDOW, dtype=x.dtype, device=x.device) - WINDOW // 2
    weights = torch.exp(-0.5 * (offsets / DEVIATION) ** 2)
    weights = weights / weights.sum()
    planes = x.reshape(-1, 1, *x.shape[-2:])
    found = F.conv2d(F.conv2d(planes, weights.reshape(1, 1, -1, 1)), weights.reshape(1, 1, 1, -1))
    return found.reshape(*x.shape[:-2], *found.shape[-2:])
