"""Videos by the number of the frame: the bound, calibration, and how like the truth predicted futures are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.errors import MetricError
from sigmavae.likelihoods import Conditional
from sigmavae.likelihoods.bins import TOP, level
from sigmavae.metrics.items import BATCH, columns, described, mean_and_error
from sigmavae.metrics.pit import LEVELS, pit_columns
from sigmavae.metrics.predictions import Prediction
from sigmavae.metrics.video import video_columns, video_metrics
from sigmavae.models import LatentModel
from sigmavae.models.svg import SVG
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress
from sigmavae.seeds import Stream

FUTURES = 20
"""Predicted for each video, of which the best is chosen."""


def futures(
    model: LatentModel,
    images: Images,
    seed: int,
    count: int = FUTURES,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield numbers of predicted frames, on the average and one by one; `_frame_07` is frame 7, counted from 0.

    Frame by frame given all frames before, as the bound has it:

    video_nll                 nats a frame; video_nll_discrete of the 8-bit data, comparable between all likelihoods
    video_rate                its second part
    video_error               mean distance of the coverages of central intervals from their levels, as in calibration
    video_z_variance          mean square of (x - mean) / deviation, of values that have one, where there are any

    From the given frames alone, `video_predictions` futures of each video from the learned prior, every next frame
    from the decoder's mean of the last: psnr, ssim, psnr_best, ssim_best, as `video_metrics` says.
    """
    if not isinstance(model, SVG):
        raise MetricError(f"video: {type(model).__name__} predicts no frames; it is for models of videos")
    model.eval()
    length = images.shape[1] - model.past
    if length < 1:
        raise MetricError(f"video: videos of {images.shape[1]} frames, of which {model.past} are given, have no future")

    def bound(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        noise = ItemNoise(seed, items)
        h, rate = model.infer_frames(x, noise)
        y = model.target(x)
        p = model.likelihood(h, y)
        rate = rate + (p.rate / length).unsqueeze(1)
        found = {"rate": rate, "nll": rate - p.frame_log_prob(y), "nll_discrete": rate - p.frame_bin_log_prob(y)}
        return found | _calibration(model.likelihood(h), y, noise)

    def likeness(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        made = []
        for number in range(count):
            noise = ItemNoise(seed, items * count + number, Stream.PICTURES)
            made.append(model.likelihood(model.roll_out(x, length, noise)).mean.transpose(1, 2))
        return video_columns(torch.stack(made), x[:, model.past :])

    table = columns(images, model, bound, batch=batch, progress=progress, name="video bound")
    yield from _series("video_nll", table["nll"], model.past)
    yield from _series("video_nll_discrete", table["nll_discrete"], model.past)
    values = math.prod(described(model, images.shape[1:])) / length
    yield from mean_and_error("video_bits_per_dim", table["nll_discrete"].mean(1), per=values * math.log(2))
    yield from _series("video_rate", table["rate"], model.past)
    coverage = table["coverage"]  # (N, T', levels): its mean over videos is far from the level one way or the other
    distance = coverage - coverage.new_tensor(LEVELS)
    yield from _series("video_error", (distance * distance.mean(0).sign()).mean(2), model.past)
    if "z" in table:
        yield from _series("video_z_variance", table["z"], model.past)
    likely = columns(images, model, likeness, batch=batch, progress=progress, name=f"{count} futures")
    yield from video_metrics(likely, model.past)


def _calibration(p: Conditional, x: Tensor, noise: ItemNoise) -> dict[str, Tensor]:
    """Return the coverage (B, T, levels) of every frame, and the mean square of z where there is one, (B, T)."""
    below = torch.where(level(x) > 0, p.bin_cdf(x - 1 / TOP), 0.0)
    parts = [each.movedim(2, 1) for each in (below, p.bin_cdf(x), noise.uniform(x))]
    lower, upper, uniform = (each.flatten(0, 1) for each in parts)
    said = Prediction(lower, upper, lower, None, None)
    found = {"coverage": pit_columns(said, uniform)["coverage"].unflatten(0, parts[0].shape[:2])}
    if p.scale is None:
        return found
    variance = p.variance.double()
    counts = variance.isfinite() & (variance > 0)  # a Student-t of two degrees of freedom or less has none
    z = torch.where(counts, (x - p.mean).double().square() / torch.where(counts, variance, 1.0), 0.0)
    sums, total = (each.movedim(2, 1).flatten(2).sum(2) for each in (z, counts.double()))
    return found | {"z": sums / total.clamp(min=1)}


def _series(name: str, values: Tensor, past: int) -> Iterator[tuple[str, float]]:
    """Yield the mean of columns (N, T) over videos and frames, and of every frame by its number in the video."""
    yield from mean_and_error(name, values.mean(1))
    for number, column in enumerate(values.unbind(1), past):
        yield from mean_and_error(f"{name}_frame_{number:02}", column)
