"""Checkpoints: safetensors beside JSON, complete or not there at all.

checkpoints/step-00000200/tensors.safetensors    model, optimizer and averaged weights
checkpoints/step-00000200/state.json             the step, the optimizer's settings, and the tensors' checksum

A folder is written under another name and renamed once all of it is on disk. The last two are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

KEPT = 2
_TENSORS, _STATE = "tensors.safetensors", "state.json"


@dataclass(frozen=True)
class Checkpoint:
    """A step, and everything that training on from it needs."""

    step: int
    tensors: dict[str, Tensor]
    optimizer_groups: list[dict[str, Any]]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint under folder/checkpoints, remove all but the last two, and return its path."""
    root = folder / "checkpoints"
    final = root / f"step-{checkpoint.step:08d}"
    temporary = root / f".{final.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    save_file({k: t.detach().cpu().contiguous() for k, t in checkpoint.tensors.items()}, temporary / _TENSORS)
    state = {
        "step": checkpoint.step,
        "optimizer_groups": checkpoint.optimizer_groups,
        "sha256": _sha256(temporary / _TENSORS),
    }
    (temporary / _STATE).write_text(json.dumps(state, indent=2), encoding="utf-8")
    for path in (temporary / _TENSORS, temporary / _STATE, temporary):
        _flush(path)
    shutil.rmtree(final, ignore_errors=True)
    temporary.rename(final)
    _flush(root)
    for old in sorted(root.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old)
    return final


def latest_checkpoint(folder: Path, warn: Callable[[str], None], device: torch.device) -> Checkpoint | None:
    """Return the newest checkpoint that is whole, naming damaged ones to `warn`; None if there is none."""
    for path in sorted((folder / "checkpoints").glob("step-*"), reverse=True):
        try:
            return _load(path, device)
        except (OSError, ValueError, KeyError, TypeError) as error:
            warn(f"checkpoint {path} is damaged ({error}); using the one before it")
            shutil.rmtree(path)
    return None


def latest_path(folder: Path) -> Path | None:
    """Return where the newest checkpoint is."""
    return max((folder / "checkpoints").glob("step-*"), default=None)


def _load(path: Path, device: torch.device) -> Checkpoint:
    state = json.loads((path / _STATE).read_text(encoding="utf-8"))
    if _sha256(path / _TENSORS) != state["sha256"]:
        raise ValueError(f"{_TENSORS} does not match its checksum")
    return Checkpoint(int(state["step"]), load_file(path / _TENSORS, device=str(device)), state["optimizer_groups"])


def pack_optimizer(state: Mapping[str, Any]) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Split an optimizer's state_dict into named tensors and its groups' plain settings."""
    tensors = {
        f"{index}.{name}": value if isinstance(value, Tensor) else torch.tensor(value)
        for index, values in state["state"].items()
        for name, value in values.items()
    }
    return tensors, list(state["param_groups"])


def unpack_optimizer(tensors: Mapping[str, Tensor], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the state_dict that `pack_optimizer` split."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    return {"state": state, "param_groups": groups}


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with a prefix before each name."""
    return {f"{prefix}.{name}": value for name, value in tensors.items()}


def under_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose name has the prefix, without it."""
    return {name[len(prefix) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{prefix}.")}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
