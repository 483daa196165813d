"""The density of the aggregate posterior m(z) = 1/N sum_n q(z | x_n), source included."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sigmavae.likelihoods.running import sum_over_processes
from sigmavae.metrics.items import numbers
from sigmavae.metrics.posteriors import Posteriors
from sigmavae.progress import Progress

ROWS, COLUMNS = 256, 1 << 14
"""Samples and posteriors compared at a time: 32 MiB of float64 for any number of either."""


def log_aggregate(z: Tensor, q: Posteriors) -> Tensor:
    """Return ln m(z) of samples (M, latent): (M,) in nats.

    -2 ln q(z | x) = z^2 . P - 2 z . (P mu) + const with the precision P = e^-log_variance, one matrix product for all
    pairs. Its terms are P times larger than their sum, which float32 does not survive: everything is float64, exact
    to 1e-3 nats down to variances of 1e-9.
    """
    total = torch.full((len(z),), -math.inf, dtype=torch.float64)
    powers = torch.cat([z.square(), z], 1)
    for mean, log_variance in zip(q.mean.split(COLUMNS), q.log_variance.split(COLUMNS), strict=True):
        precision = torch.exp(-log_variance)
        factors = torch.cat([-0.5 * precision, precision * mean], 1)
        constant = -0.5 * (precision * mean.square() + log_variance + math.log(2 * math.pi)).sum(1)
        total = torch.logaddexp(total, torch.addmm(constant, powers, factors.T).logsumexp(1))
    return total - math.log(len(q))


def log_aggregate_of_many(z: Tensor, q: Posteriors, device: torch.device, progress: Progress | None = None) -> Tensor:
    """Return ln m(z) of many samples: of several processes each takes its share, and all get the whole."""
    whole = torch.zeros(len(z), dtype=torch.float64)
    for items in numbers(len(z), ROWS, torch.device("cpu"), progress, "aggregate posterior"):
        whole[items] = log_aggregate(z[items], q)
    return sum_over_processes(whole.to(device)).cpu()
