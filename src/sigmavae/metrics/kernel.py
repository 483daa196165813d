"""The kernel distance of two sets of features (Binkowski et al., 2018; "KID" over Inception features)."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.progress import Progress, Silent

ROWS = 1000  # of a matrix of kernel values, in memory at once
LEAST = 3  # features that a set must have: an estimate without one of them has to exist


def kernel_distance(x: Tensor, y: Tensor, progress: Progress | None = None) -> tuple[float, float]:
    """Return the unbiased squared maximum mean discrepancy of features (M, D) and (N, D), and its standard error.

    MMD^2 = mean over i != j of k(x_i, x_j) + mean over i != j of k(y_i, y_j) - 2 mean over i, j of k(x_i, y_j),
    k(a, b) = (a . b / D + 1)^3 (Gretton et al., 2012, eq. 3). Its expectation does not depend on M and N and is
    zero for equal distributions, so that it can be negative. Usually the mean over random subsets of 1,000 is reported;
    this has the same expectation, but uses every pair once: nothing is drawn, and it scatters less.

    The standard error is the jackknife's, over both sets: the estimate is made again without each item in turn. Its
    square is never too small on average (Efron and Stein, 1981); for equal distributions it is about twice too large.
    """
    m, n = len(x), len(y)
    if min(m, n) < LEAST:
        raise ValueError(f"kernel_distance needs {LEAST} features or more in each set, not {m} and {n}")
    x, y = x.detach().cpu(), y.detach().cpu()
    progress = progress or Silent()
    pieces = [len(a.split(ROWS)) * len(b.split(ROWS)) for a, b in ((x, x), (y, y), (x, y))]
    progress.begin("kernel distance", sum(pieces), 0)
    xx, _ = _sums(x, x, progress, 0)
    yy, _ = _sums(y, y, progress, pieces[0])
    xy, yx = _sums(x, y, progress, pieces[0] + pieces[1])
    xx, yy = xx - _own(x), yy - _own(y)
    within_x, within_y = xx.sum() / (m * (m - 1)), yy.sum() / (n * (n - 1))
    between = xy.sum() / (m * n)
    without_x = (xx.sum() - 2 * xx) / ((m - 1) * (m - 2)) + within_y - 2 * (xy.sum() - xy) / ((m - 1) * n)
    without_y = within_x + (yy.sum() - 2 * yy) / ((n - 1) * (n - 2)) - 2 * (yx.sum() - yx) / ((n - 1) * m)
    variance = without_x.var(correction=0) * (m - 1) + without_y.var(correction=0) * (n - 1)
    return float(within_x + within_y - 2 * between), float(variance.sqrt())


def _sums(x: Tensor, y: Tensor, progress: Progress, done: int) -> tuple[Tensor, Tensor]:
    """Return the sums over all y of each x's kernel values, and over all x of each y's, in float64."""
    of_x, of_y = (torch.zeros(len(z), dtype=torch.float64) for z in (x, y))
    for i in range(0, len(x), ROWS):
        rows = x[i : i + ROWS].double()
        for j in range(0, len(y), ROWS):
            values = _kernel(rows @ y[j : j + ROWS].double().T, x.shape[1])
            of_x[i : i + ROWS] += values.sum(1)
            of_y[j : j + ROWS] += values.sum(0)
            done += 1
            progress.advance(done, {})
    return of_x, of_y


def _own(x: Tensor) -> Tensor:
    """Return the kernel value of each x with itself."""
    return _kernel(x.double().square().sum(1), x.shape[1])


def _kernel(products: Tensor, width: int) -> Tensor:
    return (products / width + 1) ** 3
