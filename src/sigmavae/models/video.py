"""What every model of videos is: some frames are given, those that follow are predicted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from sigmavae.errors import MetricError
from sigmavae.likelihoods import Likelihood
from sigmavae.models.latent import LatentModel
from sigmavae.noise import Noise


class VideoModel(LatentModel):
    """A model of videos (B, T, C, H, W): p(the frames from number `past` on | the frames before), counted from 0.

    Its likelihood sees the predicted frames as one event (C, T', H, W), time as a first spatial dimension: so
    distortion and rate are nats a sequence, and an optimal sigma is shared by batch, frames and pixels. `shape` is
    (T, C, H, W) of the data; any longer or shorter video will do that has more than `past` frames.
    """

    def __init__(self, shape: Sequence[int], likelihood: Likelihood, past: int, future: int) -> None:
        name = type(self).__name__
        if len(shape) != 4 or min(shape) < 1:
            raise ValueError(f"shape={tuple(shape)}: {name} takes videos (frames, channels, height, width)")
        for option, value in (("past", past), ("future", future)):
            if value < 1:
                raise ValueError(f"{option}={value}: must be 1 or more")
        if shape[0] < past + future:
            raise ValueError(
                f"videos have {shape[0]} frames, and {name} trains on {past} + {future}: name fewer with --model.past "
                "or --model.future"
            )
        super().__init__(tuple(shape), likelihood)
        self.past, self.future = past, future
        self.clip = past + future

    @abstractmethod
    def roll_out(self, x: Tensor, length: int, noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features (B, F, length, H, W) of frames that follow the first `past` of x, from the prior."""

    @torch.no_grad()
    def predict(
        self, x: Tensor, n: int = 1, length: int | None = None, noise: bool = False, temperature: float = 1.0
    ) -> Tensor:
        """Return n futures (n, B, length, C, H, W) of the first `past` frames of x; length: as long as x goes on.

        Each frame is the decoder's mean, and the next one follows from it; with noise what is returned is a draw from
        the decoder. `temperature` multiplies the standard deviation of every z.
        """
        length = x.shape[1] - self.past if length is None else length
        if length < 1 or x.shape[1] < self.past:
            raise ValueError(
                f"x has {x.shape[1]} frames and length={length}: {self.past} are given, then 1 or more follow"
            )
        given = x[:, : self.past].repeat(n, 1, 1, 1, 1)
        h = self.roll_out(given, length, lambda like: temperature * torch.randn_like(like))
        futures: Tensor = self._show(h, noise).unflatten(0, (n, -1))
        return futures

    def target(self, x: Tensor) -> Tensor:
        """Return the frames that are predicted, (B, C, T', H, W)."""
        return x[:, self.past :].transpose(1, 2)

    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:  # noqa: ARG002
        """Refuse: there is nothing to go on from."""
        raise MetricError(f"{type(self).__name__} continues videos and makes none from nothing: use predict(x)")

    def _show(self, h: Tensor, noise: bool) -> Tensor:
        return super()._show(h, noise).transpose(1, 2)
