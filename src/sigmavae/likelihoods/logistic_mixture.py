r"""A mixture of K discretised logistics without autoregression over channels (Appendix D).

Salimans et al. (2017) share K mixture weights between the channels of a pixel and let each channel's mean depend on
the previous channels. The paper removes that dependence, so that colour has to go through the latent variable:

    P(x at one pixel) = sum_k w_k prod_c [F((x_c + 1/510 - mu_kc) / s_kc) - F((x_c - 1/510 - mu_kc) / s_kc)]
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.base import Likelihood
from sigmavae.likelihoods.bins import TOP, level, level_below
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door
from sigmavae.likelihoods.draw import draw_categories
from sigmavae.likelihoods.logistic import Logistic
from sigmavae.likelihoods.soft_clip import Bounds, check_bounds
from sigmavae.likelihoods.support import UNIT


class MixtureOfLogistics(Conditional):
    """K discretised logistics a pixel, their weights shared by the channels."""

    def __init__(self, log_weights: Tensor, components: Logistic, door: Door) -> None:
        # components: (B, K, C, *S); log_weights: (B, K, *S)
        super().__init__(log_weights, components.loc.shape[2:], door)
        self.log_weights = log_weights
        self.components = components

    @property
    def mean(self) -> Tensor:
        """The mixture of the clipped components' means, exact to within half a grey level."""
        return (self.log_weights.exp().unsqueeze(2) * self.components.clipped_mean()).sum(1)

    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw a component for every pixel, then its channels, as 8-bit values over 255."""
        k = draw_categories(self.log_weights.expand(lead + self.log_weights.shape), len(lead) + 1)
        index = k.unsqueeze(len(lead) + 1).unsqueeze(len(lead) + 1)
        every = self.components.sample(lead)
        index = index.expand(*every.shape[: len(lead) + 1], 1, *every.shape[len(lead) + 2 :])
        return level(every.gather(len(lead) + 1, index).squeeze(len(lead) + 1)) / TOP

    def _cdf(self, value: Tensor) -> Tensor:
        """Return each channel's marginal P(X <= x)."""
        k = level_below(value)
        edge = self._beside_components((k + 0.5) / TOP)
        inside = (self.log_weights.exp().unsqueeze(2) * self.components._cdf(edge)).sum(-self._depth)
        return torch.where(k >= TOP, 1.0, torch.where(k < 0, 0.0, inside))

    def _log_terms(self, x: Tensor) -> Tensor:
        masses = self.components._bin_log_terms(self._beside_components(x))
        return torch.logsumexp(self.log_weights + masses.sum(1 - self._depth), dim=1 - self._depth)

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        return self._log_terms(x)

    @property
    def _depth(self) -> int:
        """How many dimensions a component's event has, K included: the component dimension is -_depth."""
        return len(self.event_shape) + 1

    def _beside_components(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-len(self.event_shape) - 1)


class LogisticMixture(Likelihood):
    """K discretised logistics a pixel.

    Means and log-scales are those of data in [-1, 1], as in Salimans et al. (2017), whose lower bound on the
    log-scale is kept; the upper bound, a thousand times the range, only keeps e^log-scale finite.
    """

    discrete: ClassVar[bool] = True

    def __init__(self, components: int = 10, bounds: Bounds = (-7.0, 7.0)) -> None:
        super().__init__(UNIT)
        if components < 1:
            raise ValueError(f"components={components}: a mixture has at least one")
        self.components = components
        self.bounds = check_bounds("bounds", bounds)

    def features(self, channels: int) -> int:
        """Return K (1 + 2 C) features: weights, then means, then log-scales."""
        return self.components * (1 + 2 * channels)

    def condition(self, h: Tensor, x: Tensor | None) -> MixtureOfLogistics:  # noqa: ARG002
        """Return the mixture that the features describe."""
        k, channels = self.components, self.channels(h)
        weights, means, log_scales = h.split([k, k * channels, k * channels], dim=1)
        loc = (1 + means.unflatten(1, (k, channels))) / 2
        log_scale = log_scales.unflatten(1, (k, channels)).clamp(*self.bounds) - math.log(2)
        return MixtureOfLogistics(
            F.log_softmax(weights, dim=1), Logistic(loc, torch.exp(log_scale), self.door), self.door
        )
