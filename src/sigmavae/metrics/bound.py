"""The bound on a set of images: of its density or mass, and of the 8-bit data, on one scale for every likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.metrics.items import BATCH, columns, described, mean_and_error
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

VIDEO = 4
"""Dimensions of predicted frames (C, T, H, W)."""


def bound(
    model: LatentModel, images: Images, seed: int, *, batch: int = BATCH, progress: Progress | None = None
) -> Iterator[tuple[str, float]]:
    """Yield the single-sample bound over the images, its parts, and the decoder's scale and error.

    nll            -ELBO in nats an image, of the likelihood's own density or mass, as the paper reports it; of videos
                   in nats a sequence of predicted frames, and nll_per_frame divided by how many these are
    distortion, rate   its two parts
    floor          of densities: the distortion were every image its own reconstruction, with the scales as they are;
                   D/2 ln(2 pi sigma^2) for a Gaussian. No nll can be lower
    nll_discrete   -ELBO in nats an image of the 8-bit data, comparable between all likelihoods
    bits_per_dim   nll_discrete / (D ln 2)
    rmse           root mean squared error of a reconstructed value
    sigma, beta    root mean square of the decoder's scale, and 2 sigma^2; only where it has a scale

    NAME_stderr is the standard error of a mean over the images.
    """
    model.eval()

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        h, rate = model.infer(x, ItemNoise(seed, items))
        x = model.target(x)
        p = model.likelihood(h, x)
        found = {
            "distortion": -p.log_prob(x),
            "discrete": -p.bin_log_prob(x),
            "rate": rate + p.rate,
            "square": (p.mean - x).square().flatten(1).mean(1),
        }
        if p.scale is not None:
            found["variance"] = p.scale.double().square().expand_as(x).flatten(1).mean(1)
        if not model.likelihood.discrete:
            found["floor"] = -p.log_prob(p.mean)
        return found

    table = columns(images, model, measure, batch=batch, progress=progress, name="bound")
    nll, discrete = table["distortion"] + table["rate"], table["discrete"] + table["rate"]
    yield from mean_and_error("nll", nll)
    shape = described(model, images.shape[1:])
    if len(shape) == VIDEO:
        yield from mean_and_error("nll_per_frame", nll, per=shape[1])
    yield from mean_and_error("distortion", table["distortion"])
    yield from mean_and_error("rate", table["rate"])
    if "floor" in table:
        yield "floor", float(table["floor"].mean())
    yield from mean_and_error("nll_discrete", discrete)
    yield from mean_and_error("bits_per_dim", discrete, per=math.prod(shape) * math.log(2))
    yield "rmse", float(table["square"].mean().sqrt())
    if "variance" in table:
        variance = float(table["variance"].mean())
        yield "sigma", math.sqrt(variance)
        yield "beta", 2 * variance
