"""Two processes that form a group, for tests that what they do together is what one does."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import distributed, multiprocessing

from sigmavae.devices import exit_at_once


def in_two(work: Callable[[], Any], folder: Path) -> list[Any]:
    """Return what a function gives in each of two processes, in the order of their ranks."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(_one, (port, folder, work), nprocs=2)
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(2)]


def _one(rank: int, port: int, folder: Path, work: Callable[[], Any]) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.save(work(), folder / f"rank{rank}.pt")
    exit_at_once(0)
