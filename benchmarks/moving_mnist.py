"""Moving MNIST under several losses: their numbers frame by frame, how sharp futures are, and how they look.

    python benchmarks/moving_mnist.py RUN RUN ...

Reads finished runs that `sigmavae evaluate RUN --metrics bound video calibration --recalibrate` has measured. Sharpness
is the mean absolute difference of neighbouring pixels in futures from the learned prior, over that of the real frames:
1 where edges are as steep as in the data. Writes docs/results/moving-mnist.json and docs/pictures/moving-mnist.png.
"""

import platform
from pathlib import Path
from typing import Any

import torch
import tyro
from torch import Tensor

import sigmavae
from sigmavae.data import Splits, to_unit
from sigmavae.files import read_json, write_json
from sigmavae.filmstrip import futures_of, write_strip
from sigmavae.models import VideoModel
from sigmavae.run import load_run

KEPT = ("nll_per_frame", "nll_discrete", "bits_per_dim", "rate", "sigma", "video_", "psnr", "ssim")


def main(
    runs: tyro.conf.Positional[tuple[Path, ...]],
    videos: int = 100,
    futures: int = 20,
    shown: int = 1,
    out: Path = Path("docs/results/moving-mnist.json"),
    picture: Path = Path("docs/pictures/moving-mnist.png"),
) -> None:
    """Measure sharpness on so many test videos, and show the one of number `shown`, the best of so many futures."""
    rows, strips = [], list[Tensor]()
    for run in runs:
        _, model, splits = load_run(run)
        assert isinstance(model, VideoModel), f"{run} is no model of videos"
        torch.manual_seed(0)
        rows.append(_row(run) | {"sharpness": sharpness(model, splits, videos)})
        torch.manual_seed(0)
        strip = futures_of(model, to_unit(torch.tensor(splits.test[shown])), futures)
        strips += [strip[:3] if not strips else strip[1:3]]  # the truth once; of each the best and one at random
        print(rows[-1]["name"], {key: rows[-1][key] for key in ("steps", "seconds", "sharpness")}, flush=True)
        print("   ", {key: value for key, value in rows[-1]["metrics"].items() if "frame_" not in key})
    result = {
        "rows": rows,
        "videos": videos,
        "futures_shown": futures,
        "command": "python benchmarks/moving_mnist.py RUN ...",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    print(f"wrote {out} and {write_strip(picture, torch.cat(strips), model.past)}")


def sharpness(model: VideoModel, splits: Splits, videos: int) -> list[float]:
    """Return, for every predicted frame, how steep its edges are, of those of the real frame."""
    x = to_unit(torch.tensor(splits.test[:videos]))
    made = torch.cat([model.predict(part)[0] for part in x.split(25)])
    return [steepness(p) / steepness(q) for p, q in zip(made.unbind(1), x[:, model.past :].unbind(1), strict=True)]


def steepness(frames: Tensor) -> float:
    return float((frames.diff(dim=-1).abs().mean() + frames.diff(dim=-2).abs().mean()) / 2)


def _row(run: Path) -> dict[str, Any]:
    result = read_json(run / "result.json")
    metrics = {key: value for key, value in result["metrics"].items() if key.startswith(KEPT) and not _left_out(key)}
    about = ("name", "parameters", "steps", "seconds", "device", "versions", "command")
    experiment = result["experiment"]
    return {key: result[key] for key in about} | {"likelihood": experiment["likelihood"], "metrics": metrics}


def _left_out(key: str) -> bool:
    return "_frame_" in key and ("_stderr" in key or "_recalibrated" in key)


if __name__ == "__main__":
    tyro.cli(main)
