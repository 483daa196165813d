"""The training loop: one loop for every model and likelihood, on one device or many."""

from __future__ import annotations

import importlib.util
import math
import time
from pathlib import Path
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.loggers.logger import Logger
from lightning_fabric.loggers.tensorboard import TensorBoardLogger
from torch import Tensor, distributed
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from sigmavae.config import Experiment
from sigmavae.data import Batches, Splits
from sigmavae.devices import repeatable, seed_noise
from sigmavae.errors import DivergedError
from sigmavae.models import Elbo, LatentModel
from sigmavae.progress import Progress
from sigmavae.seeds import Stream, seed_for
from sigmavae.training import checkpoint as disk
from sigmavae.training.guard import Guard, not_finite
from sigmavae.training.journal import Journal
from sigmavae.training.optimizer import learning_rate, make_optimizer, set_learning_rate
from sigmavae.training.outliers import Outliers
from sigmavae.training.statistics import recompute_statistics

VALIDATION_IMAGES = 512  # or frames, of the validation split, each time the curve gets a point


def fit(
    experiment: Experiment, model: LatentModel, splits: Splits, folder: Path, fabric: Fabric, progress: Progress
) -> LatentModel:
    """Train the model as the experiment says, from the folder's newest checkpoint if it has one.

    Returns the model to evaluate: the trained one, or the average of its weights if the experiment asks for that.
    """
    with repeatable():
        return _Fit(experiment, model, splits, folder, fabric, progress).run()


def make_fabric(experiment: Experiment, folder: Path) -> Fabric:
    """Return the Fabric that the experiment's devices, nodes and precision describe, with loggers if installed."""
    loggers: list[Logger] = []
    if importlib.util.find_spec("tensorboard") is not None:
        loggers.append(TensorBoardLogger(root_dir=folder, name="tensorboard", version=""))
    precision: Any = {"32": "32-true", "bf16-mixed": "bf16-mixed"}[experiment.precision]
    return Fabric(devices=experiment.devices, num_nodes=experiment.nodes, precision=precision, loggers=loggers)


class _Fit:
    """One run of the loop; a class only so that its parts can be read one by one."""

    def __init__(
        self,
        experiment: Experiment,
        model: LatentModel,
        splits: Splits,
        folder: Path,
        fabric: Fabric,
        progress: Progress,
    ) -> None:
        self.experiment, self.train, self.folder = experiment, experiment.train, folder
        self.fabric, self.progress = fabric, progress
        seed, share = experiment.seed, (fabric.device, fabric.global_rank, fabric.world_size)
        clip = model.clip
        self.batches = Batches(splits.train, self.train.batch, seed, *share, clip=clip)
        self.held_out = Batches(splits.validation, self.train.batch, seed, *share, stream=Stream.HELD_OUT, clip=clip)
        looked_at = min(max(1, VALIDATION_IMAGES // (clip or 1)), len(splits.validation))
        self.validation = Batches(splits.validation, looked_at, 0, *share, clip=clip)
        self.total = self.train.steps or self.train.epochs * self.batches.per_epoch

        self.plain = model.to(fabric.device)
        optimizer = make_optimizer(self.plain.parameters(), self.train)
        self.outliers = Outliers(self.train.outliers)
        found = self._found()
        if found is None:
            self._initialise()
        self.average = _averaged(self.plain, self.train.ema) if self.train.ema else None
        self.step = 0 if found is None else self._resume(found, optimizer)
        self.model, self.optimizer = fabric.setup(self.plain, optimizer)

        self.guard = Guard(("distortion", "rate"), fabric.device)
        self.journal = Journal(folder, self.step) if fabric.is_global_zero else None
        self.sums: list[Tensor] = []
        self.latest: dict[str, Any] = {}
        self.clock, self.seconds = time.monotonic(), self.journal.seconds if self.journal else 0.0

    def run(self) -> LatentModel:
        """Step until done."""
        self.progress.begin(self.experiment.name, self.total, self.step)
        while self.step < self.total:
            elbo = self._one_step()
            self.step += 1
            self._look(elbo)
            last = self.step == self.total
            saving = last or self.step % self.train.checkpoint_every == 0
            # No interval spans a checkpoint, so the curves of a resumed run are those of one never stopped.
            if saving or self.step % self.train.log_every == 0:
                self._log()
            if last or self.step % self.train.validate_every == 0:
                self._validate()
            if saving:
                self._save()
            self.progress.advance(self.step, self.latest)
        return self.plain if self.average is None else self._averaged(self.average)

    def _averaged(self, average: AveragedModel) -> LatentModel:
        model = cast(LatentModel, average.module)
        self._seed(Stream.NOISE)
        recompute_statistics(model, self.batches.__getitem__)
        return model

    def _one_step(self) -> Elbo:
        self._seed(Stream.NOISE)
        self.model.train()
        if self.plain.likelihood.held_out and self.step % self.train.observe_every == 0:
            # Not through the wrapper: nothing is differentiated, and the likelihood sums over processes itself.
            with self.fabric.autocast():
                self.plain.observe(self.held_out[self.step // self.train.observe_every])
        elbo: Elbo = self.model(self.batches[self.step])
        self.optimizer.zero_grad()
        self.fabric.backward(elbo.loss)
        if not self._is_outlier():
            self._update()
        if self.average is not None:
            self.average.update_parameters(self.plain)
        return elbo

    def _update(self) -> None:
        if self.train.clip is not None:
            self.fabric.clip_gradients(self.model, self.optimizer, max_norm=self.train.clip, error_if_nonfinite=False)
        set_learning_rate(self.optimizer, learning_rate(self.train, self.step))
        self.optimizer.step()

    def _is_outlier(self) -> bool:
        if self.outliers.factor is None:
            return False
        gradients = [p.grad for p in self.plain.parameters() if p.grad is not None]
        return self.outliers.is_one(float(torch.nn.utils.get_total_norm(gradients)))

    def _initialise(self) -> None:
        """Let the first batch decide what it has to; every process ends with the first one's weights."""
        torch.manual_seed(seed_for(self.experiment.seed, Stream.INIT, self.fabric.global_rank))
        self.plain.initialise(self.batches[0])
        if self.fabric.world_size > 1:
            for value in self.plain.state_dict().values():
                distributed.broadcast(value, 0)

    def _seed(self, stream: Stream) -> None:
        seed_noise(seed_for(self.experiment.seed, stream, self.step, self.fabric.global_rank), self.fabric.device)

    def _look(self, elbo: Elbo) -> None:
        values = _summary(elbo)
        self.guard.watch(self.step, values[:2])
        self.sums.append(values)

    def _log(self) -> None:
        mean = self._everywhere(torch.stack(self.sums).mean(0))
        images = len(self.sums) * self.batches.batch
        self.sums = []
        now = time.monotonic()
        elapsed, self.clock = now - self.clock, now
        self.seconds += elapsed
        self._check()
        more = {} if self.outliers.factor is None else {"left_out": self.outliers.left_out}
        self._write("train", mean, {"images_per_second": images / elapsed, **more})

    @torch.no_grad()
    def _validate(self) -> None:
        self._seed(Stream.EVALUATION)
        self.model.eval()
        self._write("validation", self._everywhere(_summary(self.model(self.validation[0]))), {})
        self.clock = time.monotonic()

    def _write(self, split: str, mean: Tensor, more: dict[str, float]) -> None:
        distortion, rate, sigma, *rates = mean.tolist()
        if not math.isfinite(distortion + rate):
            raise DivergedError(f"step {self.step}: the {split} nll is {distortion + rate}. {self._advice()}")
        line: dict[str, Any] = {"step": self.step, "split": split, "nll": distortion + rate, "distortion": distortion}
        line |= {"rate": rate, "sigma": None if math.isnan(sigma) else sigma, "seconds": round(self.seconds, 3), **more}
        line |= {"rates": rates} if rates else {}
        if self.journal is not None:
            self.journal.write(line)
            known = {
                f"{split}/{key}": line[key] for key in ("nll", "distortion", "rate", "sigma") if line[key] is not None
            }
            self.fabric.log_dict(known, self.step)
        if split == "train":
            self.latest = line

    def _everywhere(self, values: Tensor) -> Tensor:
        reduced: Tensor = self.fabric.all_reduce(values, reduce_op="mean")  # type: ignore[assignment]
        return reduced

    def _check(self) -> None:
        verdict = self.guard.verdict()
        if verdict is not None:
            step, names = verdict
            tensors = not_finite(self.plain)
            by_now = (
                f"; not finite by now: {', '.join(tensors[:3])}{' ...' if len(tensors) > 3 else ''}" if tensors else ""
            )
            raise DivergedError(f"step {step}: {' and '.join(names)} is NaN or infinite{by_now}. {self._advice()}")

    def _advice(self) -> str:
        good = disk.latest_path(self.folder)
        kept = f"The last good checkpoint is {good}" if good else "There is no checkpoint yet"
        return f"{kept}; try a smaller --train.lr than {self.train.lr:g}, or --train.clip 100, with another --out"

    def _save(self) -> None:
        self._check()
        if bad := not_finite(self.plain):  # a last gradient can be bad after a loss that was not
            raise DivergedError(f"step {self.step}: {bad[0]} is NaN or infinite. {self._advice()}")
        if self.fabric.is_global_zero:
            optimizer, groups = disk.pack_optimizer(self.optimizer.state_dict())
            tensors = disk.with_prefix("model", self.plain.state_dict()) | disk.with_prefix("optimizer", optimizer)
            if self.average is not None:
                tensors |= disk.with_prefix("average", self.average.state_dict())
            if self.outliers.factor is not None:
                tensors["outliers"] = self.outliers.state
            disk.save_checkpoint(self.folder, disk.Checkpoint(self.step, tensors, groups))
        self.fabric.barrier()
        self.clock = time.monotonic()

    def _found(self) -> disk.Checkpoint | None:
        with self.fabric.rank_zero_first():  # which names a damaged one and removes it before the others look
            return disk.latest_checkpoint(self.folder, self.progress.say, self.fabric.device)

    def _resume(self, found: disk.Checkpoint, optimizer: Optimizer) -> int:
        self.plain.load_state_dict(disk.under_prefix("model", found.tensors))
        optimizer.load_state_dict(
            disk.unpack_optimizer(disk.under_prefix("optimizer", found.tensors), found.optimizer_groups)
        )
        _follow_strides(optimizer)
        if self.average is not None:
            self.average.load_state_dict(disk.under_prefix("average", found.tensors))
        if self.outliers.factor is not None:
            self.outliers.state = found.tensors["outliers"]
        return found.step


def _summary(elbo: Elbo) -> Tensor:
    """Return (3,): distortion, rate and sigma, NaN where there is no sigma; then the rate of each of several layers."""
    distortion = elbo.distortion.detach().mean()
    sigma = torch.full_like(distortion, torch.nan) if elbo.sigma is None else elbo.sigma.to(distortion.dtype)
    values = torch.stack([distortion, elbo.rate.detach().mean(), sigma])
    return values if elbo.rates is None else torch.cat([values, elbo.rates.detach().mean(0)])


def _follow_strides(optimizer: Optimizer) -> None:
    """Lay loaded moments out in memory as their parameters are: the fused step walks both in memory order."""
    for parameter, state in optimizer.state.items():
        for name, value in state.items():
            if value.shape == parameter.shape:
                state[name] = torch.empty_like(parameter).copy_(value)


def _averaged(model: LatentModel, decay: float) -> AveragedModel:
    # Buffers, among them the running sigma, are copied from the trained model rather than averaged; at the end the
    # statistics of batch normalisation are taken anew.
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))
