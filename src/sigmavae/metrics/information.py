"""Where the rate goes: into information about the image, or into a mismatch of aggregate posterior and prior."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.errors import MetricError
from sigmavae.metrics.aggregate import log_aggregate_of_many
from sigmavae.metrics.items import BATCH, mean_and_error
from sigmavae.metrics.mixture import FOLDS, held_out_log_prob
from sigmavae.metrics.posteriors import Posteriors, gaussian_marginal_kl, posteriors
from sigmavae.models import LatentModel
from sigmavae.models.gaussian_latent import log_ratio_to_standard_normal
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

FEWEST = 2 * FOLDS


def information(
    model: LatentModel,
    images: Images,
    seed: int,
    samples: int,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield the rate's two parts in nats: rate = I(x; z) + KL(m || p), m(z) = E_x q(z | x) (Hoffman & Johnson, 2016).

    information_mc, marginal_kl_mc   with the N images' own mixture for m: M samples z ~ q(z | x_n) of images taken in
                   a random order, ln m(z) = ln 1/N sum_n q(z | x_n), the source among the n (Rosca et al., 2018).
                   m(z) >= q(z | x_n) / N, so information_mc <= ln N and marginal_kl_mc >= rate - ln N exactly: at
                   rates beyond ln N they tell the number of images. For the distribution that the images come from,
                   they are on average a lower bound of the information and an upper bound of the mismatch.
    information_images, information_samples, information_cap   N, M, ln N
    information_gaussian, marginal_kl_gaussian   with KL(g || p), g the Gaussian of m's mean and covariance. As
                   KL(m || p) = KL(m || g) + KL(g || p) for a Gaussian p, it is a lower bound of the mismatch, and the
                   information an upper bound; equalities for a Gaussian m. No cap; corrected for finite N.
    information_mixture, marginal_kl_mixture   with E_m ln h(z) / p(z) = KL(m || p) - KL(m || h), h a mixture of
                   Gaussians fitted and chosen on other images: the same kind of bounds for any h, closer where m is
                   not Gaussian. No cap; a little below zero where there is no mismatch, by what the fit of h costs
    active_units   latent dimensions whose posterior mean has a variance above 0.01 over the images

    rate is that of `bound`, the mean over all N. NAME_stderr is a standard error: of `mc` given the images, of
    the others over the images.
    """
    if len(images) < FEWEST or samples < 2:
        raise MetricError(
            f"information: {len(images)} images and {samples} samples: needs {FEWEST} images and 2 samples or more"
        )
    model.eval()
    q = posteriors(model, images, batch=batch, progress=progress)
    yield from information_of(q, seed, samples, model.device, progress)


def information_of(
    q: Posteriors,
    seed: int,
    samples: int,
    device: torch.device | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield what `information` does, of posteriors at hand; several processes exchange their parts on the device."""
    device = device or torch.device("cpu")
    rate = float(q.rate.mean())
    noise = ItemNoise(seed, torch.arange(len(q)))

    z, sources = _draw(q, samples, noise)
    ratio = log_ratio_to_standard_normal(z, sources.mean, sources.log_variance)
    values = ratio + _log_prior(z) - log_aggregate_of_many(z, q, device, progress)
    yield from _both("mc", rate, rate - float(values.mean()), float(values.std()) / math.sqrt(samples))
    yield "information_images", len(q)
    yield "information_samples", samples
    yield "information_cap", math.log(len(q))

    yield from _both("gaussian", rate, *gaussian_marginal_kl(q))

    z = q.sample(noise)
    (_, kl), (_, error) = mean_and_error("", held_out_log_prob(z) - _log_prior(z))
    yield from _both("mixture", rate, kl, error)
    yield "active_units", q.active


def _draw(q: Posteriors, samples: int, noise: ItemNoise) -> tuple[Tensor, Posteriors]:
    """Return samples of the aggregate and the posteriors they are from: all images once, in a random order, again."""
    order = noise(q.mean[:, :1]).flatten().argsort()
    laps = [q.sample(noise)[order] for _ in range(math.ceil(samples / len(q)))]
    sources = order.repeat(len(laps))[:samples]
    return torch.cat(laps)[:samples], Posteriors(q.mean[sources], q.log_variance[sources])


def _log_prior(z: Tensor) -> Tensor:
    return -0.5 * (z.square() + math.log(2 * math.pi)).sum(1)


def _both(name: str, rate: float, kl: float, error: float) -> Iterator[tuple[str, float]]:
    yield f"information_{name}", rate - kl
    yield f"information_{name}_stderr", error
    yield f"marginal_kl_{name}", kl
    yield f"marginal_kl_{name}_stderr", error
