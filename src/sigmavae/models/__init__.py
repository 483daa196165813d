"""Latent-variable models that any likelihood plugs into."""

from sigmavae.models.conv import ConvConfig, ConvVAE
from sigmavae.models.gaussian_latent import GaussianLatentModel
from sigmavae.models.latent import Elbo, LatentModel

__all__ = ["ConvConfig", "ConvVAE", "Elbo", "GaussianLatentModel", "LatentModel"]
