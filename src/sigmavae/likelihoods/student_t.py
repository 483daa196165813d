"""Student-t: location, scale and degrees of freedom predicted for every element (Takahashi et al., 2018)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sigmavae.likelihoods.base import Likelihood
from sigmavae.likelihoods.bins import TOP
from sigmavae.likelihoods.door import Door
from sigmavae.likelihoods.location_scale import LocationScale
from sigmavae.likelihoods.soft_clip import Bounds, check_bounds, soft_clip
from sigmavae.likelihoods.special import FEW_TERMS, log_bin, student_t_log_cdf
from sigmavae.likelihoods.support import SupportName
from sigmavae.likelihoods.support import support as _support


class StudentT(LocationScale):
    r"""The Student-t: p(z) proportional to (1 + z^2 / df)^(-(df + 1) / 2)."""

    def __init__(self, loc: Tensor, scale: Tensor, df: Tensor, door: Door) -> None:
        super().__init__(loc, scale, door)
        self.df = df

    @property
    def variance(self) -> Tensor:
        """The variance scale^2 df / (df - 2), infinite for df <= 2."""
        return torch.where(self.df > 2, self.scale.square() * self.df / (self.df - 2), torch.inf)

    def _log_terms(self, x: Tensor) -> Tensor:
        if torch.compiler.is_compiling():  # a compiler cuts what is held by itself
            return super()._log_terms(x)
        terms: Tensor = _LogDensity.apply(x, self.loc, self.scale, self.df)  # type: ignore[no-untyped-call]
        return terms

    def standard_log_pdf(self, z: Tensor) -> Tensor:
        """Return ln of the standard Student-t density."""
        return _standard_log_pdf(z, self.df)

    def standard_cdf(self, z: Tensor) -> Tensor:
        """Return P(Z <= z), computed in float64: bins in a heavy tail are small differences of it."""
        return torch.exp(student_t_log_cdf(z.double(), self.df.double()).to(z.dtype))

    def standard_log_bin(self, a: Tensor, b: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Return ln P(a < Z < b) from float64 CDFs, open below where first and above where last."""
        df = self.df.double()
        return log_bin(lambda z: student_t_log_cdf(z, df), a.double(), b.double(), first, last).to(a.dtype)

    def _bin_cdf(self, k: Tensor) -> Tensor:
        # A probability, not the logarithm of a small mass: the precision of the features is enough, and about six
        # times as fast as all terms in float64.
        z = self.standardise((k + 0.5) / TOP)
        return torch.where(k == TOP, 1.0, torch.exp(student_t_log_cdf(z, self.df, FEW_TERMS)))

    def standard_sample(self, shape: torch.Size) -> Tensor:
        """Draw standard Student-t noise: a normal over the root of an independent chi-square over df."""
        normal = torch.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        half = (self.df / 2).expand(shape)
        return normal * torch.rsqrt(torch._standard_gamma(half) / half)


def _standard_log_pdf(z: Tensor, df: Tensor) -> Tensor:
    half = df / 2
    norm = torch.lgamma(half + 0.5) - torch.lgamma(half) - 0.5 * torch.log(math.pi * df)
    return norm - (half + 0.5) * torch.log1p(z * z / df)


class _LogDensity(Function):
    """ln p(x), which keeps its inputs and nothing of what it computes on the way."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, loc: Tensor, scale: Tensor, df: Tensor) -> Tensor:
        return _standard_log_pdf((x - loc) / scale, df) - torch.log(scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        x, loc, scale, df = ctx.saved_tensors
        z = (x - loc) / scale
        square = z * z / df
        pull = (1 + 1 / df) / (1 + square)  # -(d ln p / dz) / z
        to_loc = slope * pull * z / scale
        to_scale = slope * (pull * z * z - 1) / scale
        half = df / 2
        of_norm = torch.digamma(half + 0.5) - torch.digamma(half) - 1 / df
        to_df = 0.5 * slope * (of_norm - torch.log1p(square) + pull * square)
        to_x = (-to_loc).sum_to_size(x.shape) if ctx.needs_input_grad[0] else None
        return to_x, to_loc.sum_to_size(loc.shape), to_scale.sum_to_size(scale.shape), to_df.sum_to_size(df.shape)


class StudentTLikelihood(Likelihood):
    r"""Student-t with a location, a log-scale and log degrees of freedom from the decoder.

    The log-scale is softly clipped like a predicted sigma. The degrees of freedom are softly bounded to `df_bounds`:
    below 1 there is no mean, and far above 100 the difference of two lgamma loses so many digits in float32 that an
    unbounded head finds likelihood which is not there. At zero features they start at 2.
    """

    discrete = False

    def __init__(
        self,
        bounds: Bounds = (-6.0, 2.0),
        df_bounds: Bounds = (1.0, 100.0),
        support: SupportName = "unit",
    ) -> None:
        super().__init__(_support(support))
        if check_bounds("df_bounds", df_bounds)[0] < 1:
            raise ValueError(f"df_bounds={df_bounds}: the lower one is 1 or more, or the mean does not exist")
        self.bounds = check_bounds("bounds", bounds)
        self.log_df_bounds = (math.log(df_bounds[0]), math.log(df_bounds[1]))

    def features(self, channels: int) -> int:
        """Return three features a channel: location, log-scale, log degrees of freedom."""
        return 3 * channels

    def condition(self, h: Tensor, x: Tensor | None) -> StudentT:  # noqa: ARG002
        """Return the Student-t that the features describe."""
        loc, log_scale, log_df = h.chunk(3, dim=1)
        scale = torch.exp(soft_clip(log_scale, self.bounds))
        df = torch.exp(soft_clip(log_df, self.log_df_bounds))
        return StudentT(self.door.support.squash(loc), scale, df, self.door)
