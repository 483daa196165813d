"""z = (x - mean) / deviation: its mean square is one where the deviation is what the decoder is wrong by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.likelihoods.running import sum_over_processes
from sigmavae.metrics.pit import estimate
from sigmavae.metrics.predictions import Prediction

BANDS = 10
"""Of the predicted mean: [0, 0.1), ..., [0.9, 1]."""

_SPREAD = (0.05, 0.5, 0.95)


class ZScores:
    """Squares of z by item, by band of the predicted mean, and by position in the item.

    Values without a finite, positive variance (a Student-t of two degrees of freedom or less has none) do not count.
    """

    def __init__(self, shape: tuple[int, ...], device: torch.device) -> None:
        self._positions = torch.zeros(2, *shape, dtype=torch.float64, device=device)

    def columns(self, prediction: Prediction, x: Tensor) -> dict[str, Tensor]:
        """Return sums over each item; none where the prediction has no variance."""
        if prediction.variance is None:
            return {}
        variance = prediction.variance.double()
        counts = variance.isfinite() & (variance > 0)
        mean = prediction.mean.double()
        square = torch.where(counts, (x.double() - mean).square() / torch.where(counts, variance, 1.0), 0.0)
        self._positions += torch.stack([square.sum(0), counts.double().sum(0)])
        square, count = square.flatten(1), counts.double().flatten(1)
        band = (mean * BANDS).floor().clamp(0, BANDS - 1).long().flatten(1)
        empty = square.new_zeros(len(x), BANDS)
        return {"square": empty.scatter_add(1, band, square), "count": empty.scatter_add(1, band, count)}

    def metrics(self, prefix: str, table: Mapping[str, Tensor], widen: float) -> Iterator[tuple[str, float]]:
        """Yield the mean squares that `calibration` describes; errors are times `widen`."""
        positions, totals = sum_over_processes(self._positions).cpu()
        if not float(totals.sum()) > 0:
            return
        square, count = table["square"], table["count"]
        yield from estimate(f"{prefix}z_variance", square.sum(1), widen, count.sum(1))
        yield f"{prefix}z_share", float(totals.sum()) / (len(square) * totals.numel())
        yield from _spread(f"{prefix}z_variance_pixel", positions, totals)
        yield from _spread(f"{prefix}z_variance_image", square.sum(1), count.sum(1))
        for band in range(BANDS):
            if float(count[:, band].sum()) > 0:
                yield from estimate(f"{prefix}z_variance_band_{band}", square[:, band], widen, count[:, band])


def _spread(name: str, sums: Tensor, counts: Tensor) -> Iterator[tuple[str, float]]:
    """Yield quantiles of the quotients, where there is one."""
    values = (sums / counts)[counts > 0]
    for share in _SPREAD:
        yield f"{name}_{100 * share:02.0f}", float(values.quantile(share))
