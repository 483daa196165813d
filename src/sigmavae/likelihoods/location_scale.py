"""Distributions x = loc + scale * Z, element by element, with Z symmetric about zero."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from sigmavae.likelihoods.bins import bins
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.door import Door


class LocationScale(Conditional):
    """x = loc + scale * Z with Z from a standard distribution symmetric about zero."""

    has_rsample = True
    scale: Tensor

    def __init__(self, loc: Tensor, scale: Tensor, door: Door, rate: Tensor | None = None) -> None:
        super().__init__(loc, loc.shape[1:], door, rate)
        self.loc = loc
        self.scale = scale

    @property
    def mean(self) -> Tensor:
        """The location, which symmetry makes the mean."""
        return self.loc

    def _cdf(self, value: Tensor) -> Tensor:
        """Return P(X <= x) for every element."""
        return self.standard_cdf(self.standardise(value))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw differentiable samples of shape (*sample_shape, B, C, *S)."""
        return self._draw(torch.Size(sample_shape))

    def _draw(self, lead: torch.Size) -> Tensor:
        return self.loc + self.scale * self.standard_sample(self._extended_shape(lead))

    def standardise(self, value: Tensor) -> Tensor:
        """Return z = (x - loc) / scale."""
        return (value - self.loc) / self.scale

    def _log_terms(self, x: Tensor) -> Tensor:
        return self.standard_log_pdf(self.standardise(x)) - torch.log(self.scale)

    def _bin_log_terms(self, x: Tensor) -> Tensor:
        edges = bins(x)
        a, b = self.standardise(edges.lower), self.standardise(edges.upper)
        return self.standard_log_bin(a, b, edges.first, edges.last)

    @abstractmethod
    def standard_log_pdf(self, z: Tensor) -> Tensor:
        """Return ln of Z's density."""

    @abstractmethod
    def standard_cdf(self, z: Tensor) -> Tensor:
        """Return P(Z <= z), exact in the lower tail; by symmetry P(Z > z) is this at -z."""

    @abstractmethod
    def standard_log_bin(self, a: Tensor, b: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Return ln P(a < Z < b), with bins marked first open below and bins marked last open above."""

    @abstractmethod
    def standard_sample(self, shape: torch.Size) -> Tensor:
        """Draw Z of a shape that ends in the batch and event shapes."""
