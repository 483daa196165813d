r"""The probability integral transform: where in the distribution that was predicted for it each value fell.

    pit = F(k-) + u (F(k) - F(k-)),   u ~ U(0, 1)                     (Smith, 1985; Czado, Gneiting and Held, 2009)

is uniform on [0, 1] if the prediction F is right. A central interval of level c then holds the share c of the values,
those with |pit - 1/2| <= c / 2. Values of one image are not independent: every error is one over images.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.metrics.predictions import Prediction

BINS = 20
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def pit_columns(prediction: Prediction, uniform: Tensor) -> dict[str, Tensor]:
    """Return for each item the share of its values in every bin, and in the central interval of every level."""
    below, upto = prediction.below.double(), prediction.upto.double()
    pit = (below + uniform.double() * (upto - below)).flatten(1)
    bins = (pit * BINS).long().clamp(0, BINS - 1)
    count = pit.new_zeros(len(pit), BINS).scatter_add(1, bins, torch.ones_like(pit))
    off = 2 * (pit - 0.5).abs()
    coverage = torch.stack([(off <= level).double().mean(1) for level in LEVELS], 1)
    return {"pit": count / pit.shape[1], "coverage": coverage}


def pit_metrics(prefix: str, table: Mapping[str, Tensor], widen: float) -> Iterator[tuple[str, float]]:
    """Yield the histogram, the coverages and the error that `calibration` describes; errors are times `widen`."""
    for number, share in enumerate(table["pit"].unbind(1)):
        yield from estimate(f"{prefix}pit_{number:02}", share, widen)
    coverage = table["coverage"]
    for level, share in zip(LEVELS, coverage.unbind(1), strict=True):
        yield from estimate(f"{prefix}coverage_{100 * level:.0f}", share, widen)
    # |d| is d times its sign: the mean over levels of one image's signed distances averages to the error.
    distance = coverage - coverage.new_tensor(LEVELS)
    yield from estimate(f"{prefix}error", (distance * distance.mean(0).sign()).mean(1), widen)
    if len(coverage) > 1:
        # The mean of |d| for a normal d of mean zero is sqrt(2 / pi) of its deviation.
        deviation = widen * float(coverage.std(0).mean()) / len(coverage) ** 0.5
        yield f"{prefix}error_chance", math.sqrt(2 / math.pi) * deviation


def estimate(name: str, values: Tensor, widen: float, weights: Tensor | None = None) -> Iterator[tuple[str, float]]:
    """Yield the mean of a column, or its sum over that of the weights, and the standard error over the items."""
    weights = torch.ones_like(values) if weights is None else weights
    mean = values.sum() / weights.sum()
    yield name, float(mean)
    if len(values) > 1:
        scatter = (values - mean * weights).std() / weights.mean()
        yield f"{name}_stderr", widen * float(scatter) / len(values) ** 0.5
