"""Data: files to 8-bit arrays, and arrays to batches."""

from sigmavae.data.batches import Batches, to_unit
from sigmavae.data.catalogue import load
from sigmavae.data.splits import Splits

__all__ = ["Batches", "Splits", "load", "to_unit"]
