"""What a training step of SVG-LP costs: floating-point operations, and memory with every likelihood.

    python benchmarks/cost_svg.py

Counts the operations of the recipes' networks by running a step on tensors without content (torch.utils.flop_counter,
a multiplication and an addition each count as one), and the bytes that are kept for the backward pass. Hours are those
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
        memory = {name: _gibibytes(recipe(f"bair-svg-{short}")) for name, short in SHORT_NAMES.items()}
    for name, cost in recipes.items():
        hours = ", ".join(f"{cost['hours'][str(rate)]:.1f} h at {rate} TFLOP/s" for rate in RATES)
        print(f"{name:30} {cost['parameters']:,} parameters  {cost['teraflop_step']:.2f} TFLOP a step  {hours}")
    for name, (whole, decoder) in memory.items():
        print(f"{name:24} {whole:6.1f} GiB kept for the backward pass, {decoder:5.1f} by the likelihood")
    result = {
        "recipes": recipes,
        "gibibytes": {name: {"kept": whole, "likelihood": decoder} for name, (whole, decoder) in memory.items()},
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
    net = model.build(shape, experiment.likelihood.build())
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


def _gibibytes(experiment: Experiment) -> tuple[float, float]:
    """Return how much a step keeps for its backward pass, and how much of it the likelihood does."""
    net, x = _built(experiment)
    kept: dict[int, tuple[Tensor, int]] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage._cdata] = tensor, storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        h, rate = net.infer(x)
        network = sum(size for _, size in kept.values())
        target = net.target(x)
        p = net.likelihood(h, target)
        loss = (rate + p.rate - p.log_prob(target)).mean()
    assert loss.requires_grad
    whole = sum(size for _, size in kept.values())
    return whole / 2**30, (whole - network) / 2**30


if __name__ == "__main__":
    tyro.cli(main)
