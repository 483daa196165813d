"""Latent-variable models that any likelihood plugs into."""

from sigmavae.models.conv import ConvVAE
from sigmavae.models.latent import Elbo, LatentModel

__all__ = ["ConvVAE", "Elbo", "LatentModel"]
