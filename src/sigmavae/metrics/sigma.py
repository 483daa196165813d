r"""Where a shared sigma comes from, how exactly it is known, and what each way of choosing it costs.

The optimal sigma^2 is a mean over images and over latent codes of each image: sigma*^2 = E_x E_q(z|x) MSE(x, mu(z)).
Training estimates it with one code an image and one batch of images (Appendix B of the paper). With m_ij the mean
squared error of image i under its code j,

    Var(m) = within + between = E_i Var_j(m_ij) + Var_i(E_j m_ij),

an average over B images, one code each, has the variance Var(m) / B, of which within / B is the codes' share; and
d sigma / sigma = 1/2 d sigma^2 / sigma^2. With sigma instead of sigma*, an image of D values costs
D ln(sigma / sigma*) + D/2 (sigma*^2 / sigma^2 - 1) nats more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.data.splits import NAMES, Images, Splits
from sigmavae.errors import MetricError
from sigmavae.metrics.items import BATCH, batches, columns, described
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

CODES = 8
"""Latent codes drawn for each image to tell their share of the scatter."""


def sigma(
    model: LatentModel,
    splits: Splits,
    split: str,
    seed: int,
    training_batch: int,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield a Gaussian's shared sigma by every estimate, and what each costs on a split.

    sigma_used                    the one that evaluation uses: running, learned or fixed
    sigma_exact_SPLIT             root mean squared error of the whole split, one exact pass
    nats_used, nats_exact_train, nats_exact_validation
                                  nats an image that these cost on the split, compared with its own exact one
    nats_batch                    the same where every training-sized batch is scored with its own sigma: below zero,
                                  because sigma has then seen what it scores
    sigma_error_batch             relative standard error of a sigma from one batch of images
    sigma_error_code_batch        the part of it that comes from drawing one latent code an image
    sigma_error_code              that part when the whole split is averaged
    """
    model.eval()
    used = _shared_sigma(model, splits.split(split))
    yield "sigma_used", used
    errors = {
        name: _mean_squares(model, splits.split(name), seed, CODES if name == split else 1, batch, progress)
        for name in NAMES
    }
    exact = {name: float(values.mean().sqrt()) for name, values in errors.items()}
    for name in NAMES:
        yield f"sigma_exact_{name}", exact[name]
    dimensions = math.prod(described(model, splits.shape))
    others = {"used": used} | {f"exact_{name}": exact[name] for name in ("train", "validation") if name != split}
    for name, value in others.items():
        yield f"nats_{name}", cost(value, exact[split], dimensions)
    one = errors[split][:, 0]
    parts = one[torch.randperm(len(one), generator=torch.Generator().manual_seed(seed))].split(training_batch)
    logs = sum(len(part) * math.log(float(part.mean())) for part in parts) / len(one)
    yield "nats_batch", dimensions / 2 * (logs - math.log(float(one.mean())))
    yield from standard_errors(errors[split], training_batch)


def cost(sigma: float, best: float, dimensions: int) -> float:
    """Return the nats an image that a sigma costs where another would be best."""
    return dimensions * math.log(sigma / best) + dimensions / 2 * ((best / sigma) ** 2 - 1)


def standard_errors(mean_squares: Tensor, training_batch: int) -> Iterator[tuple[str, float]]:
    """Yield the relative standard errors of sigma, from mean squared errors (images, codes)."""
    variance = float(mean_squares.mean())
    within = float(mean_squares.var(1).mean())
    if len(mean_squares) > 1:
        every = float(mean_squares.var(0).mean())
        yield "sigma_error_batch", math.sqrt(every / training_batch) / (2 * variance)
    yield "sigma_error_code_batch", math.sqrt(within / training_batch) / (2 * variance)
    yield "sigma_error_code", math.sqrt(within / len(mean_squares)) / (2 * variance)


@torch.no_grad()
def _shared_sigma(model: LatentModel, images: Images) -> float:
    items, x = next(batches(images[:2], 2, model.device))
    p = model.likelihood(model.infer(x, ItemNoise(0, items))[0], model.target(x))
    if model.likelihood.discrete or p.scale is None or p.scale.dim() > 0:
        raise MetricError(
            f"sigma: {type(model.likelihood).__name__} has no single sigma in data units; "
            "those that have are gaussian, beta, shared-sigma and optimal-sigma"
        )
    return float(p.scale)


def _mean_squares(
    model: LatentModel, images: Images, seed: int, codes: int, batch: int, progress: Progress | None
) -> Tensor:
    """Return each image's mean squared error under so many latent codes, (N, codes)."""

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        noise = ItemNoise(seed, items)
        found = []
        for h, _ in model.draws(x, codes, noise):
            mean = model.likelihood(h).mean
            found.append((mean - model.target(x)).double().square().flatten(1).mean(1))
        return {"mean_square": torch.stack(found, dim=1)}

    return columns(images, model, measure, batch=batch, progress=progress, name="sigma")["mean_square"]
