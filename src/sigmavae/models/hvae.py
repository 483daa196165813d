r"""A hierarchical VAE: many layers of latent maps, one above the other (Maaloe et al., 2019; Appendix B of the paper).

    q(z_1 .. z_L | x) = q(z_1 | x) prod_l q(z_l | z_{l-1}),      p(z_1 .. z_L) = p(z_L) prod_l p(z_l | z_{l+1})

Inference goes from the image up, generation from the top down, and they share nothing but the samples. With `skips`
(the public code's default) every conditional also reads the features that the layer before it was made from. The rate
of a layer is estimated by the one sample that is drawn: ln q(z_l | ..) - ln p(z_l | ..).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar, Literal, TypeVar, TypeVarTuple, get_args

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sigmavae.errors import ConfigError
from sigmavae.likelihoods import Likelihood
from sigmavae.models.diagonal import LOG_VARIANCES, Diagonal, LogVariance
from sigmavae.models.latent import Elbo, LatentModel
from sigmavae.models.stage import Side, Stage, output
from sigmavae.models.weight_norm import initialising
from sigmavae.noise import Noise

LATENTS = (38, 36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10)
"""Channels of the paper's fifteen layers, the one nearest the image first."""
HALVINGS = (1, 11, 15)
"""The layers before which the sides are halved."""

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True)
class HVAEConfig:
    """The hierarchical VAE."""

    videos: ClassVar[bool] = False
    kind: Literal["hvae"] = field(default="hvae", init=False)
    latents: tuple[int, ...] = LATENTS
    """latent channels of each layer, from the image up"""
    halvings: tuple[int, ...] = HALVINGS
    """layers before which the sides are halved; 1 is nearest the image"""
    width: int = 96
    """channels of the features"""
    blocks: int = 3
    """gated blocks of a layer, either way"""
    dropout: float = 0.2
    """in the blocks of inference"""
    skips: bool = True
    """layers also read the features that the layer before was made from"""
    log_variance: LogVariance = "bounded"
    """how variances are kept in hand; softplus: none below 1, as in the public code"""
    free_bits: float = 2.0
    """nats of each layer and image that training does not charge for"""
    checkpoint: bool = False
    """compute features twice instead of keeping them: less memory, the same gradients"""

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        depth = len(self.latents)
        if not depth or min(self.latents) < 1:
            raise ConfigError(f"model.latents={self.latents}: must be one number or more, each 1 or more")
        if len(set(self.halvings)) < len(self.halvings) or not set(self.halvings) <= set(range(1, depth + 1)):
            raise ConfigError(
                f"model.halvings={self.halvings}: must be different numbers from 1 to {depth}, the layers"
            )
        for name in ("width", "blocks"):
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}={getattr(self, name)}: must be 1 or more")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"model.dropout={self.dropout}: must be 0 or more and below 1")
        if not 0 <= self.free_bits < math.inf:
            raise ConfigError(f"model.free_bits={self.free_bits}: must be 0 or more")
        if self.log_variance not in get_args(LogVariance):
            raise ConfigError(f"model.log_variance={self.log_variance}: must be {', '.join(get_args(LogVariance))}")

    def build(self, shape: Sequence[int], likelihood: Likelihood) -> HVAE:
        """Return the model for data of a shape."""
        options = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}
        return HVAE(shape, likelihood, **options)


class HVAE(LatentModel):
    """The paper's fifteen layers at their defaults, and their like at other depths, widths and sides."""

    initialised: Tensor

    def __init__(
        self,
        shape: Sequence[int],
        likelihood: Likelihood,
        *,
        latents: Sequence[int] = LATENTS,
        halvings: Collection[int] = HALVINGS,
        width: int = 96,
        blocks: int = 3,
        dropout: float = 0.2,
        skips: bool = True,
        log_variance: LogVariance = "bounded",
        free_bits: float = 2.0,
        checkpoint: bool = False,
    ) -> None:
        sizes = _sizes(shape, [number + 1 in halvings for number in range(len(latents))])
        super().__init__(tuple(shape), likelihood)
        self.skips, self.free_bits, self.checkpoint = skips, free_bits, checkpoint
        depth, channels = len(latents), shape[0]
        self.stages = nn.ModuleList(
            Stage(
                latents[number - 1] if number else channels,
                latents[number],
                sizes[number],
                width=width,
                blocks=blocks,
                kernel=3 if number else 5,
                halves=number + 1 in halvings,
                lowest=number == 0,
                highest=number == depth - 1,
                skips=skips,
                dropout=dropout,
                log_variance=LOG_VARIANCES[log_variance],
            )
            for number in range(depth)
        )
        self.output = output(width, likelihood.features(channels))
        self.register_buffer("initialised", torch.tensor(False))

    @property
    def latent_shapes(self) -> list[tuple[int, int, int]]:
        """(channels, height, width) of each layer's latent variable, from the image up."""
        return [(stage.latent, *stage.size) for stage in self._stages]

    @torch.no_grad()
    def initialise(self, x: Tensor) -> None:
        """Set gains and biases by a first batch (B, *shape) in [0, 1], once: a second call changes nothing."""
        if bool(self.initialised):
            return
        was_training = self.training
        self.eval()  # without dropout
        with initialising(self):
            self.infer(x)
        self.train(was_training)
        self.initialised.fill_(True)

    def forward(self, x: Tensor) -> Elbo:
        """Return the single-sample bound of every item; free bits enter only what training minimises."""
        h, rates = self.layers(x)
        elbo = self.score(x, h, rates.sum(1))
        return dataclasses.replace(elbo, rates=rates, penalty=(self.free_bits - rates).clamp(min=0).sum(1))

    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample, and the rate that it gives."""
        h, rates = self.layers(x, noise)
        return h, rates.sum(1)

    def layers(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        """Return decoder features at one posterior sample z, and ln q(z_l | ..) - ln p(z_l | ..), (B, layers)."""
        posteriors, samples = self._ascend(x, noise)
        rates: dict[int, Tensor] = {}

        def take(layer: int, prior: Diagonal) -> Tensor:
            rates[layer] = posteriors[layer].log_ratio(samples[layer], prior)
            return samples[layer]

        h = self._descend(len(x), take)
        return h, torch.stack([rates[layer] for layer in range(len(samples))], dim=1)

    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features of n samples from the prior."""
        return self._descend(n, lambda _, prior: prior.draw(noise))

    def mix(self, x: Tensor, drawn: Collection[int], noise: Noise = torch.randn_like) -> Tensor:
        """Return decoder features of posterior samples of x, but with the layers `drawn` (1 ..) from the prior."""
        if not set(drawn) <= set(range(1, len(self.stages) + 1)):
            raise ValueError(f"layers {sorted(drawn)}: there are 1, nearest the image, to {len(self.stages)}")
        _, samples = self._ascend(x, noise)
        return self._descend(len(x), lambda layer, prior: prior.draw(noise) if layer + 1 in drawn else samples[layer])

    def _ascend(self, x: Tensor, noise: Noise) -> tuple[list[Diagonal], list[Tensor]]:
        """Return the posteriors of all layers from the image up, and a sample of each."""
        posteriors: list[Diagonal] = []
        samples: list[Tensor] = []
        below, skip = 2 * x - 1, None
        for stage in self._stages:
            features, posterior = self._computed(stage.ascend, below, skip)
            below, skip = posterior.draw(noise), features if self.skips else None
            posteriors.append(posterior)
            samples.append(below)
        return posteriors, samples

    def _descend(self, n: int, choose: Callable[[int, Diagonal], Tensor]) -> Tensor:
        """Return decoder features of what is chosen for each layer, from the top, given its prior."""
        above: list[Tensor] = []
        for layer, stage in reversed(list(enumerate(self._stages))):
            prior = self._standard(n, stage) if stage.prior is None else self._computed(stage.prior, above[-1])
            skips = above if self.skips and above else [None] * len(stage.down)
            above = self._computed(stage.descend, choose(layer, prior), skips)
        h: Tensor = self.output(above[-1])
        return h

    def _standard(self, n: int, stage: Stage) -> Diagonal:
        zeros = next(self.parameters()).new_zeros(n, stage.latent, *stage.size)
        return Diagonal(zeros, zeros)

    @property
    def _stages(self) -> list[Stage]:
        return [stage for stage in self.stages if isinstance(stage, Stage)]

    def _computed(self, part: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        """Return what a part of the network computes, and if asked for keep only the arguments for the gradient."""
        if self.checkpoint and torch.is_grad_enabled():
            result: T = checkpoint(part, *arguments, use_reentrant=False)
            return result
        return part(*arguments)


def _sizes(shape: Sequence[int], halves: Sequence[bool]) -> list[Side]:
    """Return the sides of every layer's maps."""
    factor = 2 ** sum(halves)
    if len(shape) != 3 or min(shape) < 1 or shape[1] % factor or shape[2] % factor:
        raise ValueError(
            f"shape={tuple(shape)}: this HVAE takes (channels, height, width) with sides that {factor} divides; "
            "name others with --data.size, or halve them less often with --model.halvings"
        )
    factors = [2**times for times in accumulate(halves)]
    return [(shape[1] // factor, shape[2] // factor) for factor in factors]
