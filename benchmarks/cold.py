"""How long one waits: for help, and from `sigmavae train` to the first step's line in the journal.

    python benchmarks/cold.py

Fresh processes, the files of Python and torch in the system's cache. Writes docs/results/cold.json.
"""

import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import tyro

import sigmavae
from sigmavae.files import write_json
from sigmavae.training.journal import Journal

PROGRAM = (sys.executable, "-m", "sigmavae")
TRAIN = ("train", "fashion-optimal", "--train.steps", "1", "--train.log-every", "1")
PATIENCE = 120.0


def main(rounds: int = 5, out: Path = Path("docs/results/cold.json")) -> None:
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 1):  # the first fills the system's cache and is not counted
        with tempfile.TemporaryDirectory() as folder:
            found = {"sigmavae --help": until_done("--help"), "first step": until_first_step(Path(folder) / "run")}
        for name, value in found.items():
            seconds.setdefault(name, []).extend([value] * (number > 0))
    result = {
        "rounds": rounds,
        "seconds": seconds,
        "command": f"python benchmarks/cold.py --rounds {rounds}",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    for name, values in seconds.items():
        print(f"{name:20} {statistics.median(values):6.3f} s ({min(values):.3f} to {max(values):.3f})")
    print(f"wrote {out}")


def until_done(*words: str) -> float:
    began = time.perf_counter()
    subprocess.run([*PROGRAM, *words], check=True, capture_output=True)
    return time.perf_counter() - began


def until_first_step(folder: Path) -> float:
    """Return the seconds until the journal has the first step; the program then ends by itself."""
    began = time.perf_counter()
    with subprocess.Popen(
        [*PROGRAM, *TRAIN, "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while not Journal.read(folder):
            if time.perf_counter() - began > PATIENCE or process.poll() not in (None, 0):
                raise RuntimeError(f"no first step from: {' '.join(TRAIN)}")
            time.sleep(0.002)
        return time.perf_counter() - began


if __name__ == "__main__":
    tyro.cli(main)
