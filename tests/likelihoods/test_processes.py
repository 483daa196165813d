"""Two processes with half the batch each give the loss, the gradients and the running sigma of one."""

import itertools
from pathlib import Path

import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import sigmavae
from tests.cases import CASES, Case
from tests.processes import in_two


class Decoder(torch.nn.Module):
    """A linear decoder with a likelihood, as a user would write it."""

    def __init__(self, case: Case, fused: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        likelihood = case.make(torch.float64)
        self.likelihood = sigmavae.FusedHead(likelihood, 5, 3).double() if fused else likelihood
        self.linear = torch.nn.Linear(6, self.likelihood.features(3), dtype=torch.float64)

    def forward(self, z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return -self.likelihood(self.linear(z), x).log_prob(x).mean()


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    return z, torch.randint(0, 256, (6, 3), generator=generator).double() / 255


def results(model: torch.nn.Module, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    gradients = {f"gradient.{n}": p.grad for n, p in model.named_parameters() if p.grad is not None}
    return {"loss": loss.detach(), **gradients, **{f"buffer.{n}": b.clone() for n, b in model.named_buffers()}}


def halves() -> dict[str, dict[str, torch.Tensor]]:
    every = {}
    for case, fused in itertools.product(CASES, (False, True)):
        model = DistributedDataParallel(Decoder(case, fused))
        z, x = batch()
        first = 3 * distributed.get_rank()
        loss = model(z[first : first + 3], x[first : first + 3])
        loss.backward()
        total = loss.detach().clone()
        distributed.all_reduce(total)
        every[f"{case} {fused}"] = results(model.module, total / 2)
    return every


def test_two_processes_equal_one(tmp_path: Path):
    ranks = in_two(halves, tmp_path)
    for case, fused in itertools.product(CASES, (False, True)):
        model, key = Decoder(case, fused), f"{case} {fused}"
        loss = model(*batch())
        loss.backward()
        for name, want in results(model, loss).items():
            for rank in ranks:
                torch.testing.assert_close(rank[key][name], want, msg=lambda m, c=key, n=name: f"{c} {n}: {m}")


@pytest.mark.parametrize("name", ["optimal-sigma", "image-sigma"])
def test_a_half_batch_alone_would_differ(name: str):
    # The property above is about the reduction: without it the two halves have other scales.
    z, x = batch()
    model = Decoder(Case(name))
    whole, half = model(z, x), model(z[:3], x[:3])
    assert float(whole.detach()) != pytest.approx(float(half.detach()), rel=1e-6)
