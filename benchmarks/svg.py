"""How much sooner all frames in one call are done than one after the other: SVG-LP, forward and backward.

    python benchmarks/svg.py --rounds 3

Teacher forcing tells every network its inputs in advance, so ours sees all frames at once, and what the decoder makes
of the maps passed on to it is computed once a sequence. Contenders take turns: ours; the same networks frame by frame;
and frame by frame with every frame encoded twice, as target and as what comes before the next, as the released code
has it. What is timed is the loss and its gradients in float32, without Adam's update.

Writes docs/results/svg-speed.json; --only RECIPE measures one setting anew and keeps the others.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import tyro
from torch import Tensor

import sigmavae
from sigmavae.files import read_json, write_json
from sigmavae.memory import keep_freed_memory
from sigmavae.models import SVG
from sigmavae.models.gaussian_latent import draw
from sigmavae.models.recurrent import kl_of_gaussians
from sigmavae.recipes import recipe

SETTINGS = {"moving-mnist-narrow-optimal": 16, "moving-mnist-svg-optimal": 4, "bair-svg-optimal": 2}  # batch
CHANNELS = {"bair-svg-optimal": 3}


def main(
    rounds: int = 3, only: tuple[str, ...] = tuple(SETTINGS), out: Path = Path("docs/results/svg-speed.json")
) -> None:
    keep_freed_memory()
    before = read_json(out)["milliseconds"] if out.exists() else {}
    found = before | {name: _measured(name, rounds) for name in only}
    result = {
        "milliseconds": found,
        "batch": {name: SETTINGS[name] for name in found},
        "rounds": rounds,
        "command": f"python benchmarks/svg.py --rounds {rounds}",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {os.cpu_count()} cores",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out}")


def _measured(name: str, rounds: int) -> dict[str, list[float]]:
    torch.manual_seed(0)
    experiment = recipe(name)
    shape = (experiment.model.past + experiment.model.future, CHANNELS.get(name, 1), 64, 64)
    net = experiment.model.build(shape, experiment.likelihood.build(shape)).to(memory_format=torch.channels_last)
    x = torch.rand(SETTINGS[name], *shape)
    contenders: dict[str, Callable[[], Tensor]] = {
        "all frames at once": lambda: net(x).loss,
        "frame by frame": lambda: one_by_one(net, x, twice=False),
        "frame by frame, encoded twice": lambda: one_by_one(net, x, twice=True),
    }
    times: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for each, loss in contenders.items():
            start = time.perf_counter()
            net.zero_grad()
            loss().backward()
            if number:  # the first is not counted
                times.setdefault(each, []).append((time.perf_counter() - start) * 1000)
    ours = statistics.median(times["all frames at once"])
    for each, values in times.items():
        median = statistics.median(values)
        print(f"{name:30} {each:32} {median:9.1f} ms  {median / ours:5.2f} x ours", flush=True)
    return times


def one_by_one(net: SVG, x: Tensor, twice: bool) -> Tensor:
    """Return the loss of a batch, computed a frame at a time."""
    states = dict.fromkeys(("q", "p", "f"))
    features, rate = [], torch.zeros(len(x))
    now = net.encoder(x[:, 0])
    for t in range(1, x.shape[1]):
        before = net.encoder(x[:, t - 1]) if twice else now
        now = net.encoder(x[:, t])
        if t - 1 <= net.last_skip:
            maps = before[1]
        q, states["q"] = net.posterior(now[0].unsqueeze(1), states["q"])
        p, states["p"] = net.prior(before[0].unsqueeze(1), states["p"])
        z = draw(*q)
        predicted, states["f"] = net.predictor(torch.cat([before[0].unsqueeze(1), z], 2), states["f"])
        if t >= net.past:
            features.append(net.decoder(predicted.squeeze(1), maps))
            rate = rate + kl_of_gaussians(q, p).flatten(1).sum(1)
    target = net.target(x)
    return (rate - net.likelihood(torch.stack(features, 2), target).log_prob(target)).mean()


if __name__ == "__main__":
    tyro.cli(main)
