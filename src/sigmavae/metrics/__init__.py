"""Metrics: each a generator of (name, value) over a model and images."""

from sigmavae.metrics.bound import bound

__all__ = ["bound"]
