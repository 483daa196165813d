"""Videos as pictures: a strip with one video a row, and an animation of them side by side; given frames are marked."""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from sigmavae.errors import SigmaVAEError
from sigmavae.files import write_atomically
from sigmavae.metrics.similarity import psnr
from sigmavae.models import VideoModel
from sigmavae.pictures import enlarged, write_grid

FUTURES = 20
"""Predicted, of which the best is shown."""
RANDOM = 3
"""Shown besides."""

_BORDER, _MARK, _PLAIN = 2, (0.0, 0.6, 0.2), (0.75, 0.75, 0.75)
_SIDE, _MILLISECONDS = 128, 200


def futures_of(
    model: VideoModel, video: Tensor, n: int = FUTURES, noise: bool = False, temperature: float = 1.0
) -> Tensor:
    """Return rows (R, T, C, H, W): a video (T, C, H, W), the best of n futures of its given frames, and three others.

    The best has the highest PSNR, averaged over its frames. The three are the first of the n that are not the best.
    """
    truth = video[model.past :]
    made = model.predict(video.unsqueeze(0), n, noise=noise, temperature=temperature)[:, 0]
    best = int(psnr(made, truth).mean(1).argmax())
    chosen = [best, *(i for i in range(n) if i != best)][: 1 + RANDOM]
    given = video[: model.past].expand(len(chosen), *video[: model.past].shape)
    return torch.cat([video.unsqueeze(0), torch.cat([given, made[chosen]], 1)])


def write_strip(path: Path, rows: Tensor, past: int) -> Path:
    """Write videos (R, T, C, H, W) in [0, 1] as a PNG, one a row, the first `past` frames of each in colour."""
    return write_grid(path, marked(rows, past).flatten(0, 1), rows.shape[1])


def write_animation(path: Path, rows: Tensor, past: int) -> Path:
    """Write videos (R, T, C, H, W) in [0, 1] side by side as an animated GIF, framed in colour while they are given."""
    shown = marked(enlarged(rows.flatten(0, 1), _SIDE).unflatten(0, rows.shape[:2]), past)
    values = shown.detach().float().cpu().clamp(0, 1).mul(255).round().to(torch.uint8)
    sheets = values.permute(1, 3, 0, 4, 2).flatten(2, 3)  # (T, H, R W, 3)
    first, *others = [Image.fromarray(sheet.contiguous().numpy()) for sheet in sheets]

    def save(temporary: Path) -> None:
        first.save(temporary, "GIF", save_all=True, append_images=others, duration=_MILLISECONDS, loop=0)

    try:
        write_atomically(path, save)
    except OSError as error:
        raise SigmaVAEError(f"{path}: cannot be written ({error.strerror or error}); name another place") from error
    return path


def marked(rows: Tensor, past: int) -> Tensor:
    """Return videos in colour, (R, T, 3, H', W'), every frame in a border that is green where it was given."""
    videos, frames, channels, height, width = rows.shape
    colours = rows if channels == 3 else rows[:, :, :1].expand(-1, -1, 3, -1, -1)
    border = torch.tensor([_MARK if t < past else _PLAIN for t in range(frames)], dtype=rows.dtype, device=rows.device)
    sheet = border[None, :, :, None, None].expand(videos, -1, -1, height + 2 * _BORDER, width + 2 * _BORDER).clone()
    sheet[..., _BORDER:-_BORDER, _BORDER:-_BORDER] = colours
    return sheet
