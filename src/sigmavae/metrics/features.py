"""Features of sets of images: what distances between sets are measured on, and those of real images kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sigmavae.data.cache import cache_folder
from sigmavae.data.splits import Images, chosen
from sigmavae.files import write_atomically
from sigmavae.likelihoods.running import process_rank, sum_over_processes
from sigmavae.metrics.items import numbers
from sigmavae.metrics.moments import Moments
from sigmavae.progress import Progress

KEPT = 10_000
"""Features of a set that are kept one by one, 8 KB each: of these the kernel distance is measured."""
LAYOUT = 1  # of the files; another number makes all statistics be computed again


class Extractor(Protocol):
    """From 8-bit images (N, C, H, W) to features (N, width)."""

    @property
    def width(self) -> int:
        """Numbers in a feature."""

    @property
    def identity(self) -> str:
        """All that features depend on besides the images, in words."""

    def __call__(self, images: Tensor) -> Tensor:
        """Return the features of some images."""


@dataclass(frozen=True)
class Seen:
    """What is known of the features of a set."""

    moments: Moments
    """Of all of them."""
    kept: Tensor
    """Some of them, (K, D) in float32: all, or KEPT chosen at random (seed 0), in the order of the set."""


@torch.no_grad()
def see(
    count: int,
    images: Callable[[Tensor], Tensor],
    extractor: Extractor,
    device: torch.device,
    *,
    batch: int,
    progress: Progress | None = None,
    name: str = "",
) -> Seen:
    """Return the features of so many items; `images` makes 8-bit images of the numbers of some, on the device."""
    (which,) = chosen(count, min(count, KEPT))[:1]
    place = torch.full((count,), -1)
    place[torch.from_numpy(which)] = torch.arange(len(which))
    moments, kept = Moments(extractor.width), torch.zeros(len(which), extractor.width)
    for items in numbers(count, batch, device, progress, name):
        found = extractor(images(items)).cpu().float()
        moments.add(found)
        rows = place[items.cpu()]
        kept[rows[rows >= 0]] = found[rows >= 0]
    # Every row was filled by one process and is zero on the others, so sums are exact.
    return Seen(moments.over_processes(device), sum_over_processes(kept.to(device)).cpu())


def see_real(
    images: Images, fingerprint: str, extractor: Extractor, device: torch.device, *, batch: int, progress: Progress
) -> Seen:
    """Return the features of real images, from disk where the same ones were seen before by the same extractor."""
    identity = [LAYOUT, KEPT, fingerprint, list(images.shape), extractor.identity]
    key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    path = cache_folder() / "features" / f"{key}.safetensors"
    found = _load(path, extractor.width)
    # Either every process has it or all compute it together.
    missing = sum_over_processes(torch.tensor(int(found is None), device=device))
    if found is not None and not missing:
        return found

    def real(items: Tensor) -> Tensor:
        return torch.tensor(images[items.cpu().numpy()], device=device)

    seen = see(len(images), real, extractor, device, batch=batch, progress=progress, name="features of the real images")
    if process_rank() == 0:
        _save(path, seen, progress)
    return seen


def _load(path: Path, width: int) -> Seen | None:
    """Return what a file says; nothing if it is not there or damaged."""
    try:
        tensors = load_file(path)
        moments = Moments(width, int(tensors["count"]))
        moments.mean, moments.scatter = tensors["mean"], tensors["scatter"]
        return Seen(moments, tensors["kept"])
    except (OSError, SafetensorError, KeyError):
        return None


def _save(path: Path, seen: Seen, progress: Progress) -> None:
    moments = seen.moments
    tensors = {
        "count": torch.tensor(moments.count),
        "mean": moments.mean,
        "scatter": moments.scatter,
        "kept": seen.kept,
    }
    try:
        write_atomically(path, lambda temporary: save_file(tensors, temporary))
    except (OSError, SafetensorError) as error:
        progress.say(f"{path}: cannot be written ({error}); the features are computed again next time")
