"""The diagonal Gaussian posteriors of a set of images, and Gaussian facts about the aggregate that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.errors import MetricError, RunError
from sigmavae.metrics.items import BATCH, columns
from sigmavae.models import LatentModel
from sigmavae.models.gaussian_latent import GaussianLatentModel, draw, kl_to_standard_normal
from sigmavae.noise import Noise
from sigmavae.progress import Progress

ACTIVE = 0.01
"""The variance of the posterior mean above which a unit counts as active (Burda et al., 2016)."""

BLOCKS = 20
"""Blocks of images that the jackknife leaves out in turn."""


@dataclass(frozen=True)
class Posteriors:
    """q(z | x_n) of N images, (N, latent) each in float64; their mixture is the aggregate posterior m(z)."""

    mean: Tensor
    log_variance: Tensor

    def __len__(self) -> int:
        """Return N."""
        return len(self.mean)

    @property
    def rate(self) -> Tensor:
        """KL(q(z | x_n) || p(z)) of every image, (N,)."""
        return kl_to_standard_normal(self.mean, self.log_variance)

    @property
    def active(self) -> int:
        """Dimensions whose posterior mean varies over the images."""
        return int((self.mean.var(0) > ACTIVE).sum())

    def sample(self, noise: Noise) -> Tensor:
        """Return one z ~ q(z | x_n) of every image."""
        return draw(self.mean, self.log_variance, noise)


def posteriors(
    model: LatentModel, images: Images, *, batch: int = BATCH, progress: Progress | None = None
) -> Posteriors:
    """Return the posteriors of all images."""
    if not isinstance(model, GaussianLatentModel):
        raise MetricError(f"information: {type(model).__name__} has no single latent vector with a Gaussian posterior")

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:  # noqa: ARG001
        mean, log_variance = model.encode(x)
        return {"mean": mean, "log_variance": log_variance}

    found = columns(images, model, measure, batch=batch, progress=progress, name="posteriors")
    if not all(bool(column.isfinite().all()) for column in found.values()):
        raise RunError("posteriors are not finite: the model's weights are damaged or its training diverged")
    return Posteriors(**found)


def gaussian_marginal_kl(q: Posteriors) -> tuple[float, float]:
    """Return KL(g || p), with g the Gaussian of the aggregate's mean and covariance, and its standard error.

    KL(g || p) = 1/2 (tr S + |mu|^2 - d - ln det S), where S = E[e^log_variance] + Cov[mean]. Of N images it is too
    large by about d (d + 3) / 4N at high rates; a jackknife over blocks of images takes that out and gives the error.
    """
    centre = q.mean.mean(0)
    offset = q.mean - centre
    members = [torch.arange(block, len(q), BLOCKS) for block in range(min(BLOCKS, len(q)))]
    counts = torch.tensor([float(len(m)) for m in members], dtype=torch.float64)
    first = torch.stack([offset[m].sum(0) for m in members])
    second = torch.stack([offset[m].T @ offset[m] + q.log_variance[m].exp().sum(0).diag() for m in members])

    def kl(kept: Tensor) -> Tensor:
        count = kept @ counts
        shift = kept @ first / count
        covariance = torch.tensordot(kept, second, 1) / count - shift.outer(shift)
        excess: Tensor = covariance.trace() + (centre + shift).square().sum() - len(centre)
        return 0.5 * (excess - torch.logdet(covariance))

    blocks = len(members)
    whole = kl(torch.ones(blocks, dtype=torch.float64))
    without = torch.stack([kl(kept) for kept in 1 - torch.eye(blocks, dtype=torch.float64)])
    corrected = blocks * whole - (blocks - 1) * without.mean()
    return float(corrected), math.sqrt((blocks - 1) * float(without.var(unbiased=False)))
