"""Calibration: whether the decoder is as wrong as it says, which is what this project is named after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.metrics.items import BATCH, columns, described, mean_and_error
from sigmavae.metrics.pit import pit_columns, pit_metrics
from sigmavae.metrics.predictions import Prediction, of_decoder, prior_predictive
from sigmavae.metrics.zscores import ZScores
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

SAMPLES = 1000
"""Of the prior; with fewer than there are images the errors grow."""

Predict = Callable[[Tensor, ItemNoise], Prediction]


def calibration(
    model: LatentModel,
    images: Images,
    seed: int,
    *,
    samples: int = SAMPLES,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Iterator[tuple[str, float]]:
    """Yield how the 8-bit values of the images compare with what was predicted for them, twice.

    calibration_*         the decoder at z ~ q(z | x): right if it is calibrated and q is the posterior
    prior_calibration_*   the average over `samples` z ~ p(z), pixel position by pixel position: right only if the model
                          as a whole is; `prior_calibration_samples` says how many

    pit_00 .. pit_19      share of the values in each twentieth of the predicted distribution; 0.05 if it is right
    coverage_10 .. _90, _95   share of the values in the central interval of that many per cent: less, and the decoder
                          is surer than it should be
    error                 mean distance of the ten coverages from their levels: the expected calibration error
    error_chance          about what a right prediction would score on so many images by chance
    sharpness             mean width of the central 90 % interval in data units, to whole grey levels. Of two calibrated
                          predictions the sharper one is better
    z_variance            mean square of (x - mean) / deviation: above one the deviation is too small. It is that of the
                          decoder's scale, before values are clipped and rounded, and so below one where many are. Only
                          where there is a scale, and of the prior always
    z_share               share of the values with a variance: the others do not count
    z_variance_pixel_05, _50, _95, z_variance_image_05, ...   its quantiles over positions, and over images
    z_variance_band_0 .. _9   where the predicted mean is in [0, 0.1), ..., [0.9, 1]

    Of videos only the first, over the predicted frames.

    The decoder is asked before it sees the image: image-sigma answers with the median of its hyperprior. NAME_stderr
    is the standard error of a mean over the images; that of the prior's is larger by sqrt(1 + images / samples), which
    counts the samples as if each was one image more to compare with, as in a test of two samples. A mixture of few
    samples is also too narrow: its coverages are short by about 1 / samples.
    """
    model.eval()

    def decoder(x: Tensor, noise: ItemNoise) -> Prediction:
        return of_decoder(model.likelihood(model.infer(x, noise)[0]), model.target(x))

    yield from _compare("calibration_", model, images, seed, decoder, 1.0, batch, progress)
    if model.clip is not None:  # frames are predicted from frames: there is no average over a prior alone
        return
    prior = prior_predictive(model, seed, samples, len(images), batch=batch, progress=progress)
    widen = math.sqrt(1 + len(images) / samples)
    yield from _compare("prior_calibration_", model, images, seed, lambda x, _: prior.at(x), widen, batch, progress)
    yield "prior_calibration_sharpness", float(prior.width.mean())
    yield "prior_calibration_samples", samples


def _compare(
    prefix: str,
    model: LatentModel,
    images: Images,
    seed: int,
    predict: Predict,
    widen: float,
    batch: int,
    progress: Progress | None,
) -> Iterator[tuple[str, float]]:
    """Yield all that is said of one kind of prediction."""
    scores = ZScores(described(model, images.shape[1:]), model.device)

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        noise = ItemNoise(seed, items)
        said, x = predict(x, noise), model.target(x)
        found = pit_columns(said, noise.uniform(x)) | scores.columns(said, x)
        return found if said.width is None else found | {"width": said.width.double().flatten(1).mean(1)}

    table = columns(images, model, measure, batch=batch, progress=progress, name=prefix.strip("_"))
    yield from pit_metrics(prefix, table, widen)
    if "width" in table:
        yield from mean_and_error(f"{prefix}sharpness", table["width"])
    yield from scores.metrics(prefix, table, widen)
