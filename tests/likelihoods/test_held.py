"""What a likelihood keeps between forward and backward is little beside what it is given."""

import gc
import weakref

import pytest
import torch
from torch import Tensor

from tests.cases import CASES, Case, over

MOST = 1.3  # times the bytes of features and data together


class Kept:
    """A tensor as the graph keeps it: gone as soon as the graph lets go of it."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


def held(case: Case, event: tuple[int, ...]) -> float:
    """Return the bytes of every storage that is kept for backward and is no input, over those of the inputs."""
    likelihood, h, x = case.given(event=event, dtype=torch.float32)
    likelihood(h, x)
    h.requires_grad_()
    kept: weakref.WeakSet[Kept] = weakref.WeakSet()

    def keep(tensor: Tensor) -> Kept:
        kept.add(one := Kept(tensor))
        return one

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one.tensor):
        score = likelihood(h, x).log_prob(x)
    assert score.requires_grad
    gc.collect()
    storages = {s.data_ptr(): s.nbytes() for s in (one.tensor.untyped_storage() for one in kept)}
    for given in (h, x):
        storages.pop(given.untyped_storage().data_ptr(), None)
    return sum(storages.values()) / (h.nbytes + x.nbytes)


@pytest.mark.parametrize("event", [(1, 16, 16), (3, 16, 16), (3, 200)], ids=str)
@over(CASES)
def test_holds_little_more_than_its_inputs(case: Case, event: tuple[int, ...]):
    assert held(case, event) <= MOST


@pytest.mark.parametrize("name", ["categorical", "bitwise", "logistic-mixture"])
def test_many_features_leave_nothing_behind(name: str):
    assert held(Case(name), (3, 16, 16)) < 0.01
