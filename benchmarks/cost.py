"""What a step of the hierarchical VAE costs, counted, and what the recipes come to on one GPU.

    python benchmarks/cost.py

Multiply-adds are counted by torch on tensors without data, at the recipe's batch, forwards and backwards; two
floating-point operations each. What torch does not count is added by formula: real Fourier transforms as
2.5 n log2 n. Hours are those of a GPU that sustains a stated rate. Writes docs/results/cost.json.
"""

import math
import platform
from pathlib import Path
from typing import Any

import torch
import tyro
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import sigmavae
from sigmavae.files import write_json
from sigmavae.models import HVAE
from sigmavae.models.map_conv import LARGEST_DIRECT, MapConv2d
from sigmavae.recipes import recipe

SUSTAINED = 10e12
"""Operations a second: half of the float32 peak of an A100, 19.5e12."""
LIKELIHOODS = ("optimal", "categorical", "logistic-mixture")


def main(out: Path = Path("docs/results/cost.json")) -> None:
    rows = [_row(f"{data}-hvae-{short}") for data in ("cifar", "celeba") for short in LIKELIHOODS]
    rows += [_row(f"cifar-hvae-{size}-optimal") for size in ("small", "tiny")]
    for row in rows:
        print(f"{row['name']:32} {row['flops'] / 1e12:8.3f} TFLOP a step  {row['hours']:6.2f} h")
    result = {
        "rows": rows,
        "sustained": SUSTAINED,
        "command": "python benchmarks/cost.py",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out}")


def _row(name: str) -> dict[str, Any]:
    experiment = recipe(name)
    with FakeTensorMode():
        model = experiment.model.build((3, 32, 32), experiment.likelihood.build())
        assert isinstance(model, HVAE)
        x = torch.empty(experiment.train.batch, 3, 32, 32)
        kept, counted = _kept(model, x), _counted(model, x)
    maps = [module for module in model.modules() if isinstance(module, MapConv2d)]
    direct = sum(_direct(module, len(x)) for module in maps)
    fourier = sum(_fourier(module, len(x)) for module in maps)
    steps = experiment.train.steps or 0
    return {
        "name": name,
        "parameters": sum(p.numel() for p in model.parameters()),
        "batch": len(x),
        "steps": steps,
        "flops": counted + fourier,
        "flops_of_maps": fourier,
        "flops_of_maps_directly": direct,
        "kept_mib": kept,
        "hours": (counted + fourier) * steps / SUSTAINED / 3600,
    }


def _kept(model: HVAE, x: torch.Tensor) -> list[float]:
    """Return MiB of what a step in float32 keeps for its gradient, weights included, without and with checkpoints."""
    found = []
    for model.checkpoint in (False, True):
        storages: dict[int, int] = {}

        def keep(value: torch.Tensor, storages: dict[int, int] = storages) -> torch.Tensor:
            storage = value.untyped_storage()
            storages[storage._cdata] = storage.nbytes()
            return value

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
            _held = model.layers(x)  # while it is held, no storage is used a second time
        found.append(sum(storages.values()) / 2**20)
    model.checkpoint = False
    return found


def _counted(model: HVAE, x: torch.Tensor) -> int:
    """Return the operations of a step, forwards and backwards, without the convolutions as large as their map."""
    for module in model.modules():
        if isinstance(module, MapConv2d):
            module.forward = _stand_in(module)
    with FlopCounterMode(display=False) as counter:
        h, rates = model.layers(x)
        (h.sum() + rates.sum()).backward()
    return counter.get_total_flops()


def _stand_in(module: MapConv2d) -> Any:
    outputs = len(module.bias)

    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.mean(1, keepdim=True).expand(-1, outputs, -1, -1) * module.weight.sum()

    return forward


def _direct(module: MapConv2d, batch: int) -> int:
    """Return the operations of a direct convolution, its zeros included, forwards and both ways back."""
    outputs, inputs, taps = module.weight.shape
    return 3 * 2 * batch * outputs * inputs * taps * taps


def _fourier(module: MapConv2d, batch: int) -> int:
    """Return the operations through Fourier space, or directly where the layer does that."""
    outputs, inputs, taps = module.weight.shape
    if taps <= LARGEST_DIRECT:
        return _direct(module, batch)
    rows, columns = (n + n // 2 for n in module.size)
    products = 3 * 8 * rows * (columns // 2 + 1) * batch * outputs * inputs
    transforms = 2 * (batch * (inputs + outputs) + inputs * outputs)  # there and back
    return products + int(transforms * 2.5 * rows * columns * math.log2(rows * columns))


if __name__ == "__main__":
    tyro.cli(main)
