"""Write the measured tables of the documentation from docs/results/*.json.

    python benchmarks/tables.py

A table stands between <!-- table NAME --> and <!-- end -->, so that no number in it is typed by hand.
"""

import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
DOCUMENTS = (
    "README.md",
    "docs/likelihoods.md",
    "docs/data.md",
    "docs/metrics.md",
    "docs/performance.md",
    "docs/video.md",
    "docs/hvae.md",
)
DENSITIES = ("gaussian", "beta", "shared", "optimal", "image", "block", "pixel", "student-t")


def likelihoods() -> str:
    rows = _read("likelihoods-10")
    lines = ["| recipe | nll, nats | kind | bits/dim | rate, nats | sigma |", "|---|---:|---|---:|---:|---:|"]
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row["metrics"] for row in rows if row["name"] == name]
        kind = "density" if name.removeprefix("fashion-") in DENSITIES else "mass"
        columns = (("nll", 1), ("bits_per_dim", 3), ("rate", 1), ("sigma", 3))
        nll, bits, rate, sigma = (_interval([m[key] for m in mine if key in m], digits) for key, digits in columns)
        lines.append(f"| `{name}` | {nll} | {kind} | {bits} | {rate} | {sigma} |")
    return "\n".join([*lines, "", f"{_seeds(rows)} {_source(rows, 'python benchmarks/likelihoods.py')}"])


def demo() -> str:
    rows = _read("demo")
    lines = ["| decoder | nll, nats an image | bits/dim of 8-bit data | rate, nats | sigma | error (rmse) |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    plain = {"gaussian": "`gaussian` (mean squared error)", "beta": "`beta`, 0.1 by hand", "optimal": "`optimal-sigma`"}
    for name, title in plain.items():
        mine = [row["metrics"] for row in rows if row["name"] == name]
        cells = [
            _interval([m[key] for m in mine], digits)
            for key, digits in (("nll", 1), ("bits_per_dim", 3), ("rate", 1), ("sigma", 3), ("rmse", 3))
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    note = f"Fashion-MNIST (9,000 images to train on, 2,000 to test), {rows[0]['steps']} steps; lower is better."
    return "\n".join([*lines, "", f"{note} {_seeds(rows)} {_source(rows, 'python benchmarks/demo_seeds.py')}"])


def pipeline() -> str:
    found = _read("data")
    lines = ["| batches of 128, 3 x 32 x 32 | images a second | times the training step's need |", "|---|---:|---:|"]
    times = found["times the training step's need"]
    lines += [f"| {name} | {rate:,.0f} | {times[name]:.1f} |" for name, rate in found["images a second"].items()]
    note = (
        f"{found['images']:,} images: prepared in {found['seconds to prepare']:.1f} s, found again in "
        f"{found['seconds to find again'] * 1000:.1f} ms. Medians; `{found['command']}`; {found['machine']}, "
        f"torch {found['versions']['torch']}."
    )
    return "\n".join([*lines, "", note])


def datasets() -> str:
    found = _read("datasets")
    lines = [
        "| set | train / validation / test | shape | check, s | prepare, s | again, ms | epoch, s | nll | bits/dim |"
    ]
    lines += ["|---|---|---|---:|---:|---:|---:|---:|---:|"]
    for row in found["rows"]:
        data, metrics = row["data"], row["metrics"]
        counts = " / ".join(f"{data[split]:,}" for split in ("train", "validation", "test"))
        shape = " x ".join(map(str, data["shape"]))
        seconds = f"{row['check']:.1f} | {row['prepare']:.1f} | {row['again'] * 1000:.1f}"
        name = row["name"].removesuffix("-optimal")
        lines.append(
            f"| `{name}` | {counts} | {shape} | {seconds} | {row['seconds']:.0f} | {metrics['nll']:.0f} | "
            f"{metrics['bits_per_dim']:.2f} |"
        )
    return "\n".join([*lines, "", f"One seed. {_source(found['rows'], found['command'])}"])


def speed() -> str:
    found = _read("speed")
    lines = [
        "| contender | milliseconds a step | fastest to slowest round | times the plain script |",
        "|---|---:|---:|---:|",
    ]
    plain = statistics.median(found["milliseconds"]["plain script"])
    for name, values in found["milliseconds"].items():
        median = statistics.median(values)
        lines.append(f"| {name} | {median:.1f} | {min(values):.1f} to {max(values):.1f} | {plain / median:.2f} |")
    return "\n".join([*lines, "", f"Medians of {found['rounds']} rounds of {found['steps']} steps. {_at(found)}"])


def svg_speed() -> str:
    found = _read("svg-speed")
    lines = ["| forward and backward pass, float32 | batch | milliseconds | times ours |", "|---|---:|---:|---:|"]
    for recipe, times in found["milliseconds"].items():
        ours = statistics.median(times["all frames at once"])
        for name, values in times.items():
            median = statistics.median(values)
            batch = found["batch"][recipe]
            lines.append(f"| `{recipe}`, {name} | {batch} | {median:.0f} | {median / ours:.2f} |")
    return "\n".join([*lines, "", f"Medians of {found['rounds']} rounds, in turns. {_at(found)}"])


def svg_cost() -> str:
    found = _read("svg-cost")
    rates = list(next(iter(found["recipes"].values()))["hours"])
    lines = [
        f"| recipe | parameters | batch, steps | TFLOP a step | {' | '.join(f'h at {r} TFLOP/s' for r in rates)} |"
    ]
    lines += [f"|---|---:|---:|---:|{'---:|' * len(rates)}"]
    for name, cost in found["recipes"].items():
        hours = " | ".join(f"{cost['hours'][rate]:.2g}" for rate in rates)
        work = f"{cost['batch']}, {cost['steps']:,} | {cost['teraflop_step']:.3g}"
        lines.append(f"| `{name}` | {cost['parameters']:,} | {work} | {hours} |")
    return "\n".join([*lines, "", f"Operations counted, hours computed from them. `{found['command']}`."])


def svg_memory() -> str:
    found = _read("svg-cost")
    lines = ["| likelihood | GiB kept for the backward pass | of it by the likelihood |", "|---|---:|---:|"]
    for name, kept in found["gibibytes"].items():
        lines.append(f"| `{name}` | {kept['kept']:.1f} | {kept['likelihood']:.1f} |")
    return "\n".join([*lines, "", f"`bair-svg-*`, batches of 100 in float32. `{found['command']}`."])


def curves() -> str:
    found = _read("curves")
    variants = found["variants"]
    lines = [f"| seed | {' | '.join(f'nll, {variant}' for variant in variants)} | difference |"]
    lines += ["|---:|" + "---:|" * (len(variants) + 1)]
    rows = {(row["seed"], row["variant"]): row["metrics"] for row in found["rows"]}
    for seed, difference in zip(sorted({seed for seed, _ in rows}), found["differences"], strict=True):
        ends = (rows[seed, variant]["nll"] for variant in variants)
        lines.append(f"| {seed} | {' | '.join(f'{nll:.1f}' for nll in ends)} | {difference:+.1f} |")
    spreads = " and ".join(f"{value:.1f}" for value in found["spread_over_seeds"].values())
    note = (
        f"Nats an image of the test split after {found['steps']} steps, same order and noise in both. Mean difference "
        f"{found['mean_difference']:+.1f}; standard deviation over seeds {spreads}."
    )
    return "\n".join([*lines, "", f"{note} {_at(found)}"])


def ablation() -> str:
    found = _read("ablation")
    lines = ["| without | bfloat16, ms | slower by | float32, ms | slower by |", "|---|---:|---:|---:|---:|"]
    medians = [{k: statistics.median(v) for k, v in found["milliseconds"][p].items()} for p in ("bf16-mixed", "32")]
    for thing in medians[0]:
        cells = [f"{each[thing]:.1f} | {each[thing] / each['nothing'] - 1:+.0%}" for each in medians]
        lines.append(f"| {thing} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Medians of {found['rounds']} rounds of {found['steps']} steps. {_at(found)}"])


def inference() -> str:
    found = _read("inference")
    lines = [
        "| | encodings, decodings an image | images a second | slowest to fastest round | of the limit |",
        "|---|---|---:|---:|---:|",
    ]
    for row in found["rows"]:
        needs, rates = f"{row['encodings']}, {row['decodings']}", row["rates"]
        rate = f"{row['rate']:,.0f} | {min(rates):,.0f} to {max(rates):,.0f}"
        lines.append(f"| {row['name']} | {needs} | {rate} | {row['share']:.0%} |")
    limit = ", ".join(f"{part} {rate:,.0f}" for part, rate in found["limit"].items())
    note = f"The limit in images a second: {limit}. Medians of {found['rounds']} rounds."
    return "\n".join([*lines, "", f"{note} {_at(found)}"])


def cold() -> str:
    found = _read("cold")
    lines = ["| | seconds | fastest to slowest |", "|---|---:|---:|"]
    for name, values in found["seconds"].items():
        title = "`sigmavae train fashion-optimal`, to its first step" if name == "first step" else f"`{name}`"
        lines.append(f"| {title} | {statistics.median(values):.2f} | {min(values):.2f} to {max(values):.2f} |")
    return "\n".join([*lines, "", f"Medians of {found['rounds']} fresh processes. {_at(found)}"])


def heads() -> str:
    found = _read("heads")
    rows = {(row["name"], row["side"]): row for row in found["rows"] if row["form"] == "given"}
    sides = sorted({side for _, side in rows})
    shapes = [" x ".join(map(str, next(r["shape"] for r in rows.values() if r["side"] == side))) for side in sides]
    lines = ["| likelihood | " + " | ".join(f"{shape}, ms | MiB" for shape in shapes) + " |"]
    lines += ["|---|" + "---:|" * (2 * len(sides))]
    for name in dict.fromkeys(name for name, _ in rows):
        cells = (f"{rows[name, side]['milliseconds']:,.1f} | {rows[name, side]['peak_mib']:,.0f}" for side in sides)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    note = "Forward and backward; median milliseconds, and peak memory of the first step above features and data."
    return "\n".join([*lines, "", f"{note} {_at(found)}"])


def fused() -> str:
    found = _read("heads")
    rows = {(row["name"], row["side"], row["form"]): row for row in found["rows"]}
    lines = ["| likelihood | shape | whole, ms | MiB | fused, ms | MiB | features, MiB |", "|---|---|" + "---:|" * 5]
    for row in (row for row in found["rows"] if row["form"] == "fused"):
        both = (rows.get((row["name"], row["side"], "whole"), {}), row)
        cells = [f"{e['milliseconds']:,.0f} | {e['peak_mib']:,.0f}" if "peak_mib" in e else "none | " for e in both]
        shape = " x ".join(map(str, row["shape"]))
        lines.append(f"| `{row['name']}` | {shape} | {' | '.join(cells)} | {row['features_mib']:,.0f} |")
    note = (
        f"A 1x1 layer of {found['width']} inputs and the likelihood, forward and backward to inputs, weight and bias. "
        "Memory as above; the gradient of the inputs, as large as they are, is in it. None: "
        "not tried; sixteen times what it takes at 256 x 256 is more than most machines have to spare."
    )
    return "\n".join([*lines, "", f"{note} {_at(found)}"])


EVALUATED = (
    ("nll", "nll, nats"),
    ("nll_recalibrated", "... sigma refitted to validation images"),
    ("nll_importance", "bound of 64 samples, nats"),
    ("bits_per_dim", "bits/dim"),
    ("bits_per_dim_recalibrated", "... sigma refitted"),
    ("floor", "floor of the nll"),
    ("rate", "rate, nats"),
    ("information_mc", "information, Monte Carlo"),
    ("information_cap", "... its cap, ln N"),
    ("information_gaussian", "information, Gaussian (upper bound)"),
    ("information_mixture", "information, mixture (upper bound)"),
    ("marginal_kl_mixture", "mismatch with the prior, mixture (lower bound)"),
    ("active_units", "active units of 20"),
    ("sigma_used", "sigma used: running average"),
    ("sigma_exact_train", "... exact, training images"),
    ("sigma_exact_validation", "... exact, validation images"),
    ("sigma_exact_test", "... exact, these images"),
    ("nats_used", "nats an image that the sigma used costs"),
    ("nats_exact_train", "... that of the training images"),
    ("nats_exact_validation", "... that of the validation images"),
    ("nats_batch", "... each test batch's own (the released code)"),
    ("sigma_error_batch", "standard error of sigma from one batch, relative"),
    ("sigma_error_code_batch", "... the part from one code an image"),
    ("calibration_error", "calibration error"),
    ("calibration_error_chance", "... by chance"),
    ("calibration_coverage_90", "coverage of central 90 % intervals"),
    ("calibration_sharpness", "... their mean width"),
    ("calibration_z_variance", "z-score variance"),
    ("prior_calibration_error", "calibration error of the prior predictive"),
    ("fid", "FID"),
    ("fid_samples", "... samples, and as many images"),
    ("kid", "KID"),
)


def evaluations() -> str:
    found = _read("evaluations")
    rows = found["rows"]
    lines = ["| | " + " | ".join(f"`{row['name']}`" for row in rows) + " |", "|---|" + "---:|" * len(rows)]
    for key, title in EVALUATED:
        cells = []
        for row in rows:
            value, error = row["metrics"][key], row["metrics"].get(_stderr(key))
            cells.append(
                f"{value:,.4g}" if error is None else f"{value:,.{_digits(error)}f} ± {error:.{_digits(error)}f}"
            )
        lines.append(f"| {title} | {' | '.join(cells)} |")
    seconds = {name: [row["measured"][name]["seconds"] for row in rows] for name in rows[0]["measured"]}
    took = "; ".join(f"{name} {' and '.join(f'{s:.1f}' for s in both)} s" for name, both in seconds.items())
    sizes = " and ".join(f"{row['data']['test']:,}" for row in rows)
    return "\n".join([*lines, "", f"{sizes} test images, seed 0. Time: {took}. {_source(rows, found['command'])}"])


def information() -> str:
    found = _read("information")
    lines = ["| rate, nats | KL by Monte Carlo | KL, Gaussian | KL, mixture | seconds |", "|---:|---:|---:|---:|---:|"]
    for row in found["rows"]:
        kls = " | ".join(f"{row[key]:.4f}" for key in ("mc", "gaussian", "mixture"))
        lines.append(f"| {row['rate']} | {kls} | {row['seconds']:.0f} |")
    note = (
        f"Posteriors whose aggregate is N(0, I): the mismatch is 0. N = {found['images']:,}, M = {found['samples']:,}, "
        f"{found['latent']} dimensions, ln N = {found['rows'][0]['cap']:.2f}; {found['peak_mib']:.0f} MiB at most, "
        "torch's own included."
    )
    return "\n".join([*lines, "", f"{note} {_source([found], found['command'])}"])


def frechet() -> str:
    full, half = _read("frechet"), _read("frechet-bfloat16")
    lines = ["| CIFAR-10, real images | float32 | bfloat16 |", "|---|---:|---:|"]
    pairs = f"{full['train_images']:,} training against {full['test_images']:,} test images"
    for key, title, form in (
        ("fid_train_test", f"FID, {pairs}", "{:.3f}"),
        ("kid_train_test", "KID, the same", "{:.6f}"),
        ("fid_noise_test", f"FID, {full['noise_images']:,} images of noise against the test images", "{:.1f}"),
        ("features_per_second", "features a second", "{:,.0f}"),
    ):
        lines.append(f"| {title} | {form.format(full[key])} | {form.format(half[key])} |")
    return "\n".join([*lines, "", _source([full], full["command"])])


def cost() -> str:
    found = _read("cost")
    lines = [
        "| recipe | parameters, M | batch | steps | TFLOP a step | all direct | hours | kept, GiB | computed twice |"
    ]
    lines += ["|---|" + "---:|" * 8]
    for row in found["rows"]:
        direct = row["flops"] - row["flops_of_maps"] + row["flops_of_maps_directly"]
        cells = [f"{row['parameters'] / 1e6:.2f}", row["batch"], f"{row['steps']:,}", f"{row['flops'] / 1e12:.3g}"]
        cells += [f"{direct / 1e12:.3g}", f"{row['hours']:.1g}" if row["hours"] < 0.1 else f"{row['hours']:.1f}"]
        cells += [f"{mib / 1024:.2f}" for mib in row["kept_mib"]]
        lines.append(f"| `{row['name']}` | {' | '.join(map(str, cells))} |")
    note = f"Counted, not timed. Hours at {found['sustained'] / 1e12:.0f} TFLOP/s, half of the float32 peak of an A100."
    return "\n".join([*lines, "", f"{note} `{found['command']}`; torch {found['versions']['torch']}."])


def step() -> str:
    found = _read("hierarchy-step")
    lines = ["| the paper's model, batch of 4 | seconds a step | most memory, MiB |", "|---|---:|---:|"]
    lines += [f"| {name} | {row['seconds']:.2f} | {row['mib']:,.0f} |" for name, row in found["steps"].items()]
    return "\n".join([*lines, "", _at(found)])


def maps() -> str:
    found = _read("hierarchy-step")
    lines = ["| images | direct, ms | through Fourier space, ms |", "|---:|---:|---:|"]
    lines += [
        f"| {size} | {' | '.join(f'{1000 * s:.0f}' for s in row.values())} |" for size, row in found["maps"].items()
    ]
    return "\n".join([*lines, "", f"96 to 76 channels, 16 x 16, float32, there and back. {_at(found)}"])


def choices() -> str:
    found = _read("hierarchy-choices")
    lines = [
        "| log-variance | skips | nll, nats | bits/dim | rate, nats | updates left out |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in found["rows"]:
        metrics, model = row["metrics"], row["model"]
        cells = [f"{metrics['nll']:.0f} ± {metrics['nll_stderr']:.0f}", f"{metrics['bits_per_dim']:.3f}"]
        cells += [f"{metrics['rate']:.0f}", str(row["left_out"])]
        lines.append(f"| {model['log_variance']} | {'yes' if model['skips'] else 'no'} | {' | '.join(cells)} |")
    note = (
        f"`cifar-hvae-tiny-optimal`, {found['rows'][0]['steps']} steps without averaged weights, one seed; test images."
    )
    return "\n".join([*lines, "", f"{note} {_source(found['rows'], found['command'])}"])


def hierarchy() -> str:
    found = _read("hierarchy")
    lines = [
        "| run | parameters, M | steps | minutes | bits/dim | nll, nats | rate, nats | validation nll at equal time |"
    ]
    lines += ["|---|" + "---:|" * 7]
    for row in found["rows"]:
        m = row["metrics"]
        cells = [f"{row['parameters'] / 1e6:.2f}", f"{row['steps']:,}", f"{row['seconds'] / 60:.0f}"]
        cells += [f"{m['bits_per_dim']:.3f} ± {m['bits_per_dim_stderr']:.3f}", f"{m['nll']:.0f}", f"{m['rate']:.0f}"]
        cells += ["" if row["at_equal_time"] is None else f"{row['at_equal_time']:.0f}"]
        lines.append(f"| `{row['name']}` | {' | '.join(cells)} |")
    note = f"One seed. Equal time: {found['seconds_shared'] / 60:.0f} minutes of training."
    return "\n".join([*lines, "", f"{note} {_source(found['rows'], found['command'])}"])


def moving_mnist() -> str:
    found = _read("moving-mnist")
    lines = ["| | " + " | ".join(f"`{row['name']}`" for row in found["rows"]) + " |"]
    lines += ["|---|" + "---:|" * len(found["rows"])]
    last = max(key for key in found["rows"][0]["metrics"] if key.startswith("psnr_frame_") and "stderr" not in key)[-2:]
    wanted = (
        ("nll, nats a frame", "video_nll", "{:.0f}"),
        ("the same with sigma refitted to validation videos", "video_nll_recalibrated", "{:.0f}"),
        ("bits/dim of the 8-bit data", "video_bits_per_dim", "{:.3f}"),
        ("the same with sigma refitted", "video_bits_per_dim_recalibrated", "{:.3f}"),
        ("rate, nats a frame", "video_rate", "{:.1f}"),
        ("sigma", "sigma", "{:.3f}"),
        ("calibration error", "video_error", "{:.3f}"),
        ("PSNR of a future, dB", "psnr", "{:.2f}"),
        ("PSNR of the best", "psnr_best", "{:.2f}"),
        (f"PSNR of the best, frame {last}", f"psnr_best_frame_{last}", "{:.2f}"),
        ("SSIM of a future", "ssim", "{:.3f}"),
        ("SSIM of the best", "ssim_best", "{:.3f}"),
        (f"SSIM of the best, frame {last}", f"ssim_best_frame_{last}", "{:.3f}"),
    )
    for title, key, form in wanted:
        metrics = [row["metrics"] for row in found["rows"]]
        cells = [f"{form.format(m[key])} ± {form.format(m[_stderr(key)])}" if _stderr(key) in m else form.format(m[key])
                 for m in metrics]  # fmt: skip
        lines.append(f"| {title} | {' | '.join(cells)} |")
    for title, part in (("first", slice(0, 5)), ("last", slice(-5, None))):
        cells = [f"{statistics.mean(row['sharpness'][part]):.2f}" for row in found["rows"]]
        lines.append(f"| sharpness of futures, {title} five frames | {' | '.join(cells)} |")
    one = found["rows"][0]
    of = one["metrics"]["video_predictions"]
    note = f"{one['steps']:,} steps of one seed. The best of {of} futures, by each measure."
    return "\n".join([*lines, "", f"{note} {_at(found)}"])


def _stderr(name: str) -> str:
    ending = "_recalibrated" if name.endswith("_recalibrated") else ""
    return f"{name.removesuffix(ending)}_stderr{ending}"


def _digits(error: float) -> int:
    """Return how many digits after the point show one of the error that counts; four if it is next to nothing."""
    return 4 if error < 1e-4 else max(0, -math.floor(math.log10(error)))


TABLES = {
    "evaluations": evaluations,
    "frechet": frechet,
    "information": information,
    "likelihoods": likelihoods,
    "demo": demo,
    "pipeline": pipeline,
    "datasets": datasets,
    "speed": speed,
    "ablation": ablation,
    "moving_mnist": moving_mnist,
    "curves": curves,
    "inference": inference,
    "cold": cold,
    "heads": heads,
    "fused": fused,
    "svg_speed": svg_speed,
    "svg_cost": svg_cost,
    "svg_memory": svg_memory,
    "cost": cost,
    "step": step,
    "maps": maps,
    "choices": choices,
    "hierarchy": hierarchy,
}


def rewritten(text: str) -> str:
    """Return a document with every table in it written anew."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- table {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- table (\w+) -->.*?<!-- end -->", table, text, flags=re.DOTALL)


def _seeds(rows: list[dict[str, Any]]) -> str:
    seeds = sorted({row["seed"] for row in rows})
    return f"Mean and standard deviation over seeds {', '.join(map(str, seeds))}."


def _interval(values: list[float], digits: int) -> str:
    if not values:
        return ""
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if f"{spread:.{digits}f}" == f"{0:.{digits}f}" else f"{mean} ± {spread:.{digits}f}"


def _read(name: str) -> Any:
    content: Any = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _at(found: dict[str, Any]) -> str:
    versions = found["versions"]
    return f"`{found['command']}`; {found['machine']}, torch {versions['torch']}, sigmavae {versions['sigmavae']}."


def _source(rows: list[dict[str, Any]], command: str) -> str:
    versions = rows[0]["versions"]
    return (
        f"`{command}`; torch {versions['torch']}, Python {versions['python']}, "
        f"sigmavae {versions['sigmavae']}, {rows[0]['device']}."
    )


if __name__ == "__main__":
    for document in DOCUMENTS:
        path = ROOT / document
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {path}")
