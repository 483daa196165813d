"""Checkpoints are whole or not there, and a damaged one is passed over by name."""

import json
from pathlib import Path

import pytest
import torch

from sigmavae.run import run
from sigmavae.training.checkpoint import (
    Checkpoint,
    latest_checkpoint,
    pack_optimizer,
    save_checkpoint,
    unpack_optimizer,
)
from tests.training.runs import Watcher, tiny

CPU = torch.device("cpu")


def saved(folder: Path, *steps: int) -> list[Path]:
    return [save_checkpoint(folder, Checkpoint(s, {"model.w": torch.full((3,), float(s))}, [])) for s in steps]


def test_the_last_two_are_kept(tmp_path: Path):
    saved(tmp_path, 5, 10, 15)
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["step-00000010", "step-00000015"]
    found = latest_checkpoint(tmp_path, print, CPU)
    assert found is not None
    assert found.step == 15
    assert torch.equal(found.tensors["model.w"], torch.full((3,), 15.0))


@pytest.mark.parametrize("damage", ["flip", "cut", "remove tensors", "remove state", "cut state"])
def test_a_damaged_one_is_named_and_the_one_before_it_used(damage: str, tmp_path: Path):
    newest = saved(tmp_path, 5, 10)[-1]
    tensors, state = newest / "tensors.safetensors", newest / "state.json"
    if damage == "flip":
        content = bytearray(tensors.read_bytes())
        content[-2] ^= 1
        tensors.write_bytes(content)
    elif damage == "cut":
        tensors.write_bytes(tensors.read_bytes()[:-4])
    elif damage == "remove tensors":
        tensors.unlink()
    elif damage == "remove state":
        state.unlink()
    else:
        state.write_text(state.read_text()[:20])
    said: list[str] = []
    found = latest_checkpoint(tmp_path, said.append, CPU)
    assert found is not None
    assert found.step == 5
    assert str(newest) in said[0]
    assert "is damaged" in said[0]


def test_a_write_that_was_cut_short_is_not_seen(tmp_path: Path):
    saved(tmp_path, 5)
    half = tmp_path / "checkpoints" / ".step-00000010.tmp"
    half.mkdir()
    (half / "tensors.safetensors").write_bytes(b"half")
    found = latest_checkpoint(tmp_path, pytest.fail, CPU)
    assert found is not None
    assert found.step == 5
    saved(tmp_path, 10)
    assert not half.exists()


def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(whole: Path, tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        run(tiny(), tmp_path, Watcher(stop_after=11))
    (tmp_path / "checkpoints" / "step-00000008" / "tensors.safetensors").write_bytes(b"")
    watcher = Watcher()
    run(tiny(), tmp_path, watcher)
    assert watcher.begun[0][2] == 4
    assert any("step-00000008" in text for text in watcher.said)
    assert (tmp_path / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_an_optimizer_survives_packing_and_json():
    parameter = torch.nn.Parameter(torch.randn(4, 3))
    optimiser = torch.optim.Adam([parameter], lr=0.01, fused=True)
    parameter.grad = torch.randn(4, 3)
    optimiser.step()
    tensors, groups = pack_optimizer(optimiser.state_dict())
    other = torch.optim.Adam([parameter], lr=0.5, fused=True)
    other.load_state_dict(unpack_optimizer(tensors, json.loads(json.dumps(groups))))
    assert other.param_groups[0]["lr"] == 0.01
    for key, value in optimiser.state[parameter].items():
        assert torch.equal(other.state[parameter][key], value)
