"""Where a model computes, and that computing twice gives the same bits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

import torch
from lightning_fabric import Fabric
from torch import distributed


def best_device() -> torch.device:
    """Return the machine's accelerator, or the CPU where there is none."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return torch.device("cpu") if accelerator is None else accelerator


def best_precision(device: torch.device) -> Literal["32", "bf16-mixed"]:
    """Return the arithmetic in which small convolutions are fastest on a device.

    CPUs with bfloat16 instructions gain by them. A GPU waits for the small model's launches in either, and keeps 32.
    """
    if device.type == "cpu" and torch.cpu._is_avx512_bf16_supported():
        return "bf16-mixed"
    return "32"


def seed_noise(seed: int, device: torch.device) -> None:
    """Set the generators that a model on a device draws from, and not all there are: every step does it."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


@contextmanager
def repeatable() -> Iterator[None]:
    """Let a GPU use only algorithms whose sums do not depend on the order in which its threads arrive.

    Without this two runs of the same training on CUDA differ in their last bits after a few steps, and a resumed run
    differs from an uninterrupted one.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS needs for it; read when it starts
    memory: Any = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    memory.fill_uninitialized_memory = False  # we read no memory that was not written
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        memory.fill_uninitialized_memory = before[1]


def exit_at_once(code: int) -> None:
    """End one of several processes without Python's farewell; return where the program is only one.

    A group of processes that DistributedDataParallel has used keeps its threads until the program ends. One that wants
    the interpreter while that is being taken down aborts the program.
    """
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Others:
    """The other processes of a program: they wait for the first one's word, to begin or to leave."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric, self._waiting = fabric, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting:
            self._fabric.broadcast(False)

    def begin(self) -> None:
        """Let them begin."""
        self._waiting = False
        self._fabric.broadcast(True)

    @staticmethod
    def may_begin(fabric: Fabric) -> bool:
        """In another process: wait for the first one's word, and return it."""
        return fabric.broadcast(False)
