"""Metrics: each a generator of (name, value) over a model and images."""

from sigmavae.metrics.bound import bound
from sigmavae.metrics.calibration import calibration
from sigmavae.metrics.frechet import frechet
from sigmavae.metrics.importance import importance
from sigmavae.metrics.information import information
from sigmavae.metrics.sigma import sigma

__all__ = ["bound", "calibration", "frechet", "importance", "information", "sigma"]
