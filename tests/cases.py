"""The likelihoods that every property test runs over: each of the catalogue, and options worth their own row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

import sigmavae
from sigmavae.likelihoods import CATALOGUE, Conditional, Likelihood
from sigmavae.likelihoods.normal import Normal

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("beta", {"beta": 0.01}),
    ("optimal-sigma", {"split": True}),
    ("optimal-sigma", {"source": "validation"}),
    ("block-sigma", {"block": 1}),
    ("block-sigma", {"block": 100}),
    ("logistic-mixture", {"components": 1}),
    ("student-t", {"df_bounds": (2.0, 30.0)}),
]


@dataclass(frozen=True)
class Case:
    """A likelihood by name and options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, dtype: torch.dtype = torch.float32) -> Likelihood:
        return sigmavae.likelihood(self.name, **self.options).to(dtype)

    def given(
        self,
        event: tuple[int, ...] = (3, 5, 4),
        batch: int = 4,
        dtype: torch.dtype = torch.float64,
        spread: float = 1.0,
        seed: int = 0,
    ) -> tuple[Likelihood, Tensor, Tensor]:
        """Return the likelihood, random features and 8-bit data of that shape."""
        generator = torch.Generator().manual_seed(seed)
        likelihood = self.make(dtype)
        features = likelihood.features(event[0])
        h = spread * torch.randn(batch, features, *event[1:], generator=generator, dtype=torch.float64)
        x = torch.randint(0, 256, (batch, *event), generator=generator) / 255.0
        return likelihood, h.to(dtype), x.to(dtype)

    def conditional(self) -> Conditional:
        """Return some distribution of the likelihood's."""
        likelihood, h, x = self.given()
        return likelihood(h, x)

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{k}={v}" for k, v in self.options.items())])


CASES = [Case(name) for name in CATALOGUE] + [Case(name, options) for name, options in VARIANTS]
DISCRETE = [case for case in CASES if case.make().discrete]
CONTINUOUS = [case for case in CASES if not case.make().discrete]
GAUSSIAN = [case for case in CONTINUOUS if isinstance(case.conditional(), Normal)]
REAL = [Case(case.name, {**case.options, "support": "real"}) for case in CONTINUOUS]


def over(cases: list[Case]) -> pytest.MarkDecorator:
    """Run a test over cases, each under its own name."""
    return pytest.mark.parametrize("case", cases, ids=str)


def grid(p: Conditional) -> Tensor:
    """Return the 256 values of 8-bit data as samples of p's shape: (256, B, C, *S)."""
    values = torch.arange(256, dtype=p.mean.dtype) / 255
    shape = p.batch_shape + p.event_shape
    return values.reshape(-1, *[1] * len(shape)).expand(256, *shape)
