"""What a likelihood keeps between forward and backward is little beside what it is given."""

import gc
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.cases import CASES, Case, over

MOST = 1.3  # times the bytes of features and data together


class Kept:
    """A tensor as the graph keeps it: gone as soon as the graph lets go of it."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


def held(case: Case, event: tuple[int, ...], lay: Callable[[Tensor], Tensor] = lambda h: h) -> float:
    """Return the bytes of every storage that is kept for backward and is no input, over those of the inputs."""
    likelihood, h, x = case.given(event=event, dtype=torch.float32)
    h = lay(h)
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


def cropped(h: Tensor) -> Tensor:
    """Return the same maps as the corner of larger ones, which are no sequence of pixels."""
    return torch.nn.functional.pad(h, (0, 2, 0, 3)).contiguous(memory_format=torch.channels_last)[..., :-3, :-2]


@pytest.mark.parametrize("name", ["categorical", "bitwise", "logistic-mixture"])
def test_maps_that_cannot_be_flattened_in_place_are_not_held_twice(name: str):
    assert held(Case(name), (3, 16, 16), cropped) < 0.01


@pytest.mark.parametrize("name", ["categorical", "bitwise", "logistic-mixture"])
def test_the_gradient_of_such_maps_is_that_of_others(name: str):
    likelihood, h, x = Case(name).given(event=(3, 4, 5))
    results = []
    for maps in (h.clone(), cropped(h), h.transpose(2, 3).contiguous().transpose(2, 3)):
        maps.requires_grad_()
        results.append(torch.autograd.grad(likelihood(maps, x).log_prob(x).sum(), maps)[0])
    torch.testing.assert_close(results[1], results[0])
    torch.testing.assert_close(results[2], results[0])
