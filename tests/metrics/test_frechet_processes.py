"""Two processes see half of the images each and find the distances of one."""

import socket
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing

from sigmavae.metrics.frechet import frechet
from tests.metrics.models import LinearGaussian, random_images
from tests.metrics.test_frechet import Pixels


def measured() -> dict[str, float]:
    extractor = Pixels()
    model, data = LinearGaussian([0.3, 0.1], 0.1), random_images(61)
    metrics = dict(frechet(model, data, "shared", seed=3, samples=41, extractor=extractor, batch=8))
    return metrics | {"fid_images_per_second": 0, "seen": extractor.seen}


def worker(rank: int, port: int, folder: Path) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.save([measured(), measured()], folder / f"rank{rank}.pt")
    distributed.destroy_process_group()


def test_two_processes_equal_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "two"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(worker, (port, tmp_path), nprocs=2)
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path / "one"))
    want = measured() | {"seen": 0}
    for rank, seen in ((0, 31 + 21), (1, 30 + 20)):
        first, second = torch.load(tmp_path / f"rank{rank}.pt", weights_only=True)
        assert first["seen"] == seen
        assert second["seen"] == seen - (31, 30)[rank]  # the real images' features are on disk by then
        for found in (first, second):
            assert found | {"seen": 0} == pytest.approx(want, rel=1e-9)
