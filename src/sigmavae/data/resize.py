"""Pictures to squares of one size, and between gray and colour; 8 bits in, 8 bits out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Item = NDArray[np.uint8]
"""One image (H, W, C) or one video (T, H, W, C), 8 bits a value, as pictures are stored."""


@dataclass(frozen=True)
class Crop:
    """The part of an image that is kept when it is brought to a square."""

    words: str
    box: Callable[[int, int], tuple[slice, slice]]
    """Rows and columns to keep of an image of (height, width)."""


def _everything(height: int, width: int) -> tuple[slice, slice]:
    return slice(0, height), slice(0, width)


def _square(height: int, width: int) -> tuple[slice, slice]:
    side = min(height, width)
    return centre(height, side), centre(width, side)


def centre(length: int, kept: int) -> slice:
    """Return the middle of a row or column."""
    start = (length - kept) // 2
    return slice(start, start + kept)


WHOLE = Crop("the whole image", _everything)
SQUARE = Crop("the largest centre square", _square)


def with_size(item: Item, side: int | None, crop: Crop) -> Item:
    """Return an image, or every frame of a video, cropped and resized (bilinear) to the side; as it is if none."""
    if side is None:
        return item
    rows, columns = crop.box(*item.shape[-3:-1])
    kept = item[..., rows, columns, :]
    if kept.shape[-3:-1] == (side, side):
        return kept
    if kept.ndim == 3:
        return _resized(kept, side)
    return np.stack([_resized(frame, side) for frame in kept])


def with_channels(item: Item, channels: int | None) -> Item:
    """Return an item with one channel or three: luma (ITU-R 601) of a colour image, or a gray one three times."""
    here = item.shape[-1]
    if channels is None or here == channels:
        return item
    if here == 1:
        return np.repeat(item, channels, axis=-1)
    flat = item.reshape(-1, item.shape[-2], 3)  # frames of a video, one below the other
    return from_picture(to_picture(flat).convert("L")).reshape(*item.shape[:-1], 1)


def to_picture(image: Item) -> Image.Image:
    """Return (H, W, 1) as a gray picture, (H, W, 3) as a colour one."""
    return Image.fromarray(np.ascontiguousarray(image[..., 0] if image.shape[-1] == 1 else image))


def from_picture(picture: Image.Image) -> Item:
    """Return a gray or RGB picture as (H, W, 1) or (H, W, 3)."""
    values = np.asarray(picture, dtype=np.uint8)
    return values[..., None] if values.ndim == 2 else values


def _resized(image: Item, side: int) -> Item:
    return from_picture(to_picture(image).resize((side, side), Image.Resampling.BILINEAR))
