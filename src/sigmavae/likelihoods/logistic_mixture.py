r"""A mixture of K discretised logistics without autoregression over channels (Appendix D).

Salimans et al. (2017) share K mixture weights between the channels of a pixel and let each channel's mean depend on
the previous channels. The paper removes that dependence, so that colour has to go through the latent variable:

    P(x at one pixel) = sum_k w_k prod_c [F((x_c + 1/510 - mu_kc) / s_kc) - F((x_c - 1/510 - mu_kc) / s_kc)]
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.likelihoods.bins import TOP, bins, level, level_below
from sigmavae.likelihoods.draw import draw_categories
from sigmavae.likelihoods.logistic import Logistic
from sigmavae.likelihoods.soft_clip import Bounds, check_bounds
from sigmavae.likelihoods.support import UNIT
from sigmavae.likelihoods.tiles import Pixels, Pixelwise


class MixtureOfLogistics(Pixels):
    """K discretised logistics a pixel, their weights shared by the channels."""

    def __init__(self, likelihood: LogisticMixture, h: Tensor) -> None:
        super().__init__(likelihood, h, torch.Size([likelihood.channels(h), *h.shape[2:]]), likelihood.door)
        self.bounds = likelihood.bounds
        # weights: (B, K, *S); means and log_scales, of data in [-1, 1]: (B, K, C, *S)
        k, channels = likelihood.components, self.event_shape[0]
        self.weights, means, log_scales = h.split([k, k * channels, k * channels], dim=1)
        self.means, self.log_scales = (t.unflatten(1, (k, channels)) for t in (means, log_scales))

    @property
    def log_weights(self) -> Tensor:
        """The logarithms of the components' weights, (B, K, *S)."""
        return F.log_softmax(self.weights, dim=1)

    @property
    def components(self) -> Logistic:
        """The components, (B, K, C, *S)."""
        log_scale = self.log_scales.clamp(*self.bounds) - math.log(2)
        return Logistic((1 + self.means) / 2, torch.exp(log_scale), self.door)

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

    @property
    def _depth(self) -> int:
        """How many dimensions a component's event has, K included: the component dimension is -_depth."""
        return len(self.event_shape) + 1

    def _beside_components(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-len(self.event_shape) - 1)


class LogisticMixture(Pixelwise):
    """K discretised logistics a pixel.

    Means and log-scales are those of data in [-1, 1], as in Salimans et al. (2017), whose lower bound on the
    log-scale is kept; the upper bound, a thousand times the range, only keeps e^log-scale finite.
    """

    discrete = True

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
        return MixtureOfLogistics(self, h)

    def slope(self, h: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        """Return the gradient in closed form: each component's own, by its share in the pixel's mass."""
        p = self.condition(h, None)
        components, log_weights = p.components, p.log_weights
        at = bins(x.unsqueeze(1))
        inverse = 1 / components.scale
        a, b = (at.lower - components.loc) * inverse, (at.upper - components.loc) * inverse
        width = inverse / TOP
        grown = torch.expm1(width)
        masses = torch.where(at.first | at.last, 0.0, -torch.log1p(1 / grown))
        masses += torch.where(at.last, 0.0, F.logsigmoid(b))
        masses += torch.where(at.first, 0.0, F.logsigmoid(-a))
        shares = F.softmax(log_weights + masses.sum(2), dim=1).mul_(weight.reshape(-1, 1, 1))
        to_weights = shares - log_weights.exp().mul_(shares.sum(1, keepdim=True))

        # d ln(sigmoid(b) - sigmoid(a)) = sigmoid(-b) db - sigmoid(a) da + d(width) / (e^width - 1)
        by_width = (width / grown).masked_fill_(at.first | at.last, 0)
        by_b = torch.sigmoid(-b).masked_fill_(at.last, 0)
        by_a = torch.sigmoid(a).masked_fill_(at.first, 0)
        to_log_scale = by_a.mul(a).sub_(b.mul_(by_b)).sub_(by_width).mul_(shares.unsqueeze(2))
        low, high = self.bounds
        to_log_scale.masked_fill_((p.log_scales < low) | (p.log_scales > high), 0)
        to_means = by_a.sub_(by_b).mul_(inverse).mul_(0.5 * shares.unsqueeze(2))
        return torch.cat([to_weights, to_means.flatten(1, 2), to_log_scale.flatten(1, 2)], dim=1)
