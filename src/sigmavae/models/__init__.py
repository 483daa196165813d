"""Latent-variable models that any likelihood plugs into."""

from sigmavae.models.conv import ConvConfig, ConvVAE
from sigmavae.models.gaussian_latent import GaussianLatentModel
from sigmavae.models.hvae import HVAE, HVAEConfig
from sigmavae.models.latent import Elbo, LatentModel
from sigmavae.models.svg import SVG, SVGConfig
from sigmavae.models.video import VideoModel

__all__ = [
    "HVAE",
    "SVG",
    "ConvConfig",
    "ConvVAE",
    "Elbo",
    "GaussianLatentModel",
    "HVAEConfig",
    "LatentModel",
    "SVGConfig",
    "VideoModel",
]
