"""What a fused head makes on its way is bounded by a tile, its inputs and its weight, whatever the data's shape."""

import subprocess
import sys

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import sigmavae
from tests.cases import Case, over
from tests.likelihoods.test_head import MANY

TILE = 1 << 18  # bytes


class Largest(TorchDispatchMode):
    """The bytes of the largest tensor that any operation returns."""

    bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, list | tuple) else [made]:
            if isinstance(one, Tensor):
                self.bytes = max(self.bytes, one.untyped_storage().nbytes())
        return made


@pytest.mark.parametrize("event", [(4,), (3, 2, 2), (3, 40, 40)], ids=str)
@over(MANY)
def test_nothing_is_larger_than_a_few_tiles(case: Case, event: tuple[int, ...]):
    width = 64
    batch = max(1, 512 // max(1, torch.Size(event[1:]).numel()))
    head = sigmavae.FusedHead(case.make(), width, event[0], TILE)
    inputs, x = torch.randn(batch, width, *event[1:], requires_grad=True), torch.rand(batch, *event)
    with Largest() as largest:
        head(inputs, x).log_prob(x).sum().backward()
    assert largest.bytes <= 3 * max(TILE, inputs.nbytes, head.weight.nbytes)


MEMORY = """
import resource, torch, sigmavae
torch.set_num_threads(1)
head = sigmavae.FusedHead(sigmavae.likelihood("categorical"), width=8)
def step(side):
    f, x = torch.randn(1, 8, side, side, requires_grad=True), torch.rand(1, 3, side, side)
    head(f, x).log_prob(x).sum().backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step(64)
print(-step(64) + step(256))
"""


def test_an_image_of_many_logits_takes_little_memory():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 256 * 256 * 768 * 4 / 1024 / 4  # kilobytes: a quarter of the logits alone


@over(MANY)
def test_a_mean_keeps_no_tile_for_its_gradient(case: Case):
    head = sigmavae.FusedHead(case.make(), 4, 3, TILE)
    inputs = torch.randn(2, 4, 30, 30, requires_grad=True)
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        mean = head(inputs).mean
    assert mean.requires_grad
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    assert sum(storages.values()) <= 4 * inputs.nbytes + head.weight.nbytes + head.bias.nbytes
    want = torch.autograd.grad(mean.square().sum(), inputs)
    h = torch.nn.functional.conv2d(inputs, head.weight[..., None, None], head.bias)
    torch.testing.assert_close(torch.autograd.grad(head.likelihood(h).mean.square().sum(), inputs), want)
