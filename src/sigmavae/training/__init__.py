"""Training: the loop, its checkpoints and its journal."""

from sigmavae.training.fit import fit

__all__ = ["fit"]
