"""Predicted videos beside what came: PSNR and SSIM of every frame, of a prediction and of the best of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.errors import MetricError
from sigmavae.metrics.items import mean_and_error
from sigmavae.metrics.similarity import psnr, ssim

_MEASURES = {"psnr": psnr, "ssim": ssim}


def video_columns(predictions: Tensor, truth: Tensor) -> dict[str, Tensor]:
    """Return `psnr` and `ssim` (N, S, T) of S predictions (S, N, T, C, H, W) of videos (N, T, C, H, W) in [0, 1].

    Videos are measured one prediction at a time; for more than fit into memory, join the columns of batches.
    """
    if predictions.dim() != 6 or predictions.shape[1:] != truth.shape:
        raise MetricError(
            f"predictions {tuple(predictions.shape)} are not (S, N, T, C, H, W) of videos {tuple(truth.shape)}: "
            "leave the frames that were given out of both"
        )
    return {name: torch.stack([like(one, truth) for one in predictions], 1) for name, like in _MEASURES.items()}


def video_metrics(table: Mapping[str, Tensor], past: int) -> Iterator[tuple[str, float]]:
    """Yield means over the videos of the columns of `video_columns`; `past` frames were given, 0 .. past - 1.

    psnr, ssim             of a prediction: the mean over all of them and over their frames
    psnr_best, ssim_best   of the best of S predictions, chosen for each video and measure by its mean over the frames:
                           rises with S, so `video_predictions` is part of the result
    psnr_frame_02, psnr_best_frame_02, ...   the same for every frame by its number in the video, counted from 0

    NAME_stderr is the standard error of a mean over the videos.
    """
    for name in _MEASURES:
        values = table[name].double()  # (N, S, T)
        chosen = values.mean(2).argmax(1)
        best = values[torch.arange(len(values), device=chosen.device), chosen]
        for kind, frames in ((name, values.mean(1)), (f"{name}_best", best)):
            yield from mean_and_error(kind, frames.mean(1))
            for number, column in enumerate(frames.unbind(1), past):
                yield from mean_and_error(f"{kind}_frame_{number:02}", column)
    yield "video_predictions", table["psnr"].shape[1]
