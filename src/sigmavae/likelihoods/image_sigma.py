r"""One optimal sigma for every image, and the bound that makes its test scores honest (section 4 and Appendix C).

The sigma of image x is its own root mean squared error, sigma*(x). Choosing it by looking at x is an inference
of a latent variable, and must be paid for:

    ln p(x | z) >= E_q(s | x)[ln N(x; mu, s^2 I)] - KL(q(s | x) || p(s))   (Appendix C, equation "varvar")

Here the hyperprior p(ln s) = N(m, tau^2) is fitted to training images' optima, and q(ln s | x) is a normal of
variance w = 1 / (2 D + 1 / tau^2) - the width that maximises the bound, 2 D being the Fisher information of ln s in
D values - centred on ln sigma*(x) + w, the maximum of the first term. Then exactly

    E_q[ln N(x; mu, s^2 I)] = ln N(x; mu, sigma*^2 I) - D w,

so `log_prob` stays a density, that of N(mu, sigma*^2), and all that sigma costs is `rate` = D w + KL(q || p). The
identity is exact for the density alone: for the masses of 8-bit data `bin_log_prob` - `rate` approximates the bound.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import torch
from torch import Tensor

from sigmavae.likelihoods.base import Likelihood, full_precision
from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.optimal_sigma import SMALLEST_VARIANCE
from sigmavae.likelihoods.running import RunningMean, sum_over_processes
from sigmavae.likelihoods.support import SupportName
from sigmavae.likelihoods.support import support as _support

_SMALLEST_TAU2 = 1e-6  # a hyperprior fitted to equal images keeps a width, so that its KL stays finite


class ImageSigma(Likelihood):
    """A Gaussian with each image's own optimal sigma, whose price in nats is `p.rate`.

    Without an image to look at (sampling), sigma is the hyperprior's median. `decay` is that of the running averages
    which fit the hyperprior in training. sigma and its price are constants to autograd: the paper's greedy choice.
    """

    discrete = False

    def __init__(self, decay: float = 0.9, support: SupportName = "unit") -> None:
        super().__init__(_support(support))
        self.running = RunningMean([0.0, 1.0], decay)  # means of ln sigma* and of its square

    @property
    def sigma(self) -> Tensor:
        """The hyperprior's median sigma."""
        return self.running.value[0].exp()

    def features(self, channels: int) -> int:
        """Return one feature a channel: the mean."""
        return channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:
        """Return N(mean, sigma*(x)^2), one sigma an image."""
        loc = self.door.support.squash(h)
        if x is None:
            return Normal(loc, self.sigma.to(h.dtype), self.door)
        log_sigma = _log_optimum(loc.detach(), x)
        if self.training:
            self._fit(log_sigma)
        scale = log_sigma.exp().reshape(-1, *[1] * (x.dim() - 1))
        return Normal(loc, scale, self.door, rate=self.price(log_sigma, x.shape[1:].numel()))

    def learn(self, h: Tensor, x: Tensor) -> None:
        """Fit the hyperprior."""
        self._fit(_log_optimum(self.door.support.squash(h), x))

    @torch.no_grad()
    def refit(self, pairs: Iterable[tuple[Tensor, Tensor]]) -> ImageSigma:
        """Return this likelihood with the hyperprior fitted to the images of all pairs (h, x) at once."""
        squash = self.door.support.squash
        optima = [_log_optimum(squash(h), x.to(h.dtype)) for h, x in ((full_precision(h), x) for h, x in pairs)]
        if not optima:
            raise ValueError("refit needs at least one batch (h, x)")
        fitted = copy.deepcopy(self).eval()
        fitted.running.value.copy_(_moments(torch.cat(optima).double()))
        return fitted

    def price(self, log_sigma: Tensor, dimensions: int) -> Tensor:
        """Return D w + KL(q(ln s | x) || p(ln s)) in nats for each image's ln sigma*."""
        mean, square = self.running.value.to(log_sigma.dtype)
        tau2 = (square - mean**2).clamp(min=_SMALLEST_TAU2)
        width = 1 / (2 * dimensions + 1 / tau2)
        offset = log_sigma + width - mean
        kl = 0.5 * (torch.log(tau2 / width) + (width + offset**2) / tau2 - 1)
        price: Tensor = dimensions * width + kl
        return price

    def _fit(self, log_sigma: Tensor) -> None:
        self.running.update(_moments(log_sigma))


def _moments(log_sigma: Tensor) -> Tensor:
    """Return (2,): the means of ln sigma* and of its square, over all processes."""
    totals = torch.stack([log_sigma.sum(), log_sigma.square().sum(), torch.ones_like(log_sigma).sum()])
    totals = sum_over_processes(totals)
    return totals[:2] / totals[2]


def _log_optimum(loc: Tensor, x: Tensor) -> Tensor:
    mean_square = (x - loc).square().flatten(1).mean(1)
    return 0.5 * torch.log(mean_square.clamp(min=SMALLEST_VARIANCE))
