"""Decoder likelihoods: from features to a distribution over data, behind one interface."""

from sigmavae.likelihoods.base import Likelihood, full_precision
from sigmavae.likelihoods.catalogue import CATALOGUE, likelihood
from sigmavae.likelihoods.conditional import Conditional

__all__ = ["CATALOGUE", "Conditional", "Likelihood", "full_precision", "likelihood"]
