"""Batches of a set that fits the device's memory: 8-bit there, shuffled by index there."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.seeds import Stream, seed_for


class Batches:
    """Batch number `step` of an endless shuffled pass over the images, a function of (seed, step) alone.

    Each epoch is a new permutation; its last, incomplete batch is left out. With several processes each takes its
    own share of the same batch, so the data seen does not depend on how many there are.
    """

    def __init__(
        self,
        images: Images,
        batch: int,
        seed: int,
        device: torch.device,
        rank: int = 0,
        world: int = 1,
        stream: Stream = Stream.ORDER,
    ) -> None:
        # A read-only array is copied here, once; on the CPU torch would otherwise share its memory.
        self.images = torch.tensor(images, device=device)
        self.batch = min(batch, len(images))
        self.per_epoch = len(images) // self.batch
        self._seed = seed
        self._stream = stream
        self._share = slice(rank * self.batch // world, (rank + 1) * self.batch // world)
        self._epoch = -1
        self._order = torch.empty(0, dtype=torch.long)

    def __getitem__(self, step: int) -> Tensor:
        """Return this process's share of the batch as float32 in [0, 1]."""
        epoch, position = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            generator = torch.Generator().manual_seed(seed_for(self._seed, self._stream, epoch))
            order = torch.randperm(len(self.images), generator=generator)
            self._order = order.to(self.images.device)
            self._epoch = epoch
        start = position * self.batch
        index = self._order[start : start + self.batch][self._share]
        return to_unit(self.images[index])


def to_unit(images: Tensor) -> Tensor:
    """Return 8-bit images as float32 in [0, 1], in the memory layout that convolutions are fastest in."""
    x = images.float().div_(255)
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x
