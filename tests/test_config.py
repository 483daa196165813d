"""Experiments survive JSON, and refuse what cannot be meant."""

import dataclasses
import json
from pathlib import Path

import pytest

from sigmavae.config import DataConfig, Experiment, LikelihoodConfig, TrainConfig, differences, from_json, to_json
from sigmavae.errors import ConfigError
from sigmavae.likelihoods import CATALOGUE
from sigmavae.models import HVAEConfig, SVGConfig
from sigmavae.recipes import hierarchies, names, recipe


@pytest.mark.parametrize("name", [*names(), *hierarchies()])
def test_every_recipe_survives_json(name: str):
    experiment = recipe(name)
    assert experiment.name == name
    assert from_json(json.loads(json.dumps(to_json(experiment)))) == experiment
    experiment.likelihood.build()


def test_every_likelihood_has_a_recipe():
    assert {likelihood for _, likelihood in names().values()} == set(CATALOGUE)


def test_hierarchies_exist_for_every_likelihood_and_are_the_papers_at_full_size():
    assert {likelihood for _, _, likelihood in hierarchies().values()} == set(CATALOGUE)
    full = recipe("celeba-hvae-categorical")
    assert full.model == HVAEConfig()
    assert (full.train.steps, full.train.batch, full.train.ema, full.data.size) == (40_000, 48, 0.9995, 32)
    assert (full.train.optimizer, full.train.lr, full.train.lr_decay, full.train.lr_floor) == (
        "adamax", 2e-3, 0.999999, 1e-4,
    )  # fmt: skip


def test_paths_survive_json():
    experiment = Experiment(data=DataConfig(path=Path("a/b"), size=32))
    assert from_json(to_json(experiment)) == experiment


def test_an_unknown_field_is_named():
    content = to_json(Experiment())
    content["train"]["betta"] = 1
    with pytest.raises(ConfigError, match="no field train.betta"):
        from_json(content)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("train.batch", 0), ("train.lr", -1.0), ("train.lr", float("nan")), ("train.ema", 1.0), ("train.steps", 0),
        ("train.clip", 0.0), ("train.outliers", 1.0), ("train.lr_decay", 1.1), ("train.lr_floor", -1.0), ("seed", -1),
        ("likelihood.beta", 0.0), ("model.latent", 0), ("precision", "16"),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused_by_name(path: str, value: object):
    content = to_json(Experiment())
    inner = content
    *parts, last = path.split(".")
    for part in parts:
        inner = inner[part]
    inner[last] = value
    with pytest.raises(ConfigError, match=f"{path}="):
        from_json(content)


def test_a_batch_that_devices_cannot_share_is_refused():
    with pytest.raises(ConfigError, match="train.batch=100: must be a multiple of the 3 devices"):
        Experiment(devices=3, train=TrainConfig(batch=100))


def test_options_a_likelihood_does_not_take_are_named():
    with pytest.raises(ConfigError, match="'gaussian' has no option 'beta'"):
        LikelihoodConfig("gaussian", beta=1.0).build()


def test_sigmas_of_frames_are_for_videos():
    with pytest.raises(ConfigError, match="likelihood.frames=3: is for models of videos; leave it out"):
        Experiment(likelihood=LikelihoodConfig(frames=3))
    Experiment(likelihood=LikelihoodConfig(frames=3), model=SVGConfig())


def test_options_reach_the_likelihood():
    assert LikelihoodConfig("optimal-sigma", source="validation").build().held_out
    assert float(LikelihoodConfig("beta", beta=0.02).build().sigma) == pytest.approx(0.1)


def test_differences_are_listed_by_field():
    one = Experiment()
    other = dataclasses.replace(one, seed=3, train=TrainConfig(lr=0.1))
    assert differences(to_json(one), to_json(other)) == ["seed: 0 -> 3", "train.lr: 0.001 -> 0.1"]
    assert differences(to_json(one), to_json(one)) == []


def test_a_misspelt_recipe_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'fashion-optimal'"):
        recipe("fashion-optimum")
