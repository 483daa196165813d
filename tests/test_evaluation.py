"""Metrics of a run: kept with what they depend on, measured once, and recalibrated beside and not instead."""

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sigmavae.cli import main
from sigmavae.config import DataConfig, LikelihoodConfig
from sigmavae.data import Splits
from sigmavae.errors import MetricError, RunError
from sigmavae.evaluation import measure, merge, recalibrated, recall
from sigmavae.metrics.catalogue import METRICS, Options, Subject
from sigmavae.metrics.inception import find_inception
from sigmavae.verbs.measured import series
from tests.metrics.models import random_images, random_videos, small_svg, small_vae
from tests.metrics.test_sigma import splits as constant_splits
from tests.training.runs import finish, tiny


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation") / "run"
    finish(tiny(), folder)
    return folder


def subject(name: str = "optimal-sigma", **options) -> Subject:
    shape = (1, 8, 8)
    parts = [random_images(count, shape, seed) for seed, count in enumerate((60, 40, 50))]
    data = dataclasses.replace(constant_splits(2, 2, 2), train=parts[0], validation=parts[1], test=parts[2])
    return Subject(small_vae(name, **options), data, "test", seed=0, training_batch=16)


def test_a_training_run_and_evaluate_keep_the_bound_alike(trained: Path):
    result = json.loads((trained / "result.json").read_text())
    kept = recall(trained / "result.json", "bound", {"split": "test", "seed": 0})
    assert kept is not None
    assert kept.values == result["metrics"]
    assert not kept.fresh


def test_what_was_measured_is_recalled_only_with_the_same_settings(tmp_path: Path):
    path = tmp_path / "result.json"
    found = measure("importance", subject(), Options(k=2))
    merge(path, found, {"name": "mine"})
    assert recall(path, "importance", found.settings) == dataclasses.replace(found, fresh=False)
    assert recall(path, "importance", {**found.settings, "k": 3}) is None
    assert recall(path, "bound", found.settings) is None
    assert recall(tmp_path / "other.json", "importance", found.settings) is None


def test_measuring_anew_takes_back_what_is_no_longer_measured(tmp_path: Path):
    path = tmp_path / "result.json"
    found = measure("bound", subject())
    merge(path, dataclasses.replace(found, values={"old": 1.0, "nll": 2.0}), {})
    merge(path, dataclasses.replace(found, name="another", values={"kept": 3.0}), {})
    merge(path, found, {})
    assert json.loads(path.read_text())["metrics"] == dict(found.values) | {"kept": 3.0}


def test_a_recalibrated_sigma_is_that_of_the_validation_images():
    before = subject()
    after = recalibrated(before)
    exact = dict(measure("sigma", dataclasses.replace(before, split="validation")).values)["sigma_exact_validation"]
    own, refitted = measure("bound", before), measure("bound", after, ending="_recalibrated")
    # the exact one is an average over several codes an image
    assert refitted.values["sigma_recalibrated"] == pytest.approx(exact, rel=0.01)
    assert own.values["sigma"] != refitted.values["sigma_recalibrated"]
    assert own.values["rate"] == refitted.values["rate_recalibrated"]
    assert "scale refitted" in refitted.protocol
    on_validation = [
        measure("bound", dataclasses.replace(each, split="validation")).values["nll"] for each in (before, after)
    ]
    assert on_validation[1] < on_validation[0]


def test_a_decoder_without_such_a_scale_says_so():
    with pytest.raises(MetricError, match="--recalibrate: Categorical has no scale"):
        recalibrated(subject("categorical"))


@pytest.mark.parametrize("name", ["bound", "information"])
def test_a_model_whose_weights_are_not_finite_is_named_as_such(name: str):
    broken = subject()
    with torch.no_grad():
        next(broken.model.parameters()).fill_(math.nan)
    with pytest.raises(RunError, match="training diverged"):
        measure(name, broken)


def test_metrics_that_do_not_apply_are_left_out_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    np.save(tmp_path / "data.npy", random_images(60, (8, 8)))
    data = DataConfig(name="arrays", path=tmp_path / "data.npy")
    experiment = tiny(LikelihoodConfig("categorical"), steps=1, validate_every=1)
    finish(dataclasses.replace(experiment, data=data), tmp_path / "run")
    assert main(["evaluate", str(tmp_path / "run"), "--split", "train"]) == 0
    assert "left out: sigma: Categorical has no single sigma" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "run"), "--metrics", "sigma"]) == 2
    assert "sigma: Categorical has no single sigma" in capsys.readouterr().err


def test_two_processes_measure_what_one_does(trained: Path):
    def measured(*words: str) -> dict[str, float]:
        command = [sys.executable, "-m", "sigmavae", "evaluate", str(trained), "--split", "validation", "--again"]
        metrics = ["--metrics", "bound", "importance", "sigma", "--k", "2", "--recalibrate"]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, *metrics, *words], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads((trained / "evaluation-validation.json").read_text())["metrics"]

    one = measured("--batch", "100")
    two = measured("--devices", "2", "--batch", "33")
    assert {"nll", "nll_recalibrated", "nll_importance", "sigma_exact_test"} <= one.keys()
    assert two == pytest.approx(one, rel=1e-5, abs=1e-5)


def of_videos() -> Subject:
    splits = Splits(*[random_videos(4)] * 3, source="random videos", fingerprint="0")
    return Subject(small_svg(), splits, "test", 0, 2)


def test_every_metric_says_how_it_was_measured_and_gives_finite_numbers():
    for name in METRICS:
        if name == "fid" and not_at_hand():
            continue
        found = measure(name, of_videos() if name == "video" else subject(), Options(k=2, samples=8, futures=2))
        assert found.protocol
        assert all(math.isfinite(value) for value in found.values.values())
        json.dumps(found.entry())


def not_at_hand() -> bool:
    try:
        find_inception()
    except MetricError:
        return True
    return False


def test_numbered_values_are_a_series():
    values = {"pit_00": 0.1, "pit_01": 0.2, "pit_00_stderr": 9.0, "nll": 1.0, "prior_pit_00": 0.3}
    assert series(values) == {"pit": {"00": 0.1, "01": 0.2}, "prior_pit": {"00": 0.3}}


def test_what_was_measured_before_another_failed_is_shown_and_kept(trained: Path, capsys: pytest.CaptureFixture[str]):
    missing = str(trained / "no.pt")
    words = ["evaluate", str(trained), "--split", "train", "--metrics", "bound", "fid", "--inception", missing]
    assert main(words) == 2
    shown = capsys.readouterr()
    assert "nll_discrete" in shown.out
    assert "no such file" in shown.err
    assert recall(trained / "evaluation-train.json", "bound", {"split": "train", "seed": 0}) is not None
