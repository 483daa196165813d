"""A run: an experiment carried out in a folder, once, however often it is asked for.

RUN/experiment.json       what was asked for
RUN/metrics.jsonl         learning curves, a line an interval
RUN/checkpoints/          the last two checkpoints
RUN/model.safetensors     final weights
RUN/pictures/             real images, their reconstructions, samples
RUN/result.json           the metrics; written last
"""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

import sigmavae
from sigmavae.config import Experiment, differences, from_json, to_json
from sigmavae.data import Splits, load, to_unit
from sigmavae.devices import Others, best_device, best_precision
from sigmavae.errors import ConfigError, RunError
from sigmavae.evaluation import measure
from sigmavae.files import alone_in, read_json, write_atomically, write_json
from sigmavae.filmstrip import RANDOM, futures_of, write_animation, write_strip
from sigmavae.memory import keep_freed_memory
from sigmavae.metrics.catalogue import Subject
from sigmavae.models import LatentModel, VideoModel
from sigmavae.pictures import write_grid
from sigmavae.progress import Progress, Silent
from sigmavae.seeds import Stream, seed_for
from sigmavae.training.fit import fit, make_fabric
from sigmavae.training.journal import Journal

PICTURED = 32  # images in each of a run's pictures
FILMED = 4  # videos
_WHERE_IT_RAN = ("devices: ", "nodes: ")  # may differ between the sessions of one run


def run(experiment: Experiment, folder: Path, progress: Progress, command: str = "") -> dict[str, Any]:
    """Train, evaluate and picture the experiment in the folder, and return its result.

    A run that was interrupted goes on from its last checkpoint; one that is finished is left alone.
    """
    experiment = _with_precision(experiment, folder)
    fabric = make_fabric(experiment, folder)
    fabric.launch()
    if not fabric.is_global_zero:
        if Others.may_begin(fabric):
            splits = _data(experiment, Silent())
            model = fit(experiment, build(experiment, splits), splits, folder, fabric, Silent())
            measure("bound", subject_of(experiment, model, splits, "test", Silent()))  # its share of the images
        return {}
    with Others(fabric) as others, alone_in(folder):
        _compare(experiment, folder)
        done = folder / "result.json"
        if done.exists() and (folder / "model.safetensors").exists():
            progress.say(f"{folder} is finished: left alone")
            return read_json(done)
        others.begin()
        # Data and model first: what cannot be read or built leaves no experiment.json behind.
        splits = _data(experiment, progress)
        model = build(experiment, splits)
        progress.say(describe(experiment, fabric.device))
        write_json(folder / "experiment.json", to_json(experiment))
        model = fit(experiment, model, splits, folder, fabric, progress)
        return _conclude(experiment, model, splits, folder, progress, command)


def _with_precision(experiment: Experiment, folder: Path) -> Experiment:
    """Return the experiment with a precision: its own, that of the run it goes on with, or the machine's best."""
    if experiment.precision != "auto":
        return experiment
    path = folder / "experiment.json"
    recorded = read_json(path).get("precision") if path.exists() else None
    return dataclasses.replace(experiment, precision=recorded or best_precision(best_device()))


def _conclude(
    experiment: Experiment, model: LatentModel, splits: Splits, folder: Path, progress: Progress, command: str
) -> dict[str, Any]:
    """Write final weights, pictures and, last, the result."""
    weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_atomically(folder / "model.safetensors", lambda temporary: save_file(weights, temporary))
    subject = subject_of(experiment, model, splits, "test", progress)
    measured = measure("bound", subject)
    journal = Journal.read(folder)
    write_pictures(model, splits, folder / "pictures", experiment.seed)
    result = {
        "name": experiment.name,
        "experiment": to_json(experiment),
        "metrics": measured.values,
        "measured": {"bound": measured.entry()},
        "data": {"source": splits.source, "fingerprint": splits.fingerprint, "shape": list(splits.shape)}
        | {name: len(splits.split(name)) for name in ("train", "validation", "test")},
        "steps": max((line["step"] for line in journal), default=0),
        "seconds": max((line["seconds"] for line in journal), default=0.0),
        "parameters": sum(p.numel() for p in model.parameters()),
        "command": command,
        "device": _device_name(model.device),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "sigmavae": sigmavae.__version__,
        },
    }
    write_json(folder / "result.json", result)
    return result


def build(experiment: Experiment, splits: Splits) -> LatentModel:
    """Return the experiment's model with its initial weights."""
    torch.manual_seed(seed_for(experiment.seed, Stream.INIT))
    try:
        model = experiment.model.build(splits.shape, experiment.likelihood.build(splits.shape))
    except ValueError as error:
        raise ConfigError(str(error)) from error
    # The layout in memory is part of the last bits of a result, so every verb builds the same one.
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _data(experiment: Experiment, progress: Progress) -> Splits:
    """Return the experiment's data as its model takes it: videos, or every frame an image of its own."""
    splits = load(experiment.data, progress)
    return splits if experiment.model.videos else splits.frames()


def subject_of(experiment: Experiment, model: LatentModel, splits: Splits, split: str, progress: Progress) -> Subject:
    """Return what metrics measure: the model of an experiment on a split of its data."""
    return Subject(model, splits, split, experiment.seed, experiment.train.batch, progress=progress)


def load_run(
    folder: Path, progress: Progress | None = None, device: torch.device | None = None
) -> tuple[Experiment, LatentModel, Splits]:
    """Return a finished run's experiment, its model with the final weights, ready to use, and its data."""
    described, weights = folder / "experiment.json", folder / "model.safetensors"
    if not described.exists():
        raise RunError(f"{folder} is not a run folder: it has no experiment.json; make one with sigmavae train")
    experiment = from_json(read_json(described))
    if not weights.exists():
        raise RunError(f"{folder} is not finished: it has no model.safetensors; the same train command finishes it")
    splits = _data(experiment, progress or Silent())
    model = build(experiment, splits)
    try:
        model.load_state_dict(load_file(weights))
    except (SafetensorError, RuntimeError, OSError) as error:
        first = str(error).splitlines()[0]
        raise RunError(f"{weights} cannot be used ({first}): remove it and run the same train command") from error
    return experiment, model.eval().to(device or best_device()), splits


def write_pictures(model: LatentModel, splits: Splits, folder: Path, seed: int) -> list[Path]:
    """Write real test images, their reconstructions, and samples from the prior."""
    model.eval()
    torch.manual_seed(seed_for(seed, Stream.PICTURES))
    if isinstance(model, VideoModel):
        return _film(model, to_unit(torch.tensor(splits.test[:FILMED], device=model.device)), folder)
    real = to_unit(torch.tensor(splits.test[:PICTURED], device=model.device))
    return [
        write_grid(folder / "real.png", real),
        write_grid(folder / "reconstructions.png", model.reconstruct(real)),
        write_grid(folder / "samples.png", model.sample(PICTURED)),
    ]


def _film(model: VideoModel, videos: Tensor, folder: Path) -> list[Path]:
    """Write real videos, their predictions frame by frame, and futures of the first of them."""
    past = model.past
    taught = torch.cat([videos[:, :past], model.reconstruct(videos)], 1)
    rows = futures_of(model, videos[0], 1 + RANDOM)
    return [
        write_strip(folder / "real.png", videos, past),
        write_strip(folder / "reconstructions.png", taught, past),
        write_strip(folder / "samples.png", rows, past),
        write_animation(folder / "samples.gif", rows, past),
    ]


def _compare(experiment: Experiment, folder: Path) -> None:
    """Make sure that an experiment.json that is there asks for the same."""
    path = folder / "experiment.json"
    if not path.exists():
        return
    changed = [text for text in differences(read_json(path), to_json(experiment)) if not text.startswith(_WHERE_IT_RAN)]
    if changed:
        raise RunError(
            f"{folder} holds another experiment ({'; '.join(changed)}): name another folder with --out, or remove it"
        )


def describe(experiment: Experiment, device: torch.device) -> str:
    """Return in a line how training computes."""
    parts = [f"precision {experiment.precision}", "channels_last"]
    if device.type == "cpu":
        parts += ["malloc tuned"] * keep_freed_memory() + [f"{torch.get_num_threads()} threads"]
    return f"{', '.join(parts)} on {_device_name(device)}"


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
