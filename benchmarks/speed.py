"""Training speed side by side: contenders take turns in fresh processes, so that no minute of the machine favours one.

    python benchmarks/speed.py --rounds 5

The small VAE at 3 x 28 x 28, batches of 128, on images of 32 x 32 random bytes: ours as a user starts it, in the
arithmetic it chooses and in float32; a plain script as people write it, which resizes images as it reads them; pythae
with the same layers, where it is installed (--pythae FOLDER), on arrays that are resized; the convolutions alone, which
no trainer of these layers can beat; and as many multiplications in large matrix products, which is what the machine can
do at most. Writes docs/results/speed.json.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import tyro

import sigmavae
from sigmavae.files import write_json

HERE = Path(__file__).parent / "contenders"
BATCH, WARM_UP = 128, 10  # steps that are not counted
EVERY = 5  # steps between the lines of our journal


def main(
    rounds: int = 5, steps: int = 50, pythae: Path | None = None, out: Path = Path("docs/results/speed.json")
) -> None:
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder) / "images.npy"
        np.save(images, np.random.default_rng(0).integers(0, 256, (BATCH * 60, 32, 32, 3), dtype=np.uint8))
        contenders = _contenders(images, Path(folder), steps + WARM_UP, pythae)
        for number in range(rounds):
            for name, seconds in contenders.items():
                times.setdefault(name, []).append(statistics.median(seconds(number)[WARM_UP:]))
                print(f"round {number + 1} of {rounds}  {name:28} {times[name][-1] * 1000:8.1f} ms", flush=True)
    result = {
        "rounds": rounds,
        "steps": steps,
        "milliseconds": {name: [value * 1000 for value in values] for name, values in times.items()},
        "command": f"python benchmarks/speed.py --rounds {rounds} --pythae FOLDER",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    plain = statistics.median(times["plain script"])
    for name, values in times.items():
        median = statistics.median(values)
        spread = f"{min(values) * 1000:.1f} to {max(values) * 1000:.1f}"
        print(f"{name:28} {median * 1000:8.1f} ms ({spread})  {plain / median:5.2f} x the plain script")
    print(f"wrote {out}")


def _contenders(images: Path, folder: Path, steps: int, pythae: Path | None) -> dict[str, Callable[[int], list[float]]]:
    """Return by name what runs a contender once and gives the seconds of its steps."""
    found = {
        "plain script": lambda _: _printed("plain.py", images, steps),
        "ours": lambda number: _ours(images, folder / f"auto-{number}", steps, "auto"),
        "ours, float32": lambda number: _ours(images, folder / f"32-{number}", steps, "32"),
        "convolutions alone, bfloat16": lambda _: _printed("limit.py", "bf16-mixed", steps),
        "convolutions alone, float32": lambda _: _printed("limit.py", "32", steps),
        "as large products, bfloat16": lambda _: _printed("product.py", "bf16-mixed", steps),
        "as large products, float32": lambda _: _printed("product.py", "32", steps),
    }
    if pythae is not None:
        found["pythae"] = lambda _: _printed("pythae_vae.py", images, steps, path=str(pythae))
    return found


def _printed(script: str, *words: object, path: str = "") -> list[float]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))}
    command = [sys.executable, str(HERE / script), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(line) for line in done.stdout.splitlines() if _is_number(line)]


def _ours(images: Path, folder: Path, steps: int, precision: str) -> list[float]:
    """Train as a user does, and read the seconds of each step from the run's journal."""
    words = [
        "train",
        "arrays-optimal",
        "--data.path",
        str(images),
        "--data.size",
        "28",
        "--train.steps",
        str(steps),
        "--out",
        str(folder),
    ]
    words += ["--train.log-every", str(EVERY), "--precision", precision]
    environment = os.environ | {"SIGMAVAE_CACHE": str(folder.parent / "cache")}
    subprocess.run(
        [sys.executable, "-m", "sigmavae", *words], capture_output=True, text=True, check=True, env=environment
    )
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    each = [BATCH / line["images_per_second"] for line in lines if line["split"] == "train"]
    return [seconds for seconds in each for _ in range(EVERY)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    tyro.cli(main)
