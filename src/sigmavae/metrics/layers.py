"""How much of the rate each layer of latent variables carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.metrics.items import BATCH, columns, mean_and_error
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise
from sigmavae.progress import Progress

USED = 0.1
"""Nats an image above which a layer counts as used."""


def layers(
    model: LatentModel, images: Images, seed: int, *, batch: int = BATCH, progress: Progress | None = None
) -> Iterator[tuple[str, float]]:
    """Yield the rate of every layer, E ln q(z_l | ..) - ln p(z_l | ..), in nats an image.

    rate_01, rate_02 ..   from the layer nearest the image up; their sum is the rate of the latent variables
    layers_used           layers whose rate is above 0.1 nats
    """
    model.eval()

    def measure(items: Tensor, x: Tensor) -> Mapping[str, Tensor]:
        return {"rates": model.layers(x, ItemNoise(seed, items))[1]}

    rates = columns(images, model, measure, batch=batch, progress=progress, name="layers")["rates"]
    for number, rate in enumerate(rates.unbind(1), 1):
        yield from mean_and_error(f"rate_{number:02}", rate)
    yield "layers_used", int((rates.mean(0) > USED).sum())
