"""One pass over a set of items: the same numbers for any batch size and any number of processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, distributed

from sigmavae.data import to_unit
from sigmavae.data.splits import Images
from sigmavae.errors import MetricError
from sigmavae.likelihoods.running import process_rank, sum_over_processes
from sigmavae.models import LatentModel
from sigmavae.progress import Progress, Silent

BATCH = 250
"""Items at a time, unless decoder features ask for fewer; a matter of memory and speed alone."""
FEATURES = 1 << 24
"""Decoder features at a time, 64 MiB in float32: the 256 of each value of a categorical decoder are many."""

Measure = Callable[[Tensor, Tensor], Mapping[str, Tensor]]
"""From the numbers of some items (B,) and the items themselves in [0, 1] to columns, each (B, ...)."""


def numbers(
    count: int, batch: int, device: torch.device, progress: Progress | None = None, name: str = ""
) -> Iterator[Tensor]:
    """Yield the numbers of all items, a batch at a time: of several processes each gets its own."""
    world = distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1
    if count < world:  # one without any would never meet the others where they sum
        raise MetricError(f"{count} images cannot be shared out among {world} devices: name fewer with --devices")
    mine = torch.arange(process_rank(), count, world)
    progress = progress or Silent()
    progress.begin(name, count, 0)
    for part in mine.split(batch):
        yield part.to(device)
        progress.advance(min(count, int(part[-1]) + world), {})  # the others are about as far


def batches(
    images: Images, batch: int, device: torch.device, progress: Progress | None = None, name: str = ""
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the numbers of all items and the items in [0, 1], as `numbers` does."""
    for items in numbers(len(images), batch, device, progress, name):
        yield items, to_unit(torch.tensor(images[items.cpu().numpy()], device=device))


def fitting(model: LatentModel, batch: int) -> int:
    """Return how many items of a batch to decode at once, so that FEATURES are not exceeded."""
    channels, *grid = described(model, model.shape)
    each = max(model.likelihood.features(channels), model.widest) * math.prod(grid)
    return max(1, min(batch, FEATURES // each))


def described(model: LatentModel, shape: Sequence[int]) -> torch.Size:
    """Return the shape of what the likelihood describes of an item: all of an image, a video's predicted frames."""
    return model.target(torch.empty(1, *shape, device="meta")).shape[1:]


@torch.no_grad()
def columns(
    images: Images,
    model: LatentModel,
    measure: Measure,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
    name: str = "",
) -> dict[str, Tensor]:
    """Return what `measure` says of every item, (N, ...) in float64 on the CPU, the items in order."""
    table: dict[str, Tensor] = {}
    for items, x in batches(images, fitting(model, batch), model.device, progress, name):
        for column, values in measure(items, x).items():
            rows = values.detach().cpu().double()
            whole = table.setdefault(column, torch.zeros(len(images), *rows.shape[1:], dtype=torch.float64))
            whole[items.cpu()] = rows
    # Every row was filled by one process and is zero on the others, so sums are exact.
    return {column: sum_over_processes(whole.to(model.device)).cpu() for column, whole in table.items()}


def mean_and_error(name: str, values: Tensor, per: float = 1.0) -> Iterator[tuple[str, float]]:
    """Yield the mean of a column and its standard error over the items, both divided by `per`."""
    yield name, float(values.mean()) / per
    if len(values) > 1:
        yield f"{name}_stderr", float(values.std()) / len(values) ** 0.5 / per
