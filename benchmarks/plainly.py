"""The small VAE's layers as they are usually computed, for comparison with the forms that are shipped."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from unittest import mock

from torch import Tensor, nn
from torch.nn import functional as F

from sigmavae.models import conv
from sigmavae.models.transposed import TransposedConv2d


@contextmanager
def own_transposed() -> Iterator[None]:
    """Let torch's own transposed convolution compute the strided ones."""
    with mock.patch.object(TransposedConv2d, "forward", nn.ConvTranspose2d.forward), last_two_apart():
        yield


@contextmanager
def last_two_apart() -> Iterator[None]:
    """Compute the decoder's last layer on the large grid, after the one before it."""
    with mock.patch.object(conv, "last_two", lambda x, up, last: last(F.relu(up(x)))):
        yield


@contextmanager
def flat_linears() -> Iterator[None]:
    """Let linear layers see maps flattened, with a copy into that order."""
    with mock.patch.object(conv, "from_map", _from_map), mock.patch.object(conv, "to_map", _to_map):
        yield


@contextmanager
def all_layers() -> Iterator[None]:
    """Compute every layer as torch does."""
    with ExitStack() as stack:
        stack.enter_context(own_transposed())
        stack.enter_context(flat_linears())
        yield


def _from_map(x: Tensor, *linears: nn.Linear) -> list[Tensor]:
    flat = x.flatten(1)
    return [linear(flat) for linear in linears]


def _to_map(z: Tensor, linear: nn.Linear, shape: Sequence[int]) -> Tensor:
    return linear(z).unflatten(1, shape)
