"""Batches, each a function of seed and step alone, from the device's memory or read ahead from a map of the disk."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from sigmavae.data.splits import Composed, Images
from sigmavae.errors import DataError
from sigmavae.seeds import Stream, seed_for

AHEAD = 4  # batches that are read before they are asked for
RESIDENT_SHARE = 0.25  # of the device's memory: a larger set stays on disk

Take = Callable[[int], Tensor]
"""From a step to its data, 8-bit."""


class Batches:
    """Batch number `step` of an endless shuffled pass over the images.

    Each epoch is a new permutation; its last, incomplete batch is left out. With several processes each takes its
    own share of the same batch, so the data seen does not depend on how many there are. Shares are equal: of fewer
    images than a batch, those are left out of an epoch that cannot be shared out.

    Of videos, `clip` asks for so many frames in a row, from a start that is drawn anew every time. Videos that are
    composed never come twice: every epoch has its own.
    """

    def __init__(
        self,
        images: Images | Composed,
        batch: int,
        seed: int,
        device: torch.device,
        rank: int = 0,
        world: int = 1,
        stream: Stream = Stream.ORDER,
        clip: int | None = None,
    ) -> None:
        self.batch = min(batch, len(images)) // world * world
        if not self.batch:
            few = f"a split of {len(images)} cannot be shared out among {world} devices"
            raise DataError(f"{few}: name fewer with --devices")
        self.per_epoch = len(images) // self.batch
        self._place = (seed, stream)
        self._count = len(images)
        self._share = slice(rank * self.batch // world, (rank + 1) * self.batch // world)
        self._order = lru_cache(maxsize=2)(self._shuffled)  # two: reading ahead crosses from one epoch to the next
        resident = isinstance(images, np.ndarray) and fits(images, device)
        # Where images are gathered: an order that had to be sent after them would make every step wait for the device.
        self._gathered_on = device if resident else torch.device("cpu")
        self._new = 0 if isinstance(images, np.ndarray) else len(images)  # videos of an epoch that none before it had
        self.clip, self._frames = clip, images.shape[1] if clip else 1
        if clip and self._frames < clip:
            raise DataError(f"videos have {self._frames} frames, fewer than the {clip} of a clip")
        self._take: Take
        if not isinstance(images, np.ndarray):
            videos, length = images, clip or images.shape[1]
            self._take = Ahead(lambda step: videos.compose(self.index(step), self.starts(step), length), device).take
        else:
            rows = images.reshape(-1, *images.shape[2:]) if clip else images  # a view: frames, to take clips of
            self._take = Resident(rows, device, self.rows).take if resident else Mapped(rows, device, self.rows).take

    def __getitem__(self, step: int) -> Tensor:
        """Return this process's share of the batch as float32 in [0, 1]."""
        x = to_unit(self._take(step))
        return x.unflatten(0, (-1, self.clip)) if self.clip and x.dim() == 4 else x

    def index(self, step: int) -> Tensor:
        """Return which images are this process's share of the batch."""
        epoch, position = divmod(step, self.per_epoch)
        start = position * self.batch
        return self._order(epoch)[start : start + self.batch][self._share] + epoch * self._new

    def starts(self, step: int) -> Tensor:
        """Return the first frame of every clip in this process's share of the batch."""
        if not self.clip:
            return torch.zeros_like(self.index(step))
        generator = torch.Generator().manual_seed(seed_for(self._place[0], Stream.CLIPS, self._place[1], step))
        drawn = torch.randint(self._frames - self.clip + 1, (self.batch,), generator=generator)
        return drawn[self._share].to(self._gathered_on)

    def rows(self, step: int) -> Tensor:
        """Return which rows of the images are this process's share of the batch: frames, where clips are taken."""
        if not self.clip:
            return self.index(step)
        first = self.index(step) * self._frames + self.starts(step)
        return (first.unsqueeze(1) + torch.arange(self.clip, device=first.device)).flatten()

    def _shuffled(self, epoch: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed_for(*self._place, epoch))
        return torch.randperm(self._count, generator=generator).to(self._gathered_on)


class Resident:
    """All images in the device's memory, 8-bit, gathered there."""

    def __init__(self, images: Images, device: torch.device, rows: Callable[[int], Tensor]) -> None:
        self._images = as_tensor(images).to(device)
        self._rows = rows

    def take(self, step: int) -> Tensor:
        """Return the images of a step."""
        return self._images.index_select(0, self._rows(step))


class Ahead:
    """Batches that a thread makes on the CPU while the device computes."""

    def __init__(self, make: Take, device: torch.device) -> None:
        self._make, self._device = make, device
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._coming: dict[int, Future[Tensor]] = {}

    def take(self, step: int) -> Tensor:
        """Return the images of a step, and have those of the next ones read."""
        wanted = range(step, step + AHEAD + 1)
        self._coming = {
            each: self._coming.get(each) or self._thread.submit(self._gather, each) for each in wanted
        }  # what is no longer wanted, after a jump, is forgotten
        return self._coming.pop(step).result().to(self._device, non_blocking=True)

    def _gather(self, step: int) -> Tensor:
        images = self._make(step)
        return images.pin_memory() if self._device.type == "cuda" else images


class Mapped(Ahead):
    """Images on disk, mapped into memory."""

    def __init__(self, images: Images, device: torch.device, rows: Callable[[int], Tensor]) -> None:
        mapped = as_tensor(images)
        super().__init__(lambda step: mapped.index_select(0, rows(step)), device)


def fits(images: Images, device: torch.device) -> bool:
    """Whether images are few enough to be kept in the device's memory."""
    if device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory
    else:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return images.nbytes <= RESIDENT_SHARE * memory


def as_tensor(images: Images) -> Tensor:
    """Return an array as a tensor of the same memory, which is only ever read."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.from_numpy(images)


def to_unit(images: Tensor) -> Tensor:
    """Return 8-bit images as float32 in [0, 1], in the memory layout that convolutions are fastest in."""
    x = images.float().div_(255)
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x
