"""The embedded set: 12,000 images of Fashion-MNIST (Xiao et al., 2017; MIT licence, see embedded/NOTICE)."""

from __future__ import annotations

import hashlib
import lzma
from importlib import resources

import numpy as np

from sigmavae.config import DataConfig
from sigmavae.data.resize import WHOLE, with_channels, with_size
from sigmavae.data.splits import Splits, held_out
from sigmavae.errors import ConfigError, DataError

_FILE = (
    "fashion-mnist-12000.xz"  # raw bytes of uint8 (12000, 28, 28): 10,000 of its training set, 2,000 of its test set
)
_SHA256 = "4e5ad51df73f27406d898bb931429da8add55bd0bfacdb4ad0cc475abeeca04c"
_COUNT, _SIDE, _TRAINING, _VALIDATION = 12_000, 28, 10_000, 1_000


def load_fashion(config: DataConfig) -> Splits:
    """Return the embedded Fashion-MNIST images: 9,000 to train, 1,000 to validate, 2,000 to test, 1 x 28 x 28."""
    if config.path is not None:
        raise ConfigError(f"data.path={config.path}: the embedded set has none; files of Fashion-MNIST: fashion-mnist")
    packed = resources.files("sigmavae.data").joinpath("embedded", _FILE).read_bytes()
    if hashlib.sha256(packed).hexdigest() != _SHA256:
        raise DataError(f"the embedded file {_FILE} is damaged: install sigmavae again")
    images = np.frombuffer(lzma.decompress(packed), dtype=np.uint8).reshape(_COUNT, _SIDE, _SIDE, 1)
    source = (
        "the first 10,000 training and 2,000 test images of Fashion-MNIST, embedded; "
        "1,000 of the training images held out for validation (seed 0)"
    )
    if (config.size or _SIDE, config.channels or 1) != (_SIDE, 1):
        images = np.stack([with_channels(with_size(image, config.size, WHOLE), config.channels) for image in images])
        source += f"; resized to {config.size or _SIDE}, {config.channels or 1} channels"
    images = np.ascontiguousarray(np.moveaxis(images, -1, 1))
    train, validation = held_out(images[:_TRAINING], _VALIDATION)
    fingerprint = hashlib.sha256(images.tobytes()).hexdigest()[:16]
    return Splits(train, validation, images[_TRAINING:], source=source, fingerprint=fingerprint)
