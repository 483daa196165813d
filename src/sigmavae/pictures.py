"""Images in a grid, as PNG."""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image
from torch import Tensor

from sigmavae.errors import SigmaVAEError
from sigmavae.files import write_atomically

COLUMNS, GAP = 8, 2


def write_grid(path: Path, images: Tensor, columns: int = COLUMNS) -> Path:
    """Write images (N, C, H, W) in [0, 1], gray or colour, as a grid with transparent gaps."""
    n, channels, height, width = images.shape
    values = images.detach().float().cpu().clamp(0, 1).mul(255).round().to(torch.uint8)
    if channels not in (1, 3):
        values = values[:, :1]  # a picture has one channel or three: of other data the first is shown
    rows = -(-n // columns)
    sheet = torch.zeros(4, rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, dtype=torch.uint8)
    for i, value in enumerate(values):
        top, left = i // columns * (height + GAP), i % columns * (width + GAP)
        sheet[:3, top : top + height, left : left + width] = value
        sheet[3, top : top + height, left : left + width] = 255
    picture = Image.fromarray(sheet.permute(1, 2, 0).contiguous().numpy(), "RGBA")
    try:
        write_atomically(path, lambda temporary: picture.save(temporary, "PNG", optimize=True))
    except OSError as error:
        raise SigmaVAEError(f"{path}: cannot be written ({error.strerror or error}); name another place") from error
    return path


def beside(real: Tensor, reconstructed: Tensor) -> Tensor:
    """Return real images and their reconstructions taking turns, (2 N, C, H, W)."""
    return torch.stack([real, reconstructed], dim=1).flatten(0, 1)


def enlarged(images: Tensor, side: int) -> Tensor:
    """Return images (N, C, H, W) with every pixel repeated, as long as they fit the side."""
    factor = max(1, side // max(images.shape[-2:]))
    return images.repeat_interleave(factor, -2).repeat_interleave(factor, -1)


def spread(videos: Tensor, count: int) -> Tensor:
    """Return so many frames of videos (N, T, ...), the first, the last and evenly between; all if there are fewer."""
    total = videos.shape[1]
    return videos[:, torch.linspace(0, total - 1, min(count, total)).round().long()]
