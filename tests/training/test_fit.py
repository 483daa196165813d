"""The loop: what it minimises, what stops it, and what it tells."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from sigmavae.config import LikelihoodConfig
from sigmavae.errors import DivergedError
from sigmavae.models import ConvVAE
from sigmavae.run import run
from sigmavae.training.guard import Guard
from sigmavae.training.journal import Journal
from tests.training.runs import Watcher, finish, tiny


def test_training_improves_the_bound(tmp_path: Path):
    finish(tiny(steps=60, batch=64), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    curve = [line["nll"] for line in lines if line["split"] == "validation"]
    assert curve[-1] < curve[0] - 100


def test_a_learning_rate_that_explodes_stops_with_step_quantity_and_checkpoint(tmp_path: Path):
    experiment = tiny(LikelihoodConfig("gaussian"), steps=40, lr=1e30)
    with pytest.raises(DivergedError, match=r"step \d+: .*(rate|distortion).* is NaN or infinite.*--train.lr"):
        finish(experiment, tmp_path)
    assert not (tmp_path / "result.json").exists()


class Poison(Watcher):
    """Spoils the model after a step, as a bad update would."""

    def __init__(self, spoil: Callable[[ConvVAE], None], step: int) -> None:
        super().__init__()
        self.spoil, self.step = spoil, step
        self.models: list[ConvVAE] = []

    def advance(self, done: int, values: Mapping[str, float | None]) -> None:
        super().advance(done, values)
        if done == self.step:
            self.spoil(self.models[0])


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[ConvVAE]:
    """The models that are built during the test."""
    models: list[ConvVAE] = []
    build = ConvVAE.__init__

    def remember(self, *arguments):
        build(self, *arguments)
        models.append(self)

    monkeypatch.setattr(ConvVAE, "__init__", remember)
    return models


def weight_becomes_nan(model: ConvVAE) -> None:
    with torch.no_grad():
        model.mean.bias[0] = torch.nan


def next_gradient_becomes_nan(model: ConvVAE) -> None:
    model.mean.bias.register_hook(lambda gradient: gradient * torch.nan)


def test_a_nan_names_the_step_a_tensor_and_the_last_good_checkpoint(built: list[ConvVAE], tmp_path: Path):
    watcher = Poison(weight_becomes_nan, 6)
    watcher.models = built
    with pytest.raises(DivergedError) as caught:
        run(tiny(), tmp_path, watcher)
    message = str(caught.value)
    assert message.startswith("step 7: distortion and rate is NaN or infinite; not finite by now: encoder.0.weight")
    assert f"The last good checkpoint is {tmp_path / 'checkpoints' / 'step-00000004'}" in message
    assert "NaN" not in (tmp_path / "metrics.jsonl").read_text()


def test_no_checkpoint_is_written_of_weights_that_are_not_finite(built: list[ConvVAE], tmp_path: Path):
    watcher = Poison(next_gradient_becomes_nan, 7)  # step 8 has a finite loss, a bad gradient, and a checkpoint due
    watcher.models = built
    with pytest.raises(DivergedError, match=r"step 8: mean\.bias is NaN or infinite"):
        run(tiny(), tmp_path, watcher)
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step-00000004"]


def test_the_guard_remembers_the_first_bad_step_of_each_quantity():
    guard = Guard(("a", "b"), torch.device("cpu"))
    guard.watch(1, torch.tensor([1.0, 2.0]))
    assert guard.verdict() is None
    guard.watch(2, torch.tensor([1.0, torch.inf]))
    guard.watch(3, torch.tensor([torch.nan, torch.nan]))
    assert guard.verdict() == (2, ["b"])


def test_averaged_weights_are_evaluated_when_asked_for(whole: Path, tmp_path: Path):
    finish(tiny(ema=0.5), tmp_path)
    raw, averaged = load_file(whole / "model.safetensors"), load_file(tmp_path / "model.safetensors")
    assert raw.keys() == averaged.keys()
    assert not torch.equal(raw["mean.weight"], averaged["mean.weight"])
    latest = load_file(tmp_path / "checkpoints" / "step-00000012" / "tensors.safetensors")
    assert torch.equal(latest["model.mean.weight"], raw["mean.weight"]), "averaging must not change the training"
    assert torch.equal(latest["average.module.mean.weight"], averaged["mean.weight"])


def test_a_sigma_from_validation_differs_from_one_from_training(whole: Path, tmp_path: Path):
    finish(tiny(LikelihoodConfig("optimal-sigma", source="validation")), tmp_path)
    one, other = (load_file(f / "model.safetensors") for f in (whole, tmp_path))
    assert float(other["likelihood.running.updates"]) == 3  # steps 0, 4 and 8
    assert float(one["likelihood.running.updates"]) == 12


def test_bf16_trains_and_the_likelihood_stays_in_float32(tmp_path: Path):
    result = finish(dataclasses.replace(tiny(), precision="bf16-mixed"), tmp_path)
    assert result["metrics"]["nll"] < 735
    assert {value.dtype for value in load_file(tmp_path / "model.safetensors").values()} == {torch.float32}


def test_clipping_changes_the_weights(whole: Path, tmp_path: Path):
    finish(tiny(clip=0.1), tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() != (whole / "model.safetensors").read_bytes()


def test_tensorboard_is_written_when_it_is_installed(whole: Path):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    assert list((whole / "tensorboard").glob("events.*"))


def test_the_journal_takes_back_what_came_after_the_checkpoint(tmp_path: Path):
    (tmp_path / "metrics.jsonl").write_text(
        '{"step": 5, "seconds": 1.5}\n{"step": 10, "seconds": 3.0}\n{"step": 15, "sec'
    )
    journal = Journal(tmp_path, 5)
    assert journal.seconds == 1.5
    journal.write({"step": 6})
    assert Journal.read(tmp_path) == [{"step": 5, "seconds": 1.5}, {"step": 6}]
