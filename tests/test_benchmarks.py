"""The parts of the benchmarks that have an answer to compare with; their timings have none."""

import dataclasses
import math
from pathlib import Path

import pytest
import torch

gpu = pytest.importorskip("benchmarks.gpu", reason="a package of the sources has no benchmarks")
CPU = torch.device("cpu")
STEP = gpu.Kind("eager", 6, bfloat16=False, channels_last=True)


def test_flops_of_a_step_are_those_of_its_layers():
    # On a CPU the last layer of 25 taps is computed from phases to phases, with zeros among its 36.
    # multiplications an image: kernel area x channels in x channels out x positions, on the small side
    encoder = [9 * 3 * 32 * 28**2, 16 * 32 * 64 * 14**2, 25 * 64 * 128 * 7**2, 2 * 6272 * 20]
    decoder = [20 * 6272, 36 * 128 * 64 * 7**2, 36 * 64 * 32 * 14**2, 36 * 32 * 3 * 28**2]
    backward = 2 * (sum(encoder) + sum(decoder)) - encoder[0]  # images need no gradient
    assert gpu.flops(STEP, CPU) == 2 * STEP.batch * (sum(encoder) + sum(decoder) + backward)


def test_only_what_puts_work_on_a_gpu_is_a_launch():
    names = ["aten::add", "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaDeviceSynchronize", "cudaGraphLaunch"]
    names += ["cudaLaunchKernel", "cudaMemsetAsync", "cudaStreamIsCapturing"]
    want = {"cudaLaunchKernel": 2, "cudaLaunchKernelExC": 1, "cudaGraphLaunch": 1, "cudaMemsetAsync": 1}
    assert gpu.launches(names) == want


def test_bounds_of_a_step():
    bounds = {"launch": 4e-6, "launch_in_graph": 1e-6, "peak": {"tf32": 4e14, "bfloat16": 8e14}}
    row = {"launches": 100, "kernels": 150, "flops": 4e11, "bfloat16": True}
    found = gpu.bounded(row, 1e-3, bounds)
    assert found == pytest.approx({"launch_floor": 4e-4, "graph_floor": 1.5e-4, "utilisation": 0.5})
    assert gpu.bounded(row | {"bfloat16": False}, 1e-3, bounds)["utilisation"] == pytest.approx(1.0)


def test_every_way_of_taking_the_step_is_named_once():
    kinds = list(gpu._kinds((128, 512), gpu.METHODS))
    assert len(kinds) == len(set(kinds)) == 2 * 2 * (2 + 1 + 1 + 2)
    assert {kind.method for kind in kinds} == set(gpu.METHODS)


def test_a_step_trains():
    loss, optimizer = gpu._parts(STEP, CPU)
    before = float(loss().detach())
    step = gpu._plain(loss, optimizer)
    for _ in range(20):
        step()
    assert float(loss().detach()) < before


@pytest.mark.parametrize("recipe", ["cifar-hvae-tiny-optimal", "bair-svg-gaussian"])
def test_larger_models_take_the_step_too(recipe: str, monkeypatch: pytest.MonkeyPatch):
    narrow = {"svg": {"width": 4, "g": 4, "z": 2, "rnn": 4}, "hvae": {"width": 4}}
    made = gpu.recipe_of(recipe)
    made = dataclasses.replace(made, model=dataclasses.replace(made.model, **narrow[made.model.kind]))
    monkeypatch.setattr(gpu, "recipe_of", lambda _: made)
    loss, optimizer = gpu._parts(dataclasses.replace(STEP, batch=2, recipe=recipe), CPU)
    optimizer.zero_grad()
    loss().backward()
    optimizer.step()
    assert gpu.flops(dataclasses.replace(STEP, recipe=recipe), CPU) > 0


def test_without_a_gpu_it_says_what_it_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "gpu.json"
    gpu.main(batches=(2,), rounds=1, steps=1, dry=True, out=out)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 4
    assert all(math.isfinite(float(line.split("|")[5])) for line in lines[2:])
    assert not out.exists()  # a file of that name is of a GPU


def test_a_contender_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    plain = gpu.built

    def built(kind, device):
        if kind.bfloat16:
            raise RuntimeError("no room")
        return plain(kind, device)

    monkeypatch.setattr(gpu, "built", built)
    gpu.main(batches=(2,), rounds=1, steps=1, dry=True)
    assert capsys.readouterr().out.count("RuntimeError: no room") == 2
