"""Latent-variable models that any likelihood plugs into."""

from sigmavae.models.conv import ConvConfig, ConvVAE
from sigmavae.models.gaussian_latent import GaussianLatentModel
from sigmavae.models.hvae import HVAE, HVAEConfig
from sigmavae.models.latent import Elbo, LatentModel

__all__ = ["HVAE", "ConvConfig", "ConvVAE", "Elbo", "GaussianLatentModel", "HVAEConfig", "LatentModel"]
