"""A mixture of Gaussians with full covariances, grown as far as unseen samples ask for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

LARGEST = 32
FOLDS = 5
FITTED = 10_000
"""Samples a mixture is fitted to at most: what bounds the cost."""
STEPS, ENOUGH = 100, 1e-3
"""Steps of EM at most, and the gain in nats a sample below which it stops."""
MOVE, SPREAD = 0.8, 0.8
"""Halves of a component begin that many of its standard deviations from its mean, or its variance times 1 +- that."""


@dataclass(frozen=True)
class Mixture:
    """K Gaussians: log-weights (K,), means (K, d), and the Cholesky factors of their covariances (K, d, d)."""

    log_weight: Tensor
    mean: Tensor
    root: Tensor

    def log_joint(self, z: Tensor) -> Tensor:
        """Return ln w_k N(z; mean_k, covariance_k) of samples (M, d), (M, K)."""
        columns = []
        for log_weight, mean, root in zip(self.log_weight, self.mean, self.root, strict=True):
            whitened = torch.linalg.solve_triangular(root, (z - mean).T, upper=False)
            log_volume = root.diagonal().log().sum() + 0.5 * len(mean) * math.log(2 * math.pi)
            columns.append(log_weight - log_volume - 0.5 * whitened.square().sum(0))
        return torch.stack(columns, 1)

    def log_prob(self, z: Tensor) -> Tensor:
        """Return the log-density of samples (M, d), (M,)."""
        return self.log_joint(z).logsumexp(1)

    def split(self, z: Tensor) -> Mixture:
        """Return twice as many components, each halved along the axis on which its samples are least Gaussian.

        Of whitened samples y the eigenvectors of E[|y|^2 y y'] are axes in the order of their kurtosis, and every
        eigenvalue is d + 2 for a Gaussian (Cardoso, 1989). Flat or two-peaked samples are split by moving the mean
        either way, peaked or heavy-tailed ones by a narrow and a wide half; mean and covariance stay what they were.
        """
        shares = torch.softmax(self.log_joint(z), 1).T
        means, roots = [], []
        for share, mean, root in zip(shares, self.mean, self.root, strict=True):
            y = torch.linalg.solve_triangular(root, (z - mean).T, upper=False)
            fourth = (y * (share / share.sum() * y.square().sum(0))) @ y.T
            values, vectors = torch.linalg.eigh(fourth)
            excess = values - len(mean) - 2
            furthest = int(excess.abs().argmax())
            axis = root @ vectors[:, furthest]
            move, spread = (MOVE, (-(MOVE**2),) * 2) if excess[furthest] < 0 else (0.0, (SPREAD, -SPREAD))
            covariance = root @ root.T
            means += [mean + move * axis, mean - move * axis]
            roots += [torch.linalg.cholesky(covariance + change * axis.outer(axis)) for change in spread]
        log_weight = self.log_weight.repeat_interleave(2) - math.log(2)
        return Mixture(log_weight, torch.stack(means), torch.stack(roots))


def gaussian(z: Tensor) -> Mixture:
    """Return the Gaussian of the samples' mean and covariance."""
    return _maximise(z, torch.ones(len(z), 1, dtype=z.dtype))


def refine(mixture: Mixture, z: Tensor) -> Mixture:
    """Return the mixture after expectation maximisation on samples (Dempster et al., 1977)."""
    before = -math.inf
    for _ in range(STEPS):
        joint = mixture.log_joint(z)
        log_prob = joint.logsumexp(1)
        now = float(log_prob.mean())
        if now - before < ENOUGH:
            break
        before = now
        mixture = _maximise(z, torch.exp(joint - log_prob[:, None]))
    return mixture


def grow(z: Tensor, unseen: Tensor) -> Mixture:
    """Return the mixture fitted to z: of 1, 2, 4, ... components, as long as more are better on unseen samples."""
    best = gaussian(z)
    score = best.log_prob(unseen).mean()
    while len(best.mean) < LARGEST:
        larger = refine(best.split(z), z)
        reached = larger.log_prob(unseen).mean()
        if reached <= score:
            break
        best, score = larger, reached
    return best


def held_out_log_prob(z: Tensor) -> Tensor:
    """Return the log-density of every sample under a mixture that was neither fitted nor chosen on it."""
    found = torch.zeros(len(z), dtype=z.dtype)
    fold = torch.arange(len(z)) % FOLDS
    for held_out in range(FOLDS):
        chooser = (held_out + 1) % FOLDS
        fitted = z[(fold != held_out) & (fold != chooser)][:FITTED]
        mixture = grow(fitted, z[fold == chooser][:FITTED])
        found[fold == held_out] = mixture.log_prob(z[fold == held_out])
    return found


def _maximise(z: Tensor, weight: Tensor) -> Mixture:
    """Return the mixture that suits the samples' shares in its components (M, K) best.

    Each covariance is drawn to that of all samples as by d more of them, and that one to the identity as by one: a
    component of few samples, and a mixture of few, is never singular.
    """
    count, d = z.shape
    whole = torch.cov(z.T, correction=0).reshape(d, d)
    whole = (count * whole + torch.eye(d, dtype=z.dtype)) / (count + 1)
    means, roots = [], []
    for share in weight.T:
        mean = share @ z / share.sum()
        deviation = z - mean
        scatter = deviation.T @ (share[:, None] * deviation) + d * whole
        means.append(mean)
        roots.append(torch.linalg.cholesky(scatter / (share.sum() + d)))
    return Mixture(torch.log(weight.sum(0) / count), torch.stack(means), torch.stack(roots))
