"""What a training step of SVG-LP costs: floating-point operations, and memory with every likelihood.

    python benchmarks/cost_svg.py

Counts the operations of the recipes' networks by running a step on tensors without content (torch.utils.flop_counter,
a multiplication and an addition each count as one), and the bytes that are kept for the backward pass: by the network
in the same way, by a likelihood on one clip, times the batch. Hours are those
operations at a stated rate, not a measurement. Writes docs/results/svg-cost.json.
"""

import platform
from pathlib import Path

import torch
import tyro
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import sigmavae
from sigmavae.config import Experiment
from sigmavae.files import write_json
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.models import SVG
from sigmavae.recipes import recipe

RATES = (20, 60, 200)  # TFLOP/s that a device achieves, not its peak
CHANNELS = {"bair": 3, "moving-mnist": 1}
COSTED = ("bair-svg-optimal", "moving-mnist-svg-optimal", "moving-mnist-narrow-optimal")


def main(out: Path = Path("docs/results/svg-cost.json")) -> None:
    with FakeTensorMode():
        recipes = {name: _cost(recipe(name)) for name in COSTED}
        network = _by_network(recipe("bair-svg-optimal"))
    memory = {name: _by_likelihood(recipe(f"bair-svg-{short}")) for name, short in SHORT_NAMES.items()}
    for name, cost in recipes.items():
        hours = ", ".join(f"{cost['hours'][str(rate)]:.1f} h at {rate} TFLOP/s" for rate in RATES)
        print(f"{name:30} {cost['parameters']:,} parameters  {cost['teraflop_step']:.2f} TFLOP a step  {hours}")
    for name, each in memory.items():
        print(f"{name:24} {network + each:6.1f} GiB kept for the backward pass, {each:5.1f} by the likelihood")
    result = {
        "recipes": recipes,
        "gibibytes": {name: {"kept": network + each, "likelihood": each} for name, each in memory.items()},
        "command": "python benchmarks/cost_svg.py",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out}")


def _built(experiment: Experiment) -> tuple[SVG, Tensor]:
    """Return the recipe's model and a batch of its clips, without content."""
    model = experiment.model
    channels = next(n for data, n in CHANNELS.items() if experiment.data.name == data)
    shape = (model.past + model.future, channels, 64, 64)
    net = model.build(shape, experiment.likelihood.build(shape))
    net.likelihood.door.passed = True  # there are no values to look at
    return net, torch.empty(experiment.train.batch, *shape)


def _cost(experiment: Experiment) -> dict[str, object]:
    net, x = _built(experiment)
    with FlopCounterMode(display=False) as counter:
        net(x).loss.backward()
    step = counter.get_total_flops() / 1e12
    total = step * (experiment.train.steps or 0)
    return {
        "parameters": sum(p.numel() for p in net.parameters()),
        "batch": experiment.train.batch,
        "steps": experiment.train.steps,
        "teraflop_step": step,
        "hours": {str(rate): total / rate / 3600 for rate in RATES},
    }


class _Kept:
    """Counts the bytes that are kept for the backward pass, each storage once."""

    def __init__(self) -> None:
        self._sizes: dict[int, tuple[Tensor, int]] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        self._sizes[storage._cdata] = tensor, storage.nbytes()
        return tensor

    @property
    def gibibytes(self) -> float:
        return sum(size for _, size in self._sizes.values()) / 2**30


def _by_network(experiment: Experiment) -> float:
    """Return how much the network of a step keeps."""
    net, x = _built(experiment)
    kept = _Kept()
    with torch.autograd.graph.saved_tensors_hooks(kept, lambda tensor: tensor):
        net.infer(x)
    return kept.gibibytes


def _by_likelihood(experiment: Experiment) -> float:
    """Return how much the likelihood of a step keeps, measured on one clip: it grows with their number."""
    torch.manual_seed(0)
    likelihood = experiment.likelihood.build()
    x = torch.randint(0, 256, (1, 3, experiment.model.future, 64, 64)) / 255
    h = torch.randn(1, likelihood.features(3), *x.shape[2:], requires_grad=True)
    kept = _Kept()
    with torch.autograd.graph.saved_tensors_hooks(kept, lambda tensor: tensor):
        p = likelihood(h * 1, x)
        loss = (p.rate - p.log_prob(x)).mean()
    assert loss.requires_grad
    return kept.gibibytes * experiment.train.batch


if __name__ == "__main__":
    tyro.cli(main)
