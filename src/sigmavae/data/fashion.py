"""The embedded set: 12,000 images of Fashion-MNIST (Xiao et al., 2017; MIT licence, see embedded/NOTICE)."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources

import numpy as np

from sigmavae.data.splits import Splits, held_out
from sigmavae.errors import DataError

_FILE = (
    "fashion-mnist-12000.xz"  # raw bytes of uint8 (12000, 28, 28): 10,000 of its training set, 2,000 of its test set
)
_SHA256 = "4e5ad51df73f27406d898bb931429da8add55bd0bfacdb4ad0cc475abeeca04c"
_COUNT, _SIDE, _TRAINING, _VALIDATION = 12_000, 28, 10_000, 1_000


def load_fashion() -> Splits:
    """Return the embedded Fashion-MNIST images: 9,000 to train, 1,000 to validate, 2,000 to test, 1 x 28 x 28."""
    packed = resources.files("sigmavae.data").joinpath("embedded", _FILE).read_bytes()
    if hashlib.sha256(packed).hexdigest() != _SHA256:
        raise DataError(f"the embedded file {_FILE} is damaged: install sigmavae again")
    images = np.frombuffer(lzma.decompress(packed), dtype=np.uint8).reshape(_COUNT, 1, _SIDE, _SIDE)
    train, validation = held_out(images[:_TRAINING], _VALIDATION)
    return Splits(
        train,
        validation,
        images[_TRAINING:],
        source=(
            "the first 10,000 training and 2,000 test images of Fashion-MNIST, embedded; "
            "1,000 of the training images held out for validation (seed 0)"
        ),
        fingerprint=_SHA256[:16],
    )
