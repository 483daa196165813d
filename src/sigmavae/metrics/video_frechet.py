"""Distances between sets of whole videos: over named features of theirs, and FVD where its network is at hand.

The Frechet video distance (Unterthiner et al., 2018) is over the 400 class scores of one I3D network. A distance over
any other features is another number, and is called after those.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from sigmavae.errors import MetricError
from sigmavae.metrics.frechet import frechet_distance
from sigmavae.metrics.moments import Moments

LEAST = 2
"""Videos that have a covariance."""

Features = Callable[[Tensor], Tensor]
"""From videos (N, T, C, H, W) to features (N, D), or from frames (N, C, H, W)."""

I3D_CLASSES = 400


def video_frechet(
    features: str, extract: Features, real: Iterable[Tensor], made: Iterable[Tensor]
) -> Iterator[tuple[str, float]]:
    """Yield `frechet_FEATURES`, the squared Frechet distance of two sets of videos given in batches (N, T, C, H, W).

    It is biased upwards, the more so the fewer videos: `frechet_FEATURES_videos` is the smaller of the two numbers.
    """
    ours, theirs = (_moments(extract, batches) for batches in (real, made))
    yield f"frechet_{features}", frechet_distance(ours, theirs)
    yield f"frechet_{features}_videos", min(ours.count, theirs.count)


def fvd(path: Path, real: Iterable[Tensor], made: Iterable[Tensor]) -> Iterator[tuple[str, float]]:
    """Yield `fvd` of two sets of videos in [0, 1], with the I3D network of a TorchScript file."""
    extract = i3d(path)
    for name, value in video_frechet("i3d", extract, real, made):
        yield name.replace("frechet_i3d", "fvd"), value


def over_time(extract: Features) -> Features:
    """Return features of videos, (N, 2 D): the mean and the deviation over time of features of their frames (M, D).

    The mean tells what is seen, the deviation how much it changes; the order of the frames tells nothing.
    """

    def both(videos: Tensor) -> Tensor:
        frames = extract(videos.flatten(0, 1)).unflatten(0, videos.shape[:2]).double()
        return torch.cat([frames.mean(1), frames.std(1, correction=0)], 1)

    return both


def i3d(path: Path) -> Features:
    """Return the features (N, 400) of videos (N, T, C, H, W) in [0, 1] by an I3D network.

    The file is TorchScript from (N, C, T, H, W) in [-1, 1] to the 400 class scores; resizing, if it wants any, is its
    own. TorchScript can run code: take the file from whom you trust.
    """
    with warnings.catch_warnings():
        # torch would rather have torch.export, which does not read this file.
        warnings.filterwarnings("ignore", message=r".*torch\.jit\.load", category=DeprecationWarning)
        try:
            network = torch.jit.load(path, map_location="cpu").eval()
        except (OSError, RuntimeError, ValueError) as error:
            raise MetricError(f"{path}: cannot be read as TorchScript ({_last_line(error)})") from error

    @torch.no_grad()
    def scores(videos: Tensor) -> Tensor:
        try:
            found = network.to(videos.device)(2 * videos.float().transpose(1, 2) - 1)
        except RuntimeError as error:
            raise MetricError(f"{path}: fails on videos {tuple(videos.shape)} ({_last_line(error)})") from error
        if not isinstance(found, Tensor) or found.shape != (len(videos), I3D_CLASSES):
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise MetricError(
                f"{path}: gives {shape} for {len(videos)} videos, and I3D gives {I3D_CLASSES} scores each"
            )
        return found

    return scores


def _moments(extract: Features, batches: Iterable[Tensor]) -> Moments:
    moments: Moments | None = None
    for videos in batches:
        found = extract(videos)
        moments = moments or Moments(found.shape[1])
        moments.add(found)
    if moments is None or moments.count < LEAST:
        raise MetricError(f"a Frechet distance needs {LEAST} videos or more of either kind: give more")
    return moments


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
