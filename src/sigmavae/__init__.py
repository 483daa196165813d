"""Variational autoencoders with calibrated decoders."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sigmavae.likelihoods import Conditional, FusedHead, Likelihood, likelihood
    from sigmavae.models import HVAE, SVG, ConvVAE, Elbo, LatentModel

__all__ = ["HVAE", "SVG", "Conditional", "ConvVAE", "Elbo", "FusedHead", "LatentModel", "Likelihood", "likelihood"]
__version__ = "0.1.0"

_HOMES = {
    "SVG": "sigmavae.models",
    "Conditional": "sigmavae.likelihoods",
    "FusedHead": "sigmavae.likelihoods",
    "Likelihood": "sigmavae.likelihoods",
    "likelihood": "sigmavae.likelihoods",
    "ConvVAE": "sigmavae.models",
    "HVAE": "sigmavae.models",
    "Elbo": "sigmavae.models",
    "LatentModel": "sigmavae.models",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: the program's help, its errors and the report do not wait for torch.
    if name not in _HOMES:
        raise AttributeError(f"module 'sigmavae' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
