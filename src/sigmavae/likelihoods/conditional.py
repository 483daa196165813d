"""What every likelihood returns: a distribution over the data given the decoder's features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints

from sigmavae.likelihoods.bins import TOP, level

if TYPE_CHECKING:
    from sigmavae.likelihoods.door import Door


class Conditional(Distribution, ABC):
    """A distribution over (C, *S) for each of B items, in nats, summed over the event.

    It is a `torch.distributions.Distribution` with batch shape (B,) and event shape (C, *S). A subclass gives terms
    that sum to the log-probability; this class sums them and looks at what comes in.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}  # parameters are made by a likelihood
    has_rsample = False

    scale: Tensor | None = None
    """The scale of location-scale families, broadcastable to the event; None where there is no such thing.

    A family with a scale has a `variance`, too.
    """

    rate: Tensor
    """Nats paid for latent variables of the decoder itself, (B,): zero but for `image-sigma`."""

    def __init__(self, parameters: Tensor, event: torch.Size, door: Door, rate: Tensor | None = None) -> None:
        batch = parameters.shape[:1]
        super().__init__(batch, event, validate_args=False)
        self.door = door
        self.rate = parameters.new_zeros(batch) if rate is None else rate

    @property
    def support(self) -> constraints.Constraint:
        """Where samples may lie: the unit interval for masses, the real line for densities, an event as a whole."""
        inner = constraints.unit_interval if self.door.discrete else constraints.real
        return constraints.independent(inner, len(self.event_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return ln p(x) in nats, summed over the event: a density, or a mass for discrete families."""
        return self._sum(self._log_terms(self._enter(value)), value)

    def bin_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-mass in nats of the 8-bit values nearest to x, summed over the event."""
        return self._sum(self._bin_log_terms(self._enter(value)), value)

    @torch.no_grad()
    def frame_log_prob(self, value: Tensor) -> Tensor:
        """Return ln p(x) of every frame of videos (B, C, T, H, W), (B, T); they sum to `log_prob`. A constant."""
        return _sum_frames(self._log_terms(self._enter(value)))

    @torch.no_grad()
    def frame_bin_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-mass of the 8-bit values of every frame of videos, (B, T), which sum to `bin_log_prob`."""
        return _sum_frames(self._bin_log_terms(self._enter(value)))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw data of shape (*sample_shape, B, C, *S)."""
        with torch.no_grad():
            return self._draw(torch.Size(sample_shape))

    def cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element of (*sample, B, C, *S)."""
        self.door.shapes(value, self.batch_shape, self.event_shape)
        return self._cdf(_lift(value))

    def bin_cdf(self, value: Tensor) -> Tensor:
        """Return P(K <= k) for the 8-bit values k nearest to x: sums of the masses of `bin_log_prob`, elementwise."""
        self.door.shapes(value, self.batch_shape, self.event_shape)
        return self._bin_cdf(level(_lift(value)))

    @property
    @abstractmethod
    def mean(self) -> Tensor:
        """The expected data, (B, C, *S)."""

    @abstractmethod
    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element."""

    @abstractmethod
    def _draw(self, lead: torch.Size) -> Tensor:
        """Draw data with leading sample dimensions."""

    @abstractmethod
    def _log_terms(self, x: Tensor) -> Tensor:
        """Return terms (*sample, B, ...) that sum to `log_prob`."""

    @abstractmethod
    def _bin_log_terms(self, x: Tensor) -> Tensor:
        """Return terms (*sample, B, ...) that sum to `bin_log_prob`."""

    def _bin_cdf(self, k: Tensor) -> Tensor:
        """Return P(K <= k): the CDF at the upper edge of k's bin, where that of a mass is what it is at k itself."""
        return torch.where(k == TOP, 1.0, self._cdf((k + 0.5) / TOP))

    def _enter(self, value: Tensor) -> Tensor:
        self.door.shapes(value, self.batch_shape, self.event_shape)
        self.door.values(value, drawn=not self.door.discrete)
        return _lift(value)

    def _sum(self, terms: Tensor, value: Tensor) -> Tensor:
        leading = value.dim() - len(self.event_shape)
        return terms.flatten(leading).sum(-1) if terms.dim() > leading else terms


def _sum_frames(terms: Tensor) -> Tensor:
    # Terms (B, T, H, W), or (B, C, T, H, W): families that tie channels together have one for all of them.
    return terms.movedim(-3, 1).flatten(2).sum(2)


def _lift(value: Tensor) -> Tensor:
    # Half-precision data is lifted to the float32 that the parameters are in; doubles stay doubles.
    return value if value.dtype == torch.float64 else value.float()
