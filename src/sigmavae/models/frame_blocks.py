"""What encoders and decoders of frames are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

HALVINGS = 4
"""How often a frame is halved before its last layer sees all of what is left: sides are multiples of 2^4."""

SLOPE = 0.2
"""Of the leaky rectifiers."""

_DEVIATION = 0.02


class Joined(nn.Module):
    """A layer over two sets of maps side by side: a frame's own and those passed on from an earlier frame.

    layer([own, passed]) is the sum of a layer over each. One earlier frame serves all frames of a sequence: its half,
    half of the work in a decoder, is then computed once instead of once a frame, and nothing is copied.
    """

    def __init__(self, layer: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.own, self.passed = layer(), layer()

    def forward(self, maps: Tensor, passed: Tensor) -> Tensor:
        """Return the layer's output for maps (B T, ...) and those passed on, (B, ...) for all T or (B T, ...)."""
        own: Tensor = self.own(maps).unflatten(0, (len(passed), -1))
        both: Tensor = own + self.passed(passed).unsqueeze(1)
        return both.flatten(0, 1)


def rectified(channels: int) -> nn.Sequential:
    """Return what follows a convolution: batch normalisation and a leaky rectifier."""
    return nn.Sequential(nn.BatchNorm2d(channels), nn.LeakyReLU(SLOPE, inplace=True))


def to_vector(channels: int, outputs: int, size: Sequence[int]) -> nn.Sequential:
    """Return the last layer of an encoder: from all that is left of a frame to a vector in (-1, 1)."""
    left = (size[0] >> HALVINGS, size[1] >> HALVINGS)
    return nn.Sequential(nn.Conv2d(channels, outputs, left), nn.BatchNorm2d(outputs), nn.Tanh(), nn.Flatten())


def from_vector(inputs: int, channels: int, size: Sequence[int]) -> nn.Sequential:
    """Return the first layer of a decoder: from a vector to the smallest maps."""
    left = (size[0] >> HALVINGS, size[1] >> HALVINGS)
    return nn.Sequential(
        nn.Unflatten(1, (inputs, 1, 1)), nn.ConvTranspose2d(inputs, channels, left), rectified(channels)
    )


def initialise(module: nn.Module) -> None:
    """Draw weights from N(0, 0.02^2) and scales of batch normalisation from N(1, 0.02^2); biases are zero.

    For `Module.apply`. LSTMs keep what torch gives them.
    """
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
        nn.init.normal_(module.weight, 0.0, _DEVIATION)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, _DEVIATION)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
