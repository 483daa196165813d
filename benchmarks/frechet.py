"""Measure the distances between real images, and from them to noise: what FID and KID are where nothing was learned.

    python benchmarks/frechet.py --data FOLDER --images 10000

writes docs/results/frechet.json: features a second, FID and KID of CIFAR-10's training against its test images, and FID
of uniform noise against the test images. FOLDER holds CIFAR-10 as published; without it the embedded images stand in,
whose distances mean little: for the speed. On two CPU cores features come at 10 to 20
images a second, so 10,000 images of each take half an hour; those of test images are kept for the next time.
"""

import json
import platform
import time
from pathlib import Path

import numpy as np
import torch
import tyro
from rich.console import Console

import sigmavae
from sigmavae.config import DataConfig
from sigmavae.data import load
from sigmavae.data.splits import Images, chosen
from sigmavae.devices import best_device
from sigmavae.metrics.features import Seen, see, see_real
from sigmavae.metrics.frechet import BATCH, frechet_distance
from sigmavae.metrics.inception import Inception
from sigmavae.metrics.kernel import kernel_distance
from sigmavae.progress import Bars

NOISE = 2000  # images of noise at most: their distance is in the hundreds at any number


def main(
    data: Path | None = None,
    images: int = 10_000,
    inception: Path | None = None,
    bfloat16: bool = False,
    out: Path = Path("docs/results/frechet.json"),
) -> None:
    """Measure so many images of each kind; --bfloat16 shows what that costs and gains, into another --out."""
    start, device = time.perf_counter(), best_device()
    extractor = Inception(inception, device, torch.bfloat16 if bfloat16 else torch.float32)
    with Bars(Console(stderr=True)) as bars:
        splits = load(DataConfig("cifar", path=data) if data else DataConfig("fashion", channels=3), bars)
        train, test = (_some(whole, images) for whole in (splits.train, splits.test))
        count = min(images, NOISE)
        noise = np.random.default_rng(0).integers(0, 256, (count, *splits.shape), dtype=np.uint8)

        def seen(name: str, kind: Images) -> tuple[Seen, float]:
            begun = time.perf_counter()
            found = see(
                len(kind),
                lambda items: torch.from_numpy(kind[items.cpu().numpy()]),
                extractor,
                device,
                batch=BATCH,
                progress=bars,
                name=name,
            )
            return found, len(kind) / (time.perf_counter() - begun)

        (of_train, speed), (of_noise, _) = seen("training images", train), seen("noise", noise)
        which = f"{splits.fingerprint}-test" + ("" if len(test) == len(splits.test) else " at random")
        of_test = see_real(test, which, extractor, device, batch=BATCH, progress=bars)
    begun = time.perf_counter()
    fid = frechet_distance(of_train.moments, of_test.moments)
    fid_seconds, begun = time.perf_counter() - begun, time.perf_counter()
    kid, kid_stderr = kernel_distance(of_train.kept, of_test.kept)
    kid_seconds = time.perf_counter() - begun
    result = {
        "train_images": len(train),
        "test_images": len(test),
        "noise_images": len(noise),
        "fid_train_test": fid,
        "kid_train_test": kid,
        "kid_train_test_stderr": kid_stderr,
        "fid_noise_test": frechet_distance(of_noise.moments, of_test.moments),
        "features_per_second": speed,
        "fid_seconds": fid_seconds,
        "kid_seconds": kid_seconds,
        "seconds": time.perf_counter() - start,
        "features": extractor.identity,
        "data": {"source": splits.source, "fingerprint": splits.fingerprint},
        "command": f"python benchmarks/frechet.py{' --data FOLDER' * bool(data)} --images {images}"
        + " --bfloat16" * bfloat16,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else _processor(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "sigmavae": sigmavae.__version__,
        },
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    print(f"wrote {out}")


def _some(images: Images, count: int) -> Images:
    """Return so many images at random (seed 0), or all."""
    return images[chosen(len(images), min(count, len(images)))[0]]


def _processor() -> str:
    return f"cpu, {torch.get_num_threads()} threads, {platform.machine()}"


if __name__ == "__main__":
    tyro.cli(main)
