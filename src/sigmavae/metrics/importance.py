"""The importance-weighted bound (Burda et al., 2016): tighter than the ELBO, and ln p(x) itself for many samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.metrics.items import BATCH, columns, described, mean_and_error
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress


def importance(
    model: LatentModel, images: Images, seed: int, k: int, *, batch: int = BATCH, progress: Progress | None = None
) -> Iterator[tuple[str, float]]:
    """Yield the K-sample bound -ln 1/K sum_k p(x | z_k) p(z_k) / q(z_k | x) in nats an image, z_k ~ q(z | x).

    nll_importance            of the likelihood's own density or mass
    nll_importance_discrete   of the 8-bit data; bits_per_dim_importance in bits a dimension
    importance_samples        K
    importance_effective      how many of the K samples count, (sum w)^2 / sum w^2, averaged over the images: near one,
                              a larger K would still tighten the bound

    What image-sigma pays for sigma stays within each weight: a bound on every term makes a bound on the sum.
    """
    model.eval()

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        noise = ItemNoise(seed, items)
        y = model.target(x)
        own, discrete, twice = (torch.full((len(x),), -math.inf, dtype=torch.float64) for _ in range(3))
        for h, log_ratio in model.draws(x, k, noise):
            p = model.likelihood(h, y)
            price = (log_ratio + p.rate).cpu().double()
            weight = p.log_prob(y).cpu().double() - price
            own, twice = torch.logaddexp(own, weight), torch.logaddexp(twice, 2 * weight)
            discrete = torch.logaddexp(discrete, p.bin_log_prob(y).cpu().double() - price)
        log_k = math.log(k)
        return {"own": log_k - own, "discrete": log_k - discrete, "effective": torch.exp(2 * own - twice)}

    table = columns(images, model, measure, batch=batch, progress=progress, name=f"bound of {k} samples")
    yield from mean_and_error("nll_importance", table["own"])
    yield from mean_and_error("nll_importance_discrete", table["discrete"])
    per = math.prod(described(model, images.shape[1:])) * math.log(2)
    yield from mean_and_error("bits_per_dim_importance", table["discrete"], per)
    yield "importance_samples", k
    yield "importance_effective", float(table["effective"].mean())
