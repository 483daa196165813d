"""The bound on a set of images: of its density or mass, and of the 8-bit data, on one scale for every likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from sigmavae.data import to_unit
from sigmavae.data.splits import Images
from sigmavae.models import LatentModel
from sigmavae.seeds import Stream, seed_for

BATCH = 250  # images at a time; part of the noise's seed, so a constant


@dataclass
class _Columns:
    """One float64 value an image for every quantity."""

    distortion: list[Tensor] = field(default_factory=list)
    rate: list[Tensor] = field(default_factory=list)
    discrete: list[Tensor] = field(default_factory=list)
    square: list[Tensor] = field(default_factory=list)
    scale: list[Tensor] = field(default_factory=list)


@torch.no_grad()
def bound(model: LatentModel, images: Images, seed: int) -> Iterator[tuple[str, float]]:
    """Yield the single-sample bound over the images, its parts, and the decoder's scale and error.

    nll            -ELBO in nats an image, of the likelihood's own density or mass, as the paper reports it
    nll_stderr     the standard error of that mean over the images
    nll_discrete   -ELBO in nats an image of the 8-bit data, comparable between all likelihoods
    bits_per_dim   nll_discrete / (D ln 2)
    sigma, beta    root mean square of the decoder's scale, and 2 sigma^2; only where it has a scale
    rmse           root mean squared error of a reconstructed value
    """
    model.eval()
    columns = _Columns()
    for index, start in enumerate(range(0, len(images), BATCH)):
        torch.manual_seed(seed_for(seed, Stream.EVALUATION, index))
        x = to_unit(torch.tensor(images[start : start + BATCH], device=model.device))
        _measure(model, x, columns)
    dimensions = math.prod(images.shape[1:])
    distortion, rate = torch.cat(columns.distortion), torch.cat(columns.rate)
    nll, discrete = distortion + rate, torch.cat(columns.discrete) + rate
    yield "nll", float(nll.mean())
    yield "nll_stderr", float(nll.std()) / math.sqrt(len(nll))
    yield "distortion", float(distortion.mean())
    yield "rate", float(rate.mean())
    yield "nll_discrete", float(discrete.mean())
    yield "bits_per_dim", float(discrete.mean()) / (dimensions * math.log(2))
    yield "rmse", float(torch.cat(columns.square).mean().sqrt())
    if columns.scale:
        variance = float(torch.stack(columns.scale).mean())
        yield "sigma", math.sqrt(variance)
        yield "beta", 2 * variance


def _measure(model: LatentModel, x: Tensor, columns: _Columns) -> None:
    h, rate = model.infer(x)
    p = model.likelihood(h, x)
    columns.distortion.append(-p.log_prob(x).double().cpu())
    columns.discrete.append(-p.bin_log_prob(x).double().cpu())
    columns.rate.append((rate + p.rate).double().cpu())
    columns.square.append((p.mean - x).double().square().flatten(1).mean(1).cpu())
    if p.scale is not None:
        columns.scale.append(p.scale.double().square().mean().cpu())
