"""Evaluation and sampling against the limit, the bare network's forward pass: what the rest of a metric costs.

    python benchmarks/inference.py

The small VAE with the optimal sigma at 3 x 28 x 28, random weights and images. The limit is the encoder and decoder
alone on tensors in memory, channels_last, in inference_mode, at the batch that is fastest; each contender is compared
with the limit of as many encodings and decodings as it needs. Contenders take turns. Writes
docs/results/inference.json.
"""

import copy
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigmavae.memory import keep_freed_memory

keep_freed_memory()  # before torch, as the program does

import numpy as np  # noqa: E402
import torch  # noqa: E402
import tyro  # noqa: E402
from torch import Tensor  # noqa: E402

import sigmavae  # noqa: E402
from sigmavae.data import Splits, to_unit  # noqa: E402
from sigmavae.files import write_json  # noqa: E402
from sigmavae.metrics import bound, calibration, importance, sigma  # noqa: E402
from sigmavae.metrics.frechet import BATCH as FID_BATCH  # noqa: E402
from sigmavae.metrics.frechet import drawn  # noqa: E402
from sigmavae.metrics.inception import PIECE, Inception, prepared  # noqa: E402
from sigmavae.metrics.items import BATCH, numbers  # noqa: E402
from sigmavae.metrics.posteriors import posteriors  # noqa: E402
from sigmavae.metrics.sigma import CODES  # noqa: E402
from sigmavae.models import ConvVAE  # noqa: E402
from sigmavae.pictures import write_grid  # noqa: E402

SHAPE = (3, 28, 28)
BATCHES = (64, 128, BATCH, 1000)
SAMPLES = (1, 8, 64)  # of the importance bound
PICTURED = 64  # images that `sigmavae sample` draws unless told


@dataclass(frozen=True)
class Contender:
    """Something that goes over images, and how often each is encoded and decoded on the way."""

    work: Callable[[], object]
    images: int
    encodings: int
    decodings: int


def main(rounds: int = 5, images: int = 1000, out: Path = Path("docs/results/inference.json")) -> None:
    """Time so many rounds over so many images; fewer where each is decoded many times."""
    torch.manual_seed(0)
    model = ConvVAE(SHAPE, sigmavae.likelihood("optimal-sigma")).to(memory_format=torch.channels_last).eval()
    data = np.random.default_rng(0).integers(0, 256, (images, *SHAPE), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        limits, shipped = dict(limit_contenders(model, data)), dict(contenders(model, data, Path(folder)))
        times = interleaved(limits | shipped, rounds)
    rates = {name: [limits[name].images / value for value in times[name]] for name in limits}
    best = {part: fastest(rates, part) for part in ("encoder", "decoder", "encoder, bfloat16", "decoder, bfloat16")}
    rows = [row(name, one, times[name], best) for name, one in shipped.items()] + [features_row(rounds)]
    result = {
        "rounds": rounds,
        "limit": best,
        "limits": rates,
        "rows": rows,
        "command": f"python benchmarks/inference.py --rounds {rounds}",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "versions": {"torch": torch.__version__, "python": platform.python_version(), "sigmavae": sigmavae.__version__},
    }
    write_json(out, result)
    for part, rate in best.items():
        print(f"{part:36} {rate:10,.0f} images/s")
    for each in rows:
        print(f"{each['name']:36} {each['rate']:10,.0f} images/s  {each['share']:6.1%} of the limit")
    print(f"wrote {out}")


def limit_contenders(model: ConvVAE, data: np.ndarray) -> Iterator[tuple[str, Contender]]:
    """Yield the bare encoder and decoder, in float32 and with all weights in bfloat16, by batch."""
    half = copy.deepcopy(model)
    half.encoder.bfloat16(), half.decoder.bfloat16()
    x, z = to_unit(torch.tensor(data)), torch.randn(len(data), model.latent)
    for ending, each, dtype in (("", model, torch.float32), (", bfloat16", half, torch.bfloat16)):
        for batch in BATCHES:
            xs, zs = (whole.to(dtype).split(batch) for whole in (x, z))
            yield f"encoder{ending} @{batch}", Contender(over(each.encode, xs), len(data), 1, 0)
            yield f"decoder{ending} @{batch}", Contender(over(each.decode, zs), len(data), 0, 1)
    zs = z.split(BATCH)
    yield f"decoder under no_grad @{BATCH}", Contender(over(model.decode, zs, torch.no_grad), len(data), 0, 1)


def contenders(model: ConvVAE, data: np.ndarray, folder: Path) -> Iterator[tuple[str, Contender]]:
    """Yield what the program does with images, by name."""
    count, few = len(data), data[: max(2, len(data) // 4)]
    splits = Splits(few[: len(few) // 2], few[: len(few) // 2], few, source="random", fingerprint="random")
    x = to_unit(torch.tensor(data[:BATCH]))
    yield "bound", Contender(lambda: dict(bound(model, data, 0)), count, 1, 1)
    for k in SAMPLES:
        yield f"bound of {k} samples", Contender(lambda k=k: dict(importance(model, few, 0, k)), len(few), 1, k)
    # Of the validation and training images, half as many each, one code; of the others CODES.
    yield (
        f"sigma, {CODES} codes",
        Contender(lambda: dict(sigma(model, splits, "test", 0, 128)), len(few), 2, CODES + 1),
    )
    yield "posteriors, for information", Contender(lambda: posteriors(model, data), count, 1, 0)
    codes = len(few)
    yield (
        "calibration, as many prior codes",
        Contender(lambda: dict(calibration(model, few, 0, samples=codes)), len(few), 1, 2),
    )
    yield "samples", Contender(lambda: model.sample(BATCH), BATCH, 0, 1)
    yield "samples with noise", Contender(lambda: model.sample(BATCH, noise=True), BATCH, 0, 1)
    grid = folder / "samples.png"
    yield (
        f"{PICTURED} samples as a picture",
        Contender(lambda: write_grid(grid, model.sample(PICTURED)), PICTURED, 0, 1),
    )
    yield "samples for FID", Contender(for_fid(model, count), count, 0, 1)
    yield "reconstructions", Contender(lambda: model.reconstruct(x), len(x), 1, 1)


def over(
    step: Callable[[Tensor], object], parts: tuple[Tensor, ...], mode: Callable[[], Any] = torch.inference_mode
) -> Callable[[], None]:
    def work() -> None:
        with mode():
            for part in parts:
                step(part)

    return work


def for_fid(model: ConvVAE, count: int) -> Callable[[], None]:
    def work() -> None:
        draw = drawn(model, 0)
        with torch.no_grad():
            for items in numbers(count, FID_BATCH, model.device):
                draw(items)

    return work


def interleaved(named: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every round by name; a round that is not counted comes first."""
    times: dict[str, list[float]] = {name: [] for name in named}
    for number in range(rounds + 1):
        for name, one in named.items():
            began = time.perf_counter()
            one.work()
            times[name] += [time.perf_counter() - began] * (number > 0)
    return times


def fastest(rates: dict[str, list[float]], part: str) -> float:
    """Return images a second of the batch at which a part is fastest, medians over rounds."""
    return max(statistics.median(values) for name, values in rates.items() if name.split(" @")[0] == part)


def row(name: str, one: Contender, seconds: list[float], best: dict[str, float]) -> dict[str, object]:
    """Return a contender's images a second and its share of the limit, in float32 and against bfloat16."""
    shares = [
        one.images * (one.encodings / best[f"encoder{ending}"] + one.decodings / best[f"decoder{ending}"])
        for ending in ("", ", bfloat16")
    ]
    middle = statistics.median(seconds)
    return {
        "name": name,
        "encodings": one.encodings,
        "decodings": one.decodings,
        "rate": one.images / middle,
        "rates": [one.images / value for value in seconds],
        "share": shares[0] / middle,
        "share_of_bfloat16": shares[1] / middle,
    }


def features_row(rounds: int, images: int = 2 * PIECE) -> dict[str, object]:
    """Return images a second of FID's features, and their share of that network alone on images that are prepared."""
    extractor = Inception()
    pixels = torch.randint(0, 256, (images, *SHAPE), dtype=torch.uint8)
    parts = tuple(prepared(part).contiguous(memory_format=torch.channels_last) for part in pixels.split(PIECE))
    both = {
        "alone": Contender(over(extractor._network, parts), images, 0, 0),
        "features": Contender(lambda: extractor(pixels), images, 0, 0),
    }
    seconds = interleaved(both, rounds)
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "name": "FID's features, of that network's limit",
        "encodings": 0,
        "decodings": 0,
        "rate": images / middle["features"],
        "rates": [images / value for value in seconds["features"]],
        "share": middle["alone"] / middle["features"],
    }


if __name__ == "__main__":
    tyro.cli(main)
