"""What each trick of the training step is worth: the step without it, beside the step as it is shipped.

    python benchmarks/ablation.py --rounds 5

Fresh processes take turns, in bfloat16 and in float32. Writes docs/results/ablation.json.
"""

import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

import torch
import tyro
from contenders.without import THINGS

import sigmavae
from sigmavae.files import write_json

HERE = Path(__file__).parent / "contenders"
WARM_UP = 8  # steps that are not counted
PRECISIONS = ("bf16-mixed", "32")


def main(rounds: int = 5, steps: int = 24, out: Path = Path("docs/results/ablation.json")) -> None:
    times: dict[str, dict[str, list[float]]] = {precision: {} for precision in PRECISIONS}
    for number in range(rounds):
        for precision in PRECISIONS:
            for thing in THINGS:
                median = statistics.median(_seconds(thing, precision, steps + WARM_UP)[WARM_UP:])
                times[precision].setdefault(thing, []).append(median * 1000)
                print(f"round {number + 1} of {rounds}  {precision:10} without {thing:36} {median * 1000:8.1f} ms")
    result = {
        "rounds": rounds,
        "steps": steps,
        "milliseconds": times,
        "command": f"python benchmarks/ablation.py --rounds {rounds} --steps {steps}",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out}")


def _seconds(thing: str, precision: str, steps: int) -> list[float]:
    command = [sys.executable, str(HERE / "without.py"), thing, precision, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return [float(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    tyro.cli(main)
