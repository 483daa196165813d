"""A recipe's training step on one CUDA GPU: eager, compiled, as a CUDA graph, and what bounds each.

    python benchmarks/gpu.py                      # the small VAE; writes docs/results/gpu.json and prints a table
    python benchmarks/gpu.py --recipe cifar-hvae-optimal --batches 48 --steps 10 --out docs/results/gpu-hvae.json
    python benchmarks/gpu.py --recipe bair-svg-optimal --batches 100 --steps 10 --out docs/results/gpu-svg.json
    python benchmarks/gpu.py --dry --batches 128  # without a GPU: counts a step's FLOPs, and times it eagerly

A step is forward, backward and the recipe's optimizer on one batch of random numbers that is already there, under the
deterministic algorithms that training uses. Two bounds stand beside its time: its launches times what launching a
kernel that does nothing costs, and its FLOPs over the rate of a large matrix product in the same arithmetic (the
model-FLOP utilisation); Fourier transforms, as in the hierarchy's large convolutions, torch does not count. Contenders
take turns. One that fails is entered with its error, and the others go on.
"""

import gc
import platform
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
import tyro
from torch import Tensor
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

import sigmavae
from sigmavae.config import Experiment
from sigmavae.devices import repeatable
from sigmavae.files import write_json
from sigmavae.models import SVGConfig
from sigmavae.recipes import recipe as recipe_of
from sigmavae.training.optimizer import make_optimizer

SMALL = "svhn-optimal"
CHANNELS = 3
WARM_UP = 11  # steps before anything is timed or captured
METHODS = ("eager", "compiled", "compiled, reduce-overhead", "CUDA graph")
LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaGraphLaunch")
MATRIX, TINY = 8192, 1000  # side of the matrices, and kernels launched at once, that the bounds are measured with

Step = Callable[[], object]


@dataclass(frozen=True)
class Kind:
    """One way to take the step."""

    method: str
    batch: int
    bfloat16: bool
    channels_last: bool
    recipe: str = SMALL


def main(
    recipe: str = SMALL,
    batches: tuple[int, ...] = (128, 512, 2048),
    methods: tuple[str, ...] = METHODS,
    rounds: int = 5,
    steps: int = 100,
    dry: bool = False,
    out: Path = Path("docs/results/gpu.json"),
) -> None:
    """Time so many steps in each of so many rounds."""
    device = torch.device("cpu" if dry else "cuda")
    kinds = list(_kinds(batches, ("eager",) if dry else methods, recipe))
    with repeatable():
        bounds = {"launch": 0.0, "launch_in_graph": 0.0, "peak": {}} if dry else measured_bounds(device)
        rows, timed = [], {}
        for kind in kinds:
            row = asdict(kind) | {"flops": flops(kind, device)}
            try:
                timed[len(rows)], row["bytes"] = built(kind, device)
            except Exception as error:  # a GPU is borrowed: one contender must not cost the others
                row["error"] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            rows.append(row)
        for number, seconds in interleaved(timed, rounds, steps, device).items():
            rows[number]["seconds"] = seconds
        for number, step in timed.items():  # after the clock has stopped: a profiler leaves hooks behind
            row = rows[number]
            row |= counted(step) if device.type == "cuda" else {"launches": 0}
            row |= bounded(row, statistics.median(row["seconds"]), bounds)
    result = {
        "rounds": rounds,
        "steps": steps,
        "bounds": bounds,
        "rows": rows,
        "tf32": {"convolutions": torch.backends.cudnn.allow_tf32, "products": torch.backends.cuda.matmul.allow_tf32},
        "command": f"python benchmarks/gpu.py --recipe {recipe} --rounds {rounds} --steps {steps}",
        "device": "cpu" if dry else torch.cuda.get_device_name(device),
        "versions": {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "python": platform.python_version(),
            "sigmavae": sigmavae.__version__,
        },
    }
    print(table(rows))
    if not dry:
        write_json(out, result)
        print(f"wrote {out}")


def _kinds(batches: Iterable[int], methods: Iterable[str], recipe: str = SMALL) -> Iterator[Kind]:
    """Yield every combination; compiled ones, which take a minute to build, in channels_last alone."""
    for batch, method, bfloat16, last in product(batches, methods, (False, True), (True, False)):
        if last or not method.startswith("compiled"):
            yield Kind(method, batch, bfloat16, last, recipe)


def built(kind: Kind, device: torch.device) -> tuple[Step, int]:
    """Return the step, warmed up, and the bytes that it needs at most."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
    before = _allocated(device)
    loss, optimizer = _parts(kind, device)
    step: Step = graph(loss, optimizer) if kind.method == "CUDA graph" else _plain(loss, optimizer)
    for _ in range(WARM_UP):
        step()
    if device.type != "cuda":
        return step, 0
    torch.cuda.synchronize(device)
    return step, torch.cuda.max_memory_allocated(device) - before


def _parts(kind: Kind, device: torch.device) -> tuple[Callable[[], Tensor], torch.optim.Optimizer]:
    """Return what computes the loss on a batch, and the optimizer of the model in it."""
    torch.manual_seed(0)
    layout = torch.channels_last if kind.channels_last else torch.contiguous_format
    experiment = recipe_of(kind.recipe)
    shape = shape_of(experiment)
    model = experiment.model.build(shape, experiment.likelihood.build(shape)).to(device, memory_format=layout).train()
    x = torch.rand(kind.batch, *shape, device=device)
    x = x.contiguous(memory_format=layout) if x.dim() == 4 else x
    model.initialise(x)
    optimizer = make_optimizer(model.parameters(), experiment.train)
    for group in optimizer.param_groups:
        group["capturable"] = kind.method == "CUDA graph"

    def of(x: Tensor) -> Tensor:
        return model(x).loss

    if kind.method.startswith("compiled"):
        mode = "reduce-overhead" if kind.method.endswith("reduce-overhead") else "default"
        of = torch.compile(of, mode=mode, fullgraph=True, dynamic=False)

    def loss() -> Tensor:
        with _arithmetic(kind, device):
            return of(x)

    return loss, optimizer


def shape_of(experiment: Experiment) -> tuple[int, ...]:
    """Return the shape of one item that the recipe trains on, in colour."""
    model, side = experiment.model, experiment.data.size
    assert side is not None, f"{experiment.name} says no side"
    image = (CHANNELS, side, side)
    return (model.past + model.future, *image) if isinstance(model, SVGConfig) else image


def _arithmetic(kind: Kind, device: torch.device) -> AbstractContextManager[Any]:
    # Weights cast once a step are no gain where each is used once, and a cache does not go with capture.
    return torch.autocast(device.type, torch.bfloat16, enabled=kind.bfloat16, cache_enabled=False)


def _plain(loss: Callable[[], Tensor], optimizer: torch.optim.Optimizer) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def graph(loss: Callable[[], Tensor], optimizer: torch.optim.Optimizer) -> Step:
    """Return the replay of a whole step that was captured once: warmed up and captured on one side stream."""
    stream, captured, plain = torch.cuda.Stream(), torch.cuda.CUDAGraph(), _plain(loss, optimizer)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            plain()
    torch.cuda.current_stream().wait_stream(stream)
    optimizer.zero_grad(
        set_to_none=True
    )  # backward then makes gradients in the graph's own memory, and overwrites them
    with torch.cuda.graph(captured, stream=stream):
        loss().backward()
        optimizer.step()

    def step(keep: tuple[object, ...] = (loss, optimizer)) -> None:  # noqa: ARG001, its tensors are what is replayed on
        captured.replay()

    return step


def flops(kind: Kind, device: torch.device) -> int:
    """Return the FLOPs of matrix products and convolutions in a step, a multiplication and an addition being two."""
    loss, _ = _parts(Kind("eager", 2, False, True, kind.recipe), device)  # they are proportional to the batch
    with FlopCounterMode(display=False) as counter:
        loss().backward()
    return counter.get_total_flops() * kind.batch // 2


def counted(step: Step) -> dict[str, Any]:
    """Return how often a step launches something, and how many kernels then run."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        step()
        torch.cuda.synchronize()
    events = [event for event in seen.events() if not event.is_user_annotation]
    calls = launches(event.name for event in events if event.device_type == DeviceType.CPU)
    kernels = sum(event.device_type == DeviceType.CUDA for event in events)
    return {"launches": sum(calls.values()), "kernels": kernels, "calls": calls}


def launches(names: Iterable[str]) -> dict[str, int]:
    """Return how often each call that puts work on a GPU is among the names of events."""
    return dict(Counter(name for name in names if name.startswith(LAUNCHES)))


def measured_bounds(device: torch.device) -> dict[str, Any]:
    """Return the seconds of a launch, from Python and within a graph, and the FLOP/s of large products."""
    one = torch.zeros(1, device=device)

    def tiny() -> None:
        for _ in range(TINY):
            one.add_(1)

    captured = torch.cuda.CUDAGraph()
    tiny()
    torch.cuda.synchronize(device)
    with torch.cuda.graph(captured):
        tiny()
    eager, inside = (_best(work, device) / TINY for work in (tiny, captured.replay))
    peak = {}
    for name, dtype, precision in (
        ("float32", torch.float32, "highest"),
        ("tf32", torch.float32, "high"),
        ("bfloat16", torch.bfloat16, "highest"),
    ):
        a, b = (torch.randn(MATRIX, MATRIX, device=device, dtype=dtype) for _ in range(2))
        torch.set_float32_matmul_precision(precision)
        peak[name] = 2 * MATRIX**3 / _best(lambda a=a, b=b: a @ b, device)
    torch.set_float32_matmul_precision("highest")
    return {"launch": eager, "launch_in_graph": inside, "peak": peak}


def _best(work: Step, device: torch.device, times: int = 10) -> float:
    """Return the fewest seconds that some work took, of several times."""
    return min(_seconds(work, 1, device) for _ in range(times))


def _seconds(work: Step, times: int, device: torch.device) -> float:
    _wait(device)
    began = time.perf_counter()
    for _ in range(times):
        work()
    _wait(device)
    return time.perf_counter() - began


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _allocated(device: torch.device) -> int:
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else 0


def interleaved(timed: dict[int, Step], rounds: int, steps: int, device: torch.device) -> dict[int, list[float]]:
    """Return the seconds of a step in every round, by contender."""
    times: dict[int, list[float]] = {number: [] for number in timed}
    for _ in range(rounds):
        for number, step in timed.items():
            times[number].append(_seconds(step, steps, device) / steps)
    return times


def bounded(row: dict[str, Any], seconds: float, bounds: dict[str, Any]) -> dict[str, float]:
    """Return a step's floor by its launches, that of its kernels were all in one graph, and its use of the peak.

    Convolutions in float32 run in TF32 unless told otherwise, so that is what they are held against.
    """
    found = {"launch_floor": row["launches"] * bounds["launch"]}
    if "kernels" in row:
        found["graph_floor"] = row["kernels"] * bounds["launch_in_graph"]
    if bounds["peak"]:
        peak = bounds["peak"]["bfloat16" if row["bfloat16"] else "tf32"]
        found["utilisation"] = row["flops"] / seconds / peak
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| batch | step | arithmetic | channels_last | ms | launch floor, ms | FLOP utilisation | MiB | GFLOP |",
        "|---:|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        arithmetic = "bfloat16" if row["bfloat16"] else "float32"
        head = f"| {row['batch']} | {row['method']} | {arithmetic} | {'yes' if row['channels_last'] else 'no'} |"
        if "error" in row:
            lines.append(f"{head} {row['error']} | | | | {row['flops'] / 1e9:.1f} |")
            continue
        milliseconds, floor = statistics.median(row["seconds"]) * 1000, row["launch_floor"] * 1000
        utilisation = f"{row['utilisation']:.1%}" if "utilisation" in row else ""
        size = f"{row['bytes'] / 2**20:,.0f} | {row['flops'] / 1e9:.1f}"
        lines.append(f"{head} {milliseconds:.3f} | {floor:.3f} | {utilisation} | {size} |")
    return "\n".join(lines)


if __name__ == "__main__":
    tyro.cli(main)
