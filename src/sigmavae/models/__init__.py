"""Latent-variable models that any likelihood plugs into."""

from sigmavae.models.conv import ConvConfig, ConvVAE
from sigmavae.models.latent import Elbo, LatentModel

__all__ = ["ConvConfig", "ConvVAE", "Elbo", "LatentModel"]
