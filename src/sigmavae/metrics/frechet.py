"""Frechet (Heusel et al., 2017) and kernel distances between samples and real images, over named features."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.errors import MetricError
from sigmavae.metrics.features import KEPT, Extractor, see, see_real
from sigmavae.metrics.kernel import LEAST, kernel_distance
from sigmavae.metrics.moments import Moments
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress, Silent
from sigmavae.seeds import Stream

BATCH = 50
"""Images at a time: at a dozen a second on a CPU, one sees that something happens."""


def frechet(
    model: LatentModel,
    images: Images,
    fingerprint: str,
    seed: int,
    samples: int,
    extractor: Extractor,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield the distances between so many samples and real images, over the extractor's features.

    fid                   the Frechet distance between Gaussians with the means and covariances of the two; biased
                          upwards, the more so the fewer samples: compare equal numbers only
    fid_samples, fid_images   how many there were
    kid                   the kernel distance, without bias at any number; of 10,000 of each, if there are more
    fid_images_per_second     samples drawn, resized and looked at

    A sample is the decoder's mean at a draw from the prior, rounded to 8 bits as the real images are; `protocol` says
    so in a sentence. `fingerprint` names the images, data set and split: their features are kept on disk under it.
    """
    if min(samples, len(images)) < LEAST or images.ndim != 4:
        raise MetricError(
            f"FID needs {LEAST} images and samples or more, (N, C, H, W): there are {samples} samples "
            f"and images {images.shape}; ask for more samples, or for another metric"
        )
    model.eval()
    progress = progress or Silent()
    real = see_real(images, fingerprint, extractor, model.device, batch=batch, progress=progress)

    start = time.perf_counter()
    name = "features of the samples"
    made = see(samples, drawn(model, seed), extractor, model.device, batch=batch, progress=progress, name=name)
    seconds = time.perf_counter() - start
    progress.begin("Frechet distance", 1, 0)
    distance = frechet_distance(made.moments, real.moments)
    progress.advance(1, {})
    yield "fid", distance
    yield "fid_samples", samples
    yield "fid_images", len(images)
    kid, stderr = kernel_distance(made.kept, real.kept, progress)
    yield "kid", kid
    yield "kid_stderr", stderr
    yield "fid_images_per_second", samples / seconds


def drawn(model: LatentModel, seed: int) -> Callable[[Tensor], Tensor]:
    """Return what makes 8-bit samples of the numbers of some: the decoder's mean at draws from the prior."""

    def images(items: Tensor) -> Tensor:
        noise = ItemNoise(seed, items, Stream.PICTURES)
        return eight_bits(model.likelihood(model.generate(len(items), noise)).mean)

    return images


def frechet_distance(a: Moments, b: Moments) -> float:
    """Return |m_a - m_b|^2 + tr C_a + tr C_b - 2 tr (C_a C_b)^1/2, the squared 2-Wasserstein distance of Gaussians.

    With C = S S^T, from the symmetric eigendecomposition of C, the last trace is the sum of the singular values of
    S_a^T S_b. So no square root of a product is taken, and directions without variance do no harm: with fewer features
    than dimensions there are some.
    """
    gap = (a.mean - b.mean).square().sum()
    overlap = torch.linalg.svdvals(_root(a.covariance).T @ _root(b.covariance)).sum()
    return float(gap + a.covariance.trace() + b.covariance.trace() - 2 * overlap)


def _root(covariance: Tensor) -> Tensor:
    """Return S with S S^T = C, (D, rank)."""
    values, vectors = torch.linalg.eigh(covariance)
    kept = values > values.max() * len(values) * torch.finfo(values.dtype).eps  # the rest is rounding
    root: Tensor = vectors[:, kept] * values[kept].sqrt()
    return root


def eight_bits(x: Tensor) -> Tensor:
    """Return images in [0, 1] as images are stored: uint8, rounded."""
    if not bool(x.isfinite().all()):
        raise MetricError("the decoder's mean is not finite, so there are no samples to measure: train the model again")
    return x.clamp(0, 1).mul(255).round().to(torch.uint8)


def protocol(samples: int, images: int, split: str, features: str) -> str:
    """Return in a sentence what a Frechet distance here is one of; two are comparable where it is the same."""
    return (
        f"{samples:,} samples, the decoder's mean at draws from the prior, rounded to 8 bits, against {images:,} real "
        f"images of the {split} split; features: {features}; KID over {KEPT:,} of each at most"
    )
