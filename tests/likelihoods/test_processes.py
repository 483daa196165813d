"""Two processes with half the batch each give the loss, the gradients and the running sigma of one."""

import socket
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing
from torch.nn.parallel import DistributedDataParallel

from tests.cases import CASES, Case


class Decoder(torch.nn.Module):
    """A linear decoder with a likelihood, as a user would write it."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.likelihood = case.make(torch.float64)
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


def worker(rank: int, port: int, folder: Path) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    every = {}
    for case in CASES:
        model = DistributedDataParallel(Decoder(case))
        z, x = batch()
        half = slice(3 * rank, 3 * rank + 3)
        loss = model(z[half], x[half])
        loss.backward()
        total = loss.detach().clone()
        distributed.all_reduce(total)
        every[str(case)] = results(model.module, total / 2)
    torch.save(every, folder / f"rank{rank}.pt")
    distributed.destroy_process_group()


def test_two_processes_equal_one(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(worker, (port, tmp_path), nprocs=2)
    ranks = [torch.load(tmp_path / f"rank{rank}.pt", weights_only=True) for rank in range(2)]
    for case in CASES:
        model = Decoder(case)
        loss = model(*batch())
        loss.backward()
        for name, want in results(model, loss).items():
            for rank in ranks:
                torch.testing.assert_close(rank[str(case)][name], want, msg=lambda m, c=case, n=name: f"{c} {n}: {m}")


@pytest.mark.parametrize("name", ["optimal-sigma", "image-sigma"])
def test_a_half_batch_alone_would_differ(name: str):
    # The property above is about the reduction: without it the two halves have other scales.
    z, x = batch()
    model = Decoder(Case(name))
    whole, half = model(z, x), model(z[:3], x[:3])
    assert float(whole.detach()) != pytest.approx(float(half.detach()), rel=1e-6)
