"""Gaussian decoders that predict their sigma: per pixel and channel, or shared over blocks (section 5.3)."""

from __future__ import annotations

import torch
from torch import Tensor

from sigmavae.likelihoods.normal import Normal
from sigmavae.likelihoods.refit import GaussianLikelihood
from sigmavae.likelihoods.soft_clip import Bounds, check_bounds, soft_clip
from sigmavae.likelihoods.support import SupportName
from sigmavae.likelihoods.support import support as _support


class PixelSigma(GaussianLikelihood):
    """A Gaussian whose mean and log-sigma the decoder predicts for every pixel and channel, softly clipped."""

    def __init__(self, bounds: Bounds = (-6.0, 2.0), support: SupportName = "unit") -> None:
        super().__init__(_support(support))
        self.bounds = check_bounds("bounds", bounds)

    def features(self, channels: int) -> int:
        """Return two features a channel: all means, then all log-sigmas."""
        return 2 * channels

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:  # noqa: ARG002
        """Return N(mean, sigma^2) with a sigma for every element."""
        loc, log_sigma = h.chunk(2, dim=1)
        return Normal(self.door.support.squash(loc), torch.exp(soft_clip(log_sigma, self.bounds)), self.door)


class BlockSigma(GaussianLikelihood):
    """A Gaussian whose predicted log-sigma is shared by the channels and by blocks of block x block pixels.

    block = 1 is one sigma a pixel and block = the image's size one sigma an image: the paper's series from
    per-pixel to per-image variance. A block's log-sigma is the mean of the feature map over it; blocks at the far
    edges of a size that block does not divide are smaller.
    """

    def __init__(self, block: int = 4, bounds: Bounds = (-6.0, 2.0), support: SupportName = "unit") -> None:
        super().__init__(_support(support))
        if block < 1:
            raise ValueError(f"block={block}: a block's side is at least one pixel")
        self.block = block
        self.bounds = check_bounds("bounds", bounds)

    def features(self, channels: int) -> int:
        """Return one feature a channel and one more: all means, then one map of log-sigma."""
        return channels + 1

    def condition(self, h: Tensor, x: Tensor | None) -> Normal:  # noqa: ARG002
        """Return N(mean, sigma^2) with one sigma a block."""
        loc, log_sigma = h[:, :-1], h[:, -1:]
        for dim in range(2, h.dim()):
            log_sigma = _block_means(log_sigma, dim, self.block)
        return Normal(self.door.support.squash(loc), torch.exp(soft_clip(log_sigma, self.bounds)), self.door)


def _block_means(t: Tensor, dim: int, block: int) -> Tensor:
    """Return t with every run of `block` values along dim replaced by its mean.

    Averaging one dimension after the other is averaging over the block, since all runs of a block are equally long.
    """
    size = t.shape[dim]
    rest = size % block
    whole, last = t.split([size - rest, rest], dim)
    whole = whole.unflatten(dim, (-1, block))
    means = [whole.mean(dim + 1, keepdim=True).expand_as(whole).flatten(dim, dim + 1)]
    if rest:
        means.append(last.mean(dim, keepdim=True).expand_as(last))
    return torch.cat(means, dim)
