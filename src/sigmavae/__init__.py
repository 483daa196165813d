"""Variational autoencoders with calibrated decoders."""

from sigmavae.likelihoods import Conditional, Likelihood, likelihood

__all__ = ["Conditional", "Likelihood", "likelihood"]
__version__ = "0.1.0"
