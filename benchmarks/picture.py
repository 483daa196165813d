"""Draw the README's picture from the runs of a demonstration: real images, reconstructions and samples by decoder.

    python benchmarks/picture.py --demo runs/demo/seed0

writes docs/pictures/demo.png.
"""

import json
from pathlib import Path

import tyro
from PIL import Image, ImageDraw, ImageFont

from sigmavae.demo import CONTENDERS
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.pictures import COLUMNS, GAP

SCALE, LABEL, SPACE, TITLE = 2, 210, 28, 30
INK, PALE, PAPER = "#1c2126", "#5d6670", "white"


def main(demo: Path = Path("runs/demo/seed0"), out: Path = Path("docs/pictures/demo.png")) -> None:
    folders = [demo / SHORT_NAMES[contender.name] for contender in CONTENDERS]
    rows = [("real", "", (_first_row(folders[0] / "pictures" / "real.png"),))]
    for folder in folders:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        pictures = folder / "pictures"
        strips = (_first_row(pictures / "reconstructions.png"), _first_row(pictures / "samples.png"))
        rows.append((result["experiment"]["likelihood"]["name"], f"sigma {result['metrics']['sigma']:.3f}", strips))
    strip = rows[0][2][0]
    height = TITLE + len(rows) * (strip.height + 2 * SCALE * GAP)
    sheet = Image.new("RGB", (LABEL + 2 * strip.width + SPACE, height), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(17)
    lefts = (LABEL, LABEL + strip.width + SPACE)
    for left, title in zip(lefts, ("reconstructed", "sampled"), strict=True):
        draw.text((left, 4), title, PALE, font)
    for number, (name, note, strips) in enumerate(rows):
        top = TITLE + number * (strip.height + 2 * SCALE * GAP)
        draw.text((0, top + 6), name, INK, font)
        draw.text((0, top + 28), note, PALE, font)
        for left, one in zip(lefts, strips, strict=False):
            sheet.paste(one, (left, top), one)
    out.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(out, optimize=True)
    print(f"wrote {out}")


def _first_row(path: Path) -> Image.Image:
    with Image.open(path) as grid:
        side = (grid.width + GAP) // COLUMNS - GAP
        return grid.crop((0, 0, grid.width, side)).resize((grid.width * SCALE, side * SCALE), Image.Resampling.NEAREST)


if __name__ == "__main__":
    tyro.cli(main)
