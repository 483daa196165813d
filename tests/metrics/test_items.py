"""A pass over items: in pieces that fit into memory, and with a progress that arrives."""

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, distributed

from sigmavae.errors import MetricError
from sigmavae.likelihoods import likelihood
from sigmavae.metrics import items
from sigmavae.metrics.items import columns, numbers
from tests.metrics.models import SHAPE, Constant, Heard, random_images


def test_a_decoder_with_many_features_sees_fewer_items_at_once(monkeypatch: pytest.MonkeyPatch):
    each = 256 * 4 * 5
    monkeypatch.setattr(items, "FEATURES", 3 * each + 1)
    seen = []

    def measure(numbered: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        seen.append(len(x))
        return {"number": numbered}

    def sizes(name: str, batch: int) -> list[int]:
        seen.clear()
        table = columns(random_images(10, SHAPE), Constant(likelihood(name)), measure, batch=batch)
        assert table["number"].tolist() == list(range(10))
        return list(seen)

    assert sizes("categorical", batch=8) == [3, 3, 3, 1]
    assert sizes("categorical", batch=2) == [2] * 5
    assert sizes("gaussian", batch=8) == [8, 2]


@pytest.mark.parametrize(("world", "count"), [(1, 10), (2, 10), (3, 10), (4, 9)])
def test_progress_arrives_at_the_end_in_the_first_of_several_processes(
    monkeypatch: pytest.MonkeyPatch, world: int, count: int
):
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: world)
    monkeypatch.setattr(items, "process_rank", lambda: 0)
    heard = Heard()
    list(numbers(count, 2, torch.device("cpu"), heard))
    assert heard.said == sorted(set(heard.said))
    assert heard.said[-1] == count


def test_fewer_items_than_processes_are_refused_by_all_of_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 4)
    for rank in range(4):
        monkeypatch.setattr(distributed, "get_rank", lambda rank=rank: rank)
        with pytest.raises(MetricError, match="3 images cannot be shared out among 4 devices: name fewer"):
            next(numbers(3, 2, torch.device("cpu")))
