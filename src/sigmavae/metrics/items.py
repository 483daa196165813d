"""One pass over a set of items: the same numbers for any batch size and any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, distributed

from sigmavae.data import to_unit
from sigmavae.data.splits import Images
from sigmavae.likelihoods.running import process_rank, sum_over_processes
from sigmavae.progress import Progress, Silent

BATCH = 250
"""Items at a time; a matter of memory and speed alone."""

Measure = Callable[[Tensor, Tensor], Mapping[str, Tensor]]
"""From the numbers of some items (B,) and the items themselves in [0, 1] to columns, each (B, ...)."""


def numbers(count: int, batch: int, device: torch.device) -> Iterator[Tensor]:
    """Yield the numbers of all items, a batch at a time: of several processes each gets its own."""
    world = distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1
    mine = torch.arange(process_rank(), count, world)
    for part in mine.split(batch):
        yield part.to(device)


def batches(images: Images, batch: int, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the numbers of all items and the items in [0, 1], as `numbers` does."""
    for items in numbers(len(images), batch, device):
        yield items, to_unit(torch.tensor(images[items.cpu().numpy()], device=device))


@torch.no_grad()
def columns(
    images: Images,
    device: torch.device,
    measure: Measure,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
    name: str = "",
) -> dict[str, Tensor]:
    """Return what `measure` says of every item, (N, ...) in float64 on the CPU, the items in order."""
    progress = progress or Silent()
    progress.begin(name, len(images), 0)
    table: dict[str, Tensor] = {}
    done = 0
    for items, x in batches(images, batch, device):
        for column, values in measure(items, x).items():
            rows = values.detach().cpu().double()
            whole = table.setdefault(column, torch.zeros(len(images), *rows.shape[1:], dtype=torch.float64))
            whole[items.cpu()] = rows
        done = min(len(images), done + batch)
        progress.advance(done, {})
    # Every row was filled by one process and is zero on the others, so sums are exact.
    return {column: sum_over_processes(whole.to(device)).cpu() for column, whole in table.items()}


def mean_and_error(name: str, values: Tensor, per: float = 1.0) -> Iterator[tuple[str, float]]:
    """Yield the mean of a column and its standard error over the items, both divided by `per`."""
    yield name, float(values.mean()) / per
    if len(values) > 1:
        yield f"{name}_stderr", float(values.std()) / len(values) ** 0.5 / per
