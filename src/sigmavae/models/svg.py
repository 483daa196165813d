r"""Stochastic video generation with a learned prior, SVG-LP (Denton and Fergus, 2018).

    h_t = encoder(x_t),   q(z_t | x_0 .. x_t) from h_1 .. h_t,   p(z_t | x_0 .. x_t-1) from h_0 .. h_t-1,
    x_t ~ likelihood(decoder(predictor((h_0, z_1) .. (h_t-1, z_t)), maps of an earlier frame))

Given the first frames x_0 .. x_past-1, the bound on ln p of the others is the sum over t >= past of ln p(x_t | z) and
-KL(q(z_t) || p(z_t)). The z_t of frames that are given are drawn from q, which sees nothing else: they cost nothing.

In training every network's inputs are known in advance (teacher forcing), so each sees all frames in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

import torch
from torch import Tensor

from sigmavae.errors import ConfigError
from sigmavae.likelihoods import Likelihood, full_precision
from sigmavae.models.frame_blocks import HALVINGS, initialise
from sigmavae.models.frame_dcgan import DCGANDecoder, DCGANEncoder
from sigmavae.models.frame_vgg import VGGDecoder, VGGEncoder
from sigmavae.models.gaussian_latent import draw
from sigmavae.models.recurrent import Gaussians, Predictor, kl_of_gaussians, log_ratio_of_gaussians
from sigmavae.models.video import VideoModel
from sigmavae.noise import Noise

Backbone = Literal["vgg", "dcgan"]
Skips = Literal["last", "before-last", "previous"]
Gaussian = tuple[Tensor, Tensor]

BACKBONES = {"vgg": (VGGEncoder, VGGDecoder), "dcgan": (DCGANEncoder, DCGANDecoder)}
PREDICTOR_LAYERS = 2


class SVG(VideoModel):
    """SVG-LP at any likelihood; 22.8 million parameters as it stands at 64 x 64, 12.7 with `backbone="dcgan"`.

    `skips` says whose maps the decoder is shown: those of the last frame that is given; of the one before it, as in the
    released code; or of the frame before the predicted one, which is itself a prediction once those given have passed.
    `score_past=True` trains on predictions of the given frames (but the first), too, as the released code does;
    evaluation never counts them. A running sigma is then of all that is trained on, given frames among it.

    Batch normalisation sees all frames of a batch at once in training, and its running statistics in evaluation.
    """

    def __init__(
        self,
        shape: Sequence[int],
        likelihood: Likelihood,
        *,
        past: int = 2,
        future: int = 10,
        backbone: Backbone = "vgg",
        g: int = 128,
        z: int = 64,
        rnn: int = 256,
        width: int = 64,
        skips: Skips = "last",
        score_past: bool = False,
    ) -> None:
        super().__init__(shape, likelihood, past, future)
        _, channels, *size = self.shape
        if any(side % (1 << HALVINGS) for side in size):
            raise ValueError(f"frames are {size[0]} x {size[1]}: SVG takes sides that {1 << HALVINGS} divides")
        if score_past and likelihood.frames is not None:
            raise ValueError(
                "likelihood.frames counts from the first predicted frame, and model.score_past has other frames in "
                "training than in evaluation: leave one of them out"
            )
        self.score_past = score_past
        self.widest = width
        self.last_skip = {"last": past - 1, "before-last": max(past - 2, 0), "previous": None}[skips]
        encoder, decoder = BACKBONES[backbone]
        self.encoder = encoder(channels, size, g, width)
        self.decoder = decoder(g, size, likelihood.features(channels), width)
        self.posterior = Gaussians(g, z, rnn, layers=1)
        self.prior = Gaussians(g, z, rnn, layers=1)
        self.predictor = Predictor(g + z, g, rnn, PREDICTOR_LAYERS)
        self.apply(initialise)

    @property
    def first(self) -> int:
        """The number of the first frame whose prediction counts."""
        return 1 if self.training and self.score_past else self.past

    def target(self, x: Tensor) -> Tensor:
        """Return the frames whose predictions count, (B, C, T', H, W)."""
        return x[:, self.first :].transpose(1, 2)

    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features (B, F, T', H, W) at one posterior sample, and the rate in closed form."""
        h, _, q, p = self._teach(x, noise)
        return h, kl_of_gaussians(q, p).flatten(1).sum(1)

    def weigh(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample z, and ln q(z | x) - ln p(z) there."""
        h, z, q, p = self._teach(x, noise)
        return h, log_ratio_of_gaussians(z, q, p).flatten(1).sum(1)

    def infer_frames(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features as `infer` does, and the rate of every frame, (B, T')."""
        h, _, q, p = self._teach(x, noise)
        return h, kl_of_gaussians(q, p).sum(2)

    def roll_out(self, x: Tensor, length: int, noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features (B, F, length, H, W) of frames that follow the first `past` of x, from the prior."""
        encoded, maps = self._encode(x[:, : self.past])
        passed = self._passed(maps, range(self.past, self.past + 1))
        of_prior = of_predictor = None
        if self.past > 1:
            seen = encoded[:, :-1]
            (mean, log_variance), _ = self.posterior(encoded[:, 1:])
            z = draw(mean, log_variance, noise)
            _, of_prior = self.prior(seen)
            _, of_predictor = self.predictor(torch.cat([seen, z], 2))
        latest, features = encoded[:, -1:], list[Tensor]()
        for _ in range(length):
            if features:
                latest, maps = self._encode(self._show(features[-1].unsqueeze(2), noise=False))
                passed = passed if self.last_skip is not None else [each[:, 0] for each in maps]
            (mean, log_variance), of_prior = self.prior(latest, of_prior)
            z = draw(mean, log_variance, noise)
            predicted, of_predictor = self.predictor(torch.cat([latest, z], 2), of_predictor)
            features.append(full_precision(self.decoder(predicted[:, 0], passed)))
        return torch.stack(features, 2)

    def _teach(self, x: Tensor, noise: Noise) -> tuple[Tensor, Tensor, Gaussian, Gaussian]:
        """Return decoder features, z, q(z) and p(z) of all frames that count; each network is called once."""
        if x.shape[1] <= self.past:
            raise ValueError(f"x has {x.shape[1]} frames, of which {self.past} are given: none is left to predict")
        encoded, maps = self._encode(x)
        before = encoded[:, :-1]
        # Rates are differences of large terms, and states pass through many steps: half precision ends here.
        with torch.autocast(x.device.type, enabled=False):
            q, p = self.posterior(encoded[:, 1:])[0], self.prior(before)[0]
            z = draw(q[0], q[1], noise)
            predicted, _ = self.predictor(torch.cat([before, z], 2))
        counted = slice(self.first - 1, None)  # step 0 predicts frame 1
        passed = self._passed(maps, range(self.first, x.shape[1]))
        h = self.decoder(predicted[:, counted].flatten(0, 1), passed)
        h = h.unflatten(0, (len(x), -1)).transpose(1, 2)
        return h, z[:, counted], (q[0][:, counted], q[1][:, counted]), (p[0][:, counted], p[1][:, counted])

    def _encode(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return encodings (B, T, g) in full precision and maps (B, T, ...) of frames."""
        frames = x.flatten(0, 1).contiguous(memory_format=torch.channels_last)
        encoded, maps = self.encoder(frames)
        grid = x.shape[:2]
        return full_precision(encoded).unflatten(0, grid), [each.unflatten(0, grid) for each in maps]

    def _passed(self, maps: Sequence[Tensor], predicted: range) -> list[Tensor]:
        """Return the maps that are passed on to predictions of these frames: (B, ...) if to all the same."""
        sources = [t - 1 if self.last_skip is None else min(t - 1, self.last_skip) for t in predicted]
        if len(set(sources)) == 1:
            return [each[:, sources[0]] for each in maps]
        return [each[:, sources].flatten(0, 1) for each in maps]


@dataclass(frozen=True)
class SVGConfig:
    """The sequence VAE SVG-LP."""

    videos: ClassVar[bool] = True
    kind: Literal["svg"] = field(default="svg", init=False)
    past: int = 2
    """frames that are given"""
    future: int = 10
    """frames that are predicted in training"""
    backbone: Backbone = "vgg"
    """encoder and decoder of frames"""
    g: int = 128
    """dimensions of a frame's encoding"""
    z: int = 64
    """latent dimensions of a frame"""
    rnn: int = 256
    """width of the LSTMs"""
    width: int = 64
    """channels of the first layer, doubled three times"""
    skips: Skips = "last"
    """whose maps the decoder is shown: the last given frame, the one before it, the frame before the predicted"""
    score_past: bool = False
    """train on predictions of the given frames, too"""

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        for name in ("past", "future", "g", "z", "rnn", "width"):
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}={getattr(self, name)}: must be 1 or more")

    def build(self, shape: Sequence[int], likelihood: Likelihood) -> SVG:
        """Return the model for videos of a shape."""
        options = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return SVG(shape, likelihood, **options)
