"""A model that made its own images: whatever it says about them is right."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.data.splits import Images
from sigmavae.likelihoods.bernoulli import Coin
from sigmavae.likelihoods.bins import level
from sigmavae.models import LatentModel
from sigmavae.noise import ItemNoise, Noise
from tests.cases import Case, grid

SHAPE = (3, 3, 3)
SEED = 7
LATENT = 2


class Known(LatentModel):
    """Features linear in z. Its encoder knows: with the seed of the images it finds the z that each was made from."""

    def __init__(self, case: Case, spread: float = 0.7) -> None:
        super().__init__(SHAPE, case.make())
        generator = torch.Generator().manual_seed(3)
        features = (self.likelihood.features(SHAPE[0]), *SHAPE[1:])
        self.bias = torch.nn.Parameter(spread * torch.randn(features, generator=generator))
        self.weight = torch.nn.Parameter(spread * torch.randn(LATENT, *features, generator=generator))

    def infer(self, x: Tensor, noise: Noise = torch.randn_like) -> tuple[Tensor, Tensor]:
        return self.generate(len(x), noise), torch.zeros(len(x))

    def generate(self, n: int, noise: Noise = torch.randn_like) -> Tensor:
        return self.bias + torch.einsum("bz,zchw->bchw", noise(torch.empty(n, LATENT)), self.weight)

    @torch.no_grad()
    def draw_images(self, count: int, factor: float = 1.0, seed: int = SEED) -> Images:
        """Return 8-bit images from the model; `factor` multiplies how far each value is from its mean."""
        self.eval()
        torch.manual_seed(seed)
        p = self.likelihood(self.generate(count, ItemNoise(seed, torch.arange(count))))
        # Bernoulli's own samples are zeros and ones: its 8-bit values have the renormalised masses.
        x, mean = _of_masses(p) if isinstance(p, Coin) else (p.sample(), p.mean)
        return level(mean + factor * (x - mean)).to(torch.uint8).numpy()


def _of_masses(p: Coin) -> tuple[Tensor, Tensor]:
    """Return a draw from the masses of the 8-bit values, and their mean."""
    masses = p._bin_log_terms(grid(p)).exp().movedim(0, -1)
    drawn = torch.multinomial(masses.flatten(0, -2), 1).reshape(masses.shape[:-1])
    return drawn / 255, (masses * torch.arange(256)).sum(-1) / 255
