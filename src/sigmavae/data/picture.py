"""One picture from a file: decoded, upright, 8 bits, gray or RGB."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from sigmavae.data.resize import Item, from_picture
from sigmavae.errors import DataError

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
ENOUGH = 4  # times the side asked for: a larger JPEG is decoded at a half, a quarter or an eighth of its size


def decode(file: Path | bytes, name: str, side: int | None = None) -> Item:
    """Return a picture as (H, W, 1) if it is gray, (H, W, 3) if not; what is transparent becomes white.

    With a side it may come smaller than it is, though never near that small.
    """
    try:
        with Image.open(io.BytesIO(file) if isinstance(file, bytes) else file) as picture:
            if side is not None:
                picture.draft(None, (ENOUGH * side, ENOUGH * side))
            return from_picture(_plain(ImageOps.exif_transpose(picture)))
    except UnidentifiedImageError as error:
        raise DataError(f"{name}: cannot be read as a picture (its first bytes are of no known format)") from error
    except Exception as error:  # decoders raise whatever a damaged byte leads them to
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{name}: cannot be read as a picture ({reason})") from error


def is_gray(file: Path | bytes) -> bool:
    """Whether the header of a picture says so; of one that cannot be read nothing is known, so yes."""
    try:
        with Image.open(io.BytesIO(file) if isinstance(file, bytes) else file) as picture:
            return picture.mode in ("1", "L", "LA") or picture.mode.startswith("I")
    except Exception:
        return True


def _plain(picture: Image.Image) -> Image.Image:
    """Return an 8-bit gray or RGB picture."""
    if picture.mode.startswith("I"):  # 16 bits: the upper eight
        return Image.fromarray((np.asarray(picture).clip(0, 65535) >> 8).astype(np.uint8))
    if picture.has_transparency_data:
        gray = picture.mode == "LA"
        opaque = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", opaque.size, "white"), opaque)
        return picture.convert("L" if gray else "RGB")
    return picture.convert("L" if picture.mode in ("1", "L") else "RGB")
