"""The metrics by name, as `sigmavae evaluate` offers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from sigmavae.data.splits import Images, Splits
from sigmavae.errors import ConfigError, MetricError
from sigmavae.metrics.bound import bound
from sigmavae.metrics.calibration import calibration
from sigmavae.metrics.frechet import frechet, protocol
from sigmavae.metrics.futures import FUTURES, futures
from sigmavae.metrics.importance import importance
from sigmavae.metrics.inception import Inception, identity
from sigmavae.metrics.information import information
from sigmavae.metrics.items import BATCH
from sigmavae.metrics.layers import layers
from sigmavae.metrics.sigma import sigma
from sigmavae.models import LatentModel
from sigmavae.progress import Progress, Silent

MOST_SAMPLES = 10_000

Values = Iterator[tuple[str, float]]


@dataclass(frozen=True)
class Subject:
    """What is measured: a trained model on a split of its data."""

    model: LatentModel
    splits: Splits
    split: str
    seed: int
    training_batch: int
    batch: int = BATCH
    progress: Progress = field(default_factory=Silent)

    @property
    def images(self) -> Images:
        """The images of the split."""
        return self.splits.split(self.split)


@dataclass(frozen=True)
class Options:
    """What the numbers depend on besides the model and the data."""

    k: int = 64
    """importance: samples for each image"""
    codes: int = 5000
    """information: codes from the aggregate posterior"""
    prior_codes: int = 1000
    """calibration: codes from the prior"""
    futures: int = FUTURES
    """video: futures predicted for each"""
    samples: int | None = None
    """fid: images drawn; none: as in the split, up to 10,000"""
    inception: Path | None = None
    """fid: the network's file; none: as installed or fetched"""

    def __post_init__(self) -> None:
        """Refuse counts that cannot be meant."""
        for name in ("k", "codes", "prior_codes", "futures", "samples"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name}={value}: must be 1 or more")


@dataclass(frozen=True)
class Metric:
    """A metric, and what its numbers depend on."""

    title: str
    """What it says, in a few words."""
    measure: Callable[[Subject, Options], Values]
    protocol: Callable[[Subject, Options], str]
    """How it was measured, in a sentence that is kept beside the numbers."""
    options: tuple[str, ...] = ()
    """The fields of `Options` that matter to it."""
    of_scale: bool = False
    """Whether a recalibrated scale changes it."""


def _bound(it: Subject, options: Options) -> Values:  # noqa: ARG001
    return bound(it.model, it.images, it.seed, batch=it.batch, progress=it.progress)


def _importance(it: Subject, options: Options) -> Values:
    return importance(it.model, it.images, it.seed, options.k, batch=it.batch, progress=it.progress)


def _layers(it: Subject, options: Options) -> Values:  # noqa: ARG001
    return layers(it.model, it.images, it.seed, batch=it.batch, progress=it.progress)


def _sigma(it: Subject, options: Options) -> Values:  # noqa: ARG001
    of = it.model, it.splits, it.split, it.seed, it.training_batch
    return sigma(*of, batch=it.batch, progress=it.progress)


def _information(it: Subject, options: Options) -> Values:
    return information(it.model, it.images, it.seed, options.codes, batch=it.batch, progress=it.progress)


def _calibration(it: Subject, options: Options) -> Values:
    codes = options.prior_codes
    return calibration(it.model, it.images, it.seed, samples=codes, batch=it.batch, progress=it.progress)


def _fid(it: Subject, options: Options) -> Values:
    if it.model.clip is not None:
        name = type(it.model).__name__
        raise MetricError(f"fid: {name} continues given frames and draws no images from nothing; ask for video instead")
    which, count = f"{it.splits.fingerprint}-{it.split}", _samples(it, options)
    extractor = Inception(options.inception, it.model.device)
    return frechet(it.model, it.images, which, it.seed, count, extractor, progress=it.progress)


def _video(it: Subject, options: Options) -> Values:
    return futures(it.model, it.images, it.seed, options.futures, batch=it.batch, progress=it.progress)


def _samples(subject: Subject, options: Options) -> int:
    return options.samples or min(len(subject.images), MOST_SAMPLES)


def _on_images(subject: Subject) -> str:
    kind = "images" if subject.images.ndim == 4 else f"videos of {subject.images.shape[1]} frames"
    return f"on the {len(subject.images):,} {subject.split} {kind}"


def _codes(subject: Subject, count: str) -> str:
    """Return how many latent codes there are: an image has one, a video one for each of its frames."""
    return f"{count} an image" if subject.images.ndim == 4 else f"{count} a frame after the first"


def _calibrated_on(subject: Subject, options: Options) -> str:
    if subject.images.ndim != 4:
        return f"8-bit values of the predicted frames, {_codes(subject, 'one latent code')}, {_on_images(subject)}"
    return (
        f"8-bit values {_on_images(subject)}, predicted from one latent code of each image and, "
        f"position by position, from {options.prior_codes:,} codes of the prior"
    )


METRICS: dict[str, Metric] = {
    "bound": Metric(
        "the ELBO and its parts, of the model's own likelihood and of the 8-bit data",
        _bound,
        lambda subject, options: f"{_codes(subject, 'one latent code')}, {_on_images(subject)}",  # noqa: ARG005
        of_scale=True,
    ),
    "importance": Metric(
        "the tighter bound of several samples an image",
        _importance,
        lambda subject, options: f"{_codes(subject, f'{options.k} latent codes')}, {_on_images(subject)}",
        options=("k",),
        of_scale=True,
    ),
    "layers": Metric(
        "what each layer of latent variables carries",
        _layers,
        lambda subject, options: f"one latent code an image, {_on_images(subject)}",  # noqa: ARG005
    ),
    "sigma": Metric(
        "where sigma comes from and what it costs",
        _sigma,
        lambda subject, options: (  # noqa: ARG005
            f"{_on_images(subject)}; batches of {subject.training_batch} as in training"
        ),
    ),
    "information": Metric(
        "what the rate is spent on: information, or a mismatch with the prior",
        _information,
        lambda subject, options: (
            f"{options.codes:,} codes of the aggregate posterior {_on_images(subject)}, the source of each among them"
        ),
        options=("codes",),
    ),
    "calibration": Metric(
        "whether the decoder is as wrong as it says",
        _calibration,
        _calibrated_on,
        options=("prior_codes",),
        of_scale=True,
    ),
    "video": Metric(
        "predicted frames one by one: the bound, calibration, likeness to the truth",
        _video,
        lambda subject, options: (
            f"{_codes(subject, 'one latent code')}, and {options.futures} futures of each, {_on_images(subject)}"
        ),
        options=("futures",),
        of_scale=True,
    ),
    "fid": Metric(
        "how far samples are from real images, over the features of Inception",
        _fid,
        lambda subject, options: protocol(
            _samples(subject, options), len(subject.images), subject.split, identity(torch.float32)
        ),
        options=("samples",),
    ),
}
"""Every metric; in this order they are measured and shown."""

QUICK = ("bound", "sigma", "information", "calibration")
"""What is measured unless something else is asked for: seconds each."""
