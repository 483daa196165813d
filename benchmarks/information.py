"""How exact the estimators of information are at rates of 1 to 100 nats, and what they cost.

    python benchmarks/information.py --images 50000 --samples 5000

measures posteriors whose aggregate is N(0, I): the marginal KL is 0 and all of the rate is information. The last two
columns are the largest error of ln m(z) against differences taken in float64, as computed and were it float32.
"""

import math
import platform
import resource
import time
from pathlib import Path

import torch
import tyro

import sigmavae
from sigmavae.files import write_json
from sigmavae.metrics.aggregate import log_aggregate
from sigmavae.metrics.information import information_of
from sigmavae.metrics.posteriors import Posteriors

RATES = (1, 5, 14, 32, 60, 100)


def codes(rate: float, images: int, latent: int) -> Posteriors:
    variance = math.exp(-2 * rate / latent)
    mean = torch.randn(images, latent, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return Posteriors((1 - variance) ** 0.5 * mean, torch.full_like(mean, math.log(variance)))


def by_differences(z: torch.Tensor, q: Posteriors) -> torch.Tensor:
    rows = [((row - q.mean).square() * torch.exp(-q.log_variance) + q.log_variance).sum(1) for row in z]
    constant = 0.5 * z.shape[1] * math.log(2 * math.pi) + math.log(len(q))
    return torch.stack([torch.logsumexp(-0.5 * row, 0) for row in rows]) - constant


def in_float32(z: torch.Tensor, q: Posteriors) -> torch.Tensor:
    z, mean, precision = z.float(), q.mean.float(), torch.exp(-q.log_variance).float()
    quadratic = z.square() @ precision.T - 2 * z @ (precision * mean).T + (precision * mean.square()).sum(1)
    constant = 0.5 * z.shape[1] * math.log(2 * math.pi) + math.log(len(q))
    return torch.logsumexp(-0.5 * (quadratic + q.log_variance.float().sum(1)), 1).double() - constant


def main(
    images: int = 50_000, samples: int = 5_000, latent: int = 20, out: Path = Path("docs/results/information.json")
) -> None:
    rows = []
    print("rate      mc  gaussian  mixture   seconds  float64  float32")
    for rate in RATES:
        q = codes(rate, images, latent)
        begun = time.perf_counter()
        found = dict(information_of(q, 0, samples))
        seconds = time.perf_counter() - begun
        few = Posteriors(q.mean[:2000], q.log_variance[:2000])
        z = Posteriors(q.mean[:100], q.log_variance[:100]).sample(torch.randn_like)
        exact = by_differences(z, few)
        errors = [float((method(z, few) - exact).abs().max()) for method in (log_aggregate, in_float32)]
        kls = [found[f"marginal_kl_{kind}"] for kind in ("mc", "gaussian", "mixture")]
        rows.append(
            {"rate": rate, "cap": found["information_cap"], "mc": kls[0], "gaussian": kls[1], "mixture": kls[2]}
        )
        rows[-1] |= {"seconds": seconds, "float64_error": errors[0], "float32_error": errors[1]}
        print(
            f"{rate:4d} {kls[0]:7.3f} {kls[1]:9.4f} {kls[2]:8.4f} {seconds:9.1f} {errors[0]:8.0e} {errors[1]:8.0e}",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{images} images, {samples} samples, {latent} dimensions: {peak:.0f} MiB at most, torch's own included")
    result = {
        "images": images,
        "samples": samples,
        "latent": latent,
        "rows": rows,
        "peak_mib": peak,
        "command": f"python benchmarks/information.py --images {images} --samples {samples}",
        "device": f"cpu, {torch.get_num_threads()} threads",
        "versions": {
            "torch": torch.__version__,
            "python": platform.python_version(),
            "sigmavae": sigmavae.__version__,
        },
    }
    write_json(out, result)
    print(f"wrote {out}")


if __name__ == "__main__":
    tyro.cli(main)
