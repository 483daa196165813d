"""Drawing categories from logits of any shape."""

from __future__ import annotations

import torch
from torch import Tensor


def draw_categories(logits: Tensor, dim: int) -> Tensor:
    """Return the index of a category along dim for every other element, by the Gumbel-max rule."""
    exponential = torch.empty_like(logits).exponential_()
    return (logits - exponential.log()).argmax(dim)
