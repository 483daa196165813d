"""Recipes for videos: complete experiments, and what the original's decoder is."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from sigmavae.cli import main
from sigmavae.config import DataConfig, Experiment, TrainConfig, from_json, to_json
from sigmavae.data import Splits, load
from sigmavae.data.catalogue import VIDEOS
from sigmavae.errors import ConfigError
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.models import SVG, LatentModel, SVGConfig
from sigmavae.progress import Silent
from sigmavae.recipes import names, recipe
from sigmavae.run import build
from sigmavae.training.fit import fit, make_fabric
from sigmavae.video_recipes import video_recipes
from tests.data.files import gif, pixels, write_idx
from tests.data.real import real
from tests.training.runs import Watcher

TINY = ["--model.width", "2", "--model.g", "4", "--model.rnn", "4", "--model.z", "2", "--model.past", "2"]
TINY += ["--model.future", "2", "--train.batch", "2", "--train.steps", "2", "--precision", "32"]


def test_every_video_set_has_a_recipe_for_every_likelihood():
    found = video_recipes()
    assert found.keys() >= {f"{data}-svg-{short}" for data in VIDEOS for short in [*SHORT_NAMES.values(), "original"]}
    assert found.keys() >= {f"moving-mnist-narrow-{short}" for short in [*SHORT_NAMES.values(), "original"]}
    assert not found.keys() & names().keys()


@pytest.mark.parametrize("name", video_recipes())
def test_recipes_are_complete_and_survive_json(name: str):
    experiment = recipe(name)
    assert experiment.name == name
    assert isinstance(experiment.model, SVGConfig)
    assert from_json(to_json(experiment)) == experiment
    with torch.device("meta"):
        channels = experiment.data.channels or (1 if "mnist" in name else 3)
        shape = (30, channels, 64, 64)
        experiment.model.build(shape, experiment.likelihood.build(shape))


def test_the_originals_decoder():
    bair = recipe("bair-svg-original")
    assert float(bair.likelihood.build((30, 3, 64, 64)).sigma) == pytest.approx(0.7838, abs=1e-4)
    assert (bair.model.skips, bair.model.score_past) == ("before-last", True)
    assert (bair.train.lr, bair.train.batch, bair.train.steps) == (2e-3, 100, 300 * 600)
    moving = recipe("moving-mnist-narrow-original")
    assert float(moving.likelihood.build((30, 1, 64, 64)).sigma) ** 2 == pytest.approx(4096 * 1e-4 / 2)
    assert recipe("moving-mnist-narrow-optimal").train == moving.train


@pytest.mark.parametrize(
    ("words", "beta"),
    [
        ([], 3 * 16 * 16 * 1e-4),
        (["--data.channels", "1"], 16 * 16 * 1e-4),
        (["--data.size", "32"], 3 * 32 * 32 * 1e-4),
        (["--likelihood.beta", "0.5"], 0.5),
    ],
    ids=str,
)
def test_the_originals_beta_is_of_the_data_trained_on(words: list[str], beta: float, tmp_path: Path):
    for number in range(4):
        (tmp_path / f"{number}.gif").write_bytes(gif(pixels(5, 16, 16, 3, seed=number)))
    size = [] if "--data.size" in words else ["--data.size", "16"]
    command = ["train", "videos-svg-original", *TINY, "--data.path", str(tmp_path), *size, *words]
    assert main([*command, "--train.steps", "1", "--out", str(tmp_path / "run")]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["metrics"]["sigma"] == pytest.approx((beta / 2) ** 0.5)


def test_a_misspelt_one_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'bair-svg-optimal'"):
        recipe("bair-svg-optimum")


def test_a_run_on_moving_digits_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    from sigmavae.data import moving_mnist

    monkeypatch.setattr(moving_mnist, "_COUNTS", {"train": 8, "validation": 3, "test": 3})
    digits = write_idx(tmp_path, pixels(20, 28, 28, seed=1), pixels(10, 28, 28, seed=2))
    run = tmp_path / "run"
    words = ["train", "moving-mnist-narrow-optimal", *TINY, "--data.path", str(digits), "--data.frames", "5"]
    assert main([*words, "--out", str(run)]) == 0
    assert {each.name for each in (run / "pictures").iterdir()} == {
        "real.png", "reconstructions.png", "samples.png", "samples.gif",
    }  # fmt: skip
    assert main(["sample", str(run), "--n", "4", "--video", "1"]) == 0
    assert (run / "samples.gif").exists()
    assert (run / "samples.png").exists()
    assert "the best of 4 futures" in capsys.readouterr().out
    assert main(["sample", str(run), "--video", "3"]) == 2
    assert "--video 3: the test split has videos 0 to 2" in capsys.readouterr().err
    assert main(["sample", str(run), "--n", "2", "--out", str(tmp_path / "two.gif")]) == 0
    assert "the best of 2 futures by PSNR; a random one\n" in capsys.readouterr().out
    for name, kind in (("two.gif", "GIF"), ("two.png", "PNG")):
        with Image.open(tmp_path / name) as picture:
            assert picture.format == kind
    assert main(["evaluate", str(run), "--metrics", "fid"]) == 2
    assert "SVG continues given frames and draws no images from nothing; ask for video" in capsys.readouterr().err
    assert main(["reconstruct", str(run), "--n", "2"]) == 0
    assert main(["evaluate", str(run), "--metrics", "video", "--futures", "2"]) == 0
    shown = capsys.readouterr().out
    assert "video_nll_frame" in shown
    assert "2 futures of each, on the 3 test videos of 5 frames" in shown
    assert main(["evaluate", str(run), "--recalibrate"]) == 0
    shown = capsys.readouterr().out
    assert (
        "8-bit values of the predicted frames, one latent code a frame after the first, on the 3 test videos" in shown
    )
    assert "prior" not in shown.split("calibration")[1].splitlines()[0]
    assert main(["report", str(tmp_path)]) == 0


@pytest.mark.parametrize("which", ["optimal", "original"])
def test_a_run_on_real_robot_pushing(tmp_path: Path, which: str):
    words = [
        "train",
        f"bair-svg-{which}",
        *TINY,
        "--data.path",
        str(real("bair/savp_groundtruth_8seq_gifquantised.npz")),
    ]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0


def test_many_videos_are_reconstructed_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from sigmavae.data import moving_mnist
    from sigmavae.verbs import reconstruct

    monkeypatch.setattr(moving_mnist, "_COUNTS", {"train": 4, "validation": 2, "test": 5})
    digits = write_idx(tmp_path, pixels(20, 28, 28, seed=1), pixels(10, 28, 28, seed=2))
    run = tmp_path / "run"
    words = ["train", "moving-mnist-narrow-optimal", *TINY, "--data.path", str(digits), "--data.frames", "5"]
    assert main([*words, "--out", str(run)]) == 0
    sizes = []
    original = SVG.reconstruct
    monkeypatch.setattr(SVG, "reconstruct", lambda net, x, *more: sizes.append(len(x)) or original(net, x, *more))
    monkeypatch.setattr(reconstruct, "BATCH", 2)
    assert main(["reconstruct", str(run), "--n", "5"]) == 0
    assert sizes == [2, 2, 1]


def test_a_run_that_is_stopped_ends_with_the_same_weights(tmp_path: Path):
    digits = write_idx(tmp_path, pixels(20, 28, 28, seed=1), pixels(10, 28, 28, seed=2))
    experiment = dataclasses.replace(
        recipe("moving-mnist-narrow-optimal"),
        precision="32",
        data=DataConfig("moving-mnist", path=digits, frames=6),
        model=SVGConfig(past=2, future=2, backbone="dcgan", g=4, z=2, rnn=4, width=2),
        train=TrainConfig(steps=4, batch=3, log_every=1, validate_every=3, checkpoint_every=2),
    )
    splits = load(experiment.data, Silent())
    found = []
    for name, stop in (("one", None), ("other", 3)):
        folder = tmp_path / name
        if stop:
            with pytest.raises(KeyboardInterrupt):
                _train(experiment, splits, folder, Watcher(stop_after=stop))
        found.append(_train(experiment, splits, folder, Watcher()).state_dict())
    assert all(torch.equal(found[0][key], found[1][key]) for key in found[0])


def test_averaged_weights_have_statistics_of_their_own(tmp_path: Path):
    digits = write_idx(tmp_path, pixels(20, 28, 28, seed=1), pixels(10, 28, 28, seed=2))
    experiment = dataclasses.replace(
        recipe("moving-mnist-narrow-optimal"),
        precision="32",
        data=DataConfig("moving-mnist", path=digits, frames=4),
        model=SVGConfig(past=2, future=2, backbone="dcgan", g=4, z=2, rnn=4, width=2),
        train=TrainConfig(steps=3, batch=2, ema=0.9, checkpoint_every=3),
    )
    splits = load(experiment.data, Silent())
    first, again = (_train(experiment, splits, tmp_path, Watcher()).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    saved = load_file(tmp_path / "checkpoints" / "step-00000003" / "tensors.safetensors")
    changed = {n for n in first if not torch.equal(first[n], saved[f"average.module.{n}"].reshape(first[n].shape))}
    assert changed == {n for n in first if "running_" in n or "num_batches" in n}


def _train(experiment: Experiment, splits: Splits, folder: Path, progress: Watcher) -> LatentModel:
    fabric = make_fabric(experiment, folder)
    return fit(experiment, build(experiment, splits), splits, folder, fabric, progress)


def test_a_run_on_a_folder_of_videos(tmp_path: Path):
    for number in range(6):
        (tmp_path / f"{number}.gif").write_bytes(gif(pixels(7, 20, 20, 3, seed=number)))
    words = ["train", "videos-svg-student-t", *TINY, "--data.path", str(tmp_path), "--data.size", "16"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["data"]["shape"] == [7, 3, 16, 16]
    assert result["metrics"]["nll_per_frame"] == pytest.approx(result["metrics"]["nll"] / 5)
