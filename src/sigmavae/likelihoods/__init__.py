"""Decoder likelihoods: from features to a distribution over data, behind one interface."""

from sigmavae.likelihoods.base import Likelihood, full_precision
from sigmavae.likelihoods.catalogue import CATALOGUE, SHORT_NAMES, likelihood
from sigmavae.likelihoods.conditional import Conditional
from sigmavae.likelihoods.head import FusedHead

__all__ = ["CATALOGUE", "SHORT_NAMES", "Conditional", "FusedHead", "Likelihood", "full_precision", "likelihood"]
