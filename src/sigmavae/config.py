"""An experiment: one frozen record that says everything about a run, and its form as JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from sigmavae.errors import ConfigError
from sigmavae.files import absolute
from sigmavae.likelihoods import Likelihood, likelihood
from sigmavae.models.conv import ConvConfig
from sigmavae.models.hvae import HVAEConfig
from sigmavae.models.svg import SVGConfig

T = TypeVar("T")
ModelConfig = ConvConfig | HVAEConfig | SVGConfig
Precision = Literal["auto", "32", "bf16-mixed"]


@dataclass(frozen=True)
class DataConfig:
    """Which data."""

    name: str = "fashion"
    """data set; `fashion` is embedded"""
    path: Path | None = None
    """file or folder it is read from; none: where data fetch puts it"""
    size: int | None = None
    """side that images are resized to, pixels; none: as they are"""
    channels: Literal[1, 3] | None = None
    """1 gray, 3 RGB; none: as they are"""
    frames: int | None = None
    """of each video, from its start; none: all, if all are alike"""
    skip_bad: bool = False
    """leave out files that cannot be read, and count them"""

    def __post_init__(self) -> None:
        """Make the path one that means the same from every folder: a run may be looked at from another."""
        if self.path is not None:
            object.__setattr__(self, "path", absolute(self.path))


@dataclass(frozen=True)
class LikelihoodConfig:
    """A decoder likelihood; options left out keep its own defaults."""

    name: str = "optimal-sigma"
    """one of the fourteen"""
    beta: float | None = None
    """beta: sigma^2 = beta / 2"""
    weight: float | None = None
    """beta, where it is not given itself: of KL beside the mean squared error of an image or frame"""
    sigma: float | None = None
    """shared-sigma: where sigma starts"""
    decay: float | None = None
    """optimal-, image-sigma: of the running average"""
    split: bool | None = None
    """optimal-sigma: score each half batch with the other's"""
    source: Literal["training", "validation"] | None = None
    """optimal-sigma: what data sigma comes from"""
    frames: int | None = None
    """optimal-sigma: of videos, this many frames have a sigma each"""
    block: int | None = None
    """block-sigma: side of a block, pixels"""
    components: int | None = None
    """logistic-mixture: how many"""

    def build(self, shape: Sequence[int] = ()) -> Likelihood:
        """Return the likelihood for data (..., C, H, W), or name the option that it does not take.

        Of D values, mean squared error + w KL is -ln p + KL but for a factor and a constant where beta = D w.
        """
        options = {k: v for k, v in dataclasses.asdict(self).items() if k not in ("name", "weight") and v is not None}
        if self.weight is not None and self.beta is None:
            options["beta"] = self.weight * math.prod(shape[-3:])
        try:
            return likelihood(self.name, **options)
        except ValueError as error:
            raise ConfigError(f"likelihood: {error}") from error


@dataclass(frozen=True)
class TrainConfig:
    """How it is trained."""

    epochs: int = 10
    """passes over the training images"""
    steps: int | None = None
    """gradient steps, instead of epochs"""
    batch: int = 128
    """images a step, over all devices together"""
    optimizer: Literal["adam", "adamax"] = "adam"
    """what steps"""
    lr: float = 1e-3
    """learning rate of the first step"""
    lr_decay: float = 1.0
    """factor on the learning rate from each step to the next"""
    lr_floor: float = 0.0
    """where the learning rate stops falling"""
    clip: float | None = None
    """largest gradient norm; none: no clipping"""
    outliers: float | None = None
    """updates with a gradient norm of so many running medians are left out; none: no update is"""
    ema: float | None = None
    """decay of averaged weights, evaluated instead; none: off"""
    log_every: int = 20
    """steps between lines of metrics.jsonl"""
    validate_every: int = 100
    """steps between looks at the validation images"""
    observe_every: int = 4
    """steps between held-out batches for a sigma from validation"""
    checkpoint_every: int = 200
    """steps between checkpoints"""


@dataclass(frozen=True)
class Experiment:
    """Everything about a run."""

    name: str = "run"
    """what the run is called"""
    seed: int = 0
    """of weights, order and noise"""
    precision: Precision = "auto"
    """arithmetic of the network; auto: bf16-mixed on CPUs that have it; likelihoods stay float32"""
    devices: int = 1
    """devices on each machine"""
    nodes: int = 1
    """machines"""
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ConvConfig)
    likelihood: LikelihoodConfig = field(default_factory=LikelihoodConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        for path in ("train.epochs", "train.batch", "train.log_every", "train.validate_every", "train.observe_every",
                     "train.checkpoint_every", "devices", "nodes"):  # fmt: skip
            _demand(self, path, lambda v: v >= 1, "must be 1 or more")
        for path in (
            "train.steps",
            "data.size",
            "data.frames",
            "likelihood.block",
            "likelihood.components",
            "likelihood.frames",
        ):
            _demand(self, path, lambda v: v is None or v >= 1, "must be 1 or more")
        for path in ("train.lr", "train.clip", "likelihood.beta", "likelihood.weight", "likelihood.sigma"):
            _demand(self, path, lambda v: v is None or 0 < v < float("inf"), "must be a positive number")
        if not self.model.videos:
            _demand(self, "likelihood.frames", lambda v: v is None, "is for models of videos; leave it out")
        _demand(self, "train.outliers", lambda v: v is None or v > 1, "must be above 1, such as 10")
        _demand(self, "train.lr_decay", lambda v: 0 < v <= 1, "must be above 0, and at most 1")
        _demand(self, "train.lr_floor", lambda v: 0 <= v < float("inf"), "must be 0 or more")
        _demand(self, "train.ema", lambda v: v is None or 0 < v < 1, "must lie between 0 and 1, such as 0.999")
        _demand(self, "seed", lambda v: v >= 0, "must be 0 or more")
        if self.train.batch % (self.devices * self.nodes):
            raise ConfigError(
                f"train.batch={self.train.batch}: must be a multiple of the {self.devices * self.nodes} devices"
            )
        _demand(self, "precision", lambda v: v in get_args(Precision), "must be auto, 32 or bf16-mixed")


def _demand(experiment: Experiment, path: str, holds: Callable[[Any], bool], words: str) -> None:
    value: Any = experiment
    for part in path.split("."):
        value = getattr(value, part)
    if not holds(value):
        raise ConfigError(f"{path}={value}: {words}")


def to_json(experiment: Experiment) -> dict[str, Any]:
    """Return the experiment as plain JSON values."""
    return {key: _plain(value) for key, value in dataclasses.asdict(experiment).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def from_json(content: Mapping[str, Any]) -> Experiment:
    """Return the experiment that `to_json` described; a field that does not exist is an error."""
    return _build(Experiment, content, "")


def _build(kind: type[T], content: Mapping[str, Any], prefix: str) -> T:
    hints = get_type_hints(kind)
    values = {}
    for key, value in content.items():
        if key not in hints:
            raise ConfigError(f"experiment has no field {prefix}{key}; was it written by another version of sigmavae?")
        if key == "kind":
            continue  # says which dataclass this is, and that is known by now
        if parts := _dataclasses_of(hints[key]):
            value = _build(_of_kind(parts, value, f"{prefix}{key}."), value, f"{prefix}{key}.")
        elif hints[key] == Path | None and value is not None:
            value = Path(value)
        elif get_origin(hints[key]) is tuple:
            value = tuple(value)
        values[key] = value
    return kind(**values)


def _dataclasses_of(hint: Any) -> list[Any]:
    """Return the dataclasses that a field may hold: of one, or of a union of several."""
    return [kind for kind in (get_args(hint) or (hint,)) if dataclasses.is_dataclass(kind)]


def _of_kind(parts: Sequence[Any], content: Mapping[str, Any], prefix: str) -> Any:
    """Return the one of several dataclasses whose `kind` the content names."""
    if len(parts) == 1:
        return parts[0]
    kinds = {part.__dataclass_fields__["kind"].default: part for part in parts}
    if content.get("kind") not in kinds:
        raise ConfigError(f"{prefix}kind={content.get('kind')!r}: must be one of {', '.join(kinds)}")
    return kinds[content["kind"]]


def differences(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return "field: a -> b" for every field in which two experiments, as JSON, differ."""
    found = []
    for key in sorted(one.keys() | other.keys()):
        a, b = one.get(key), other.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{prefix}{key}.")
        elif a != b:
            found.append(f"{prefix}{key}: {a} -> {b}")
    return found
