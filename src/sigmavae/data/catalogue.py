"""The data sets by name."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence
from pathlib import Path

from sigmavae.config import DataConfig
from sigmavae.data import arrays, bair, celeba, cifar, frey, idx, images, moving_mnist, svhn, videos
from sigmavae.data.cache import cache_folder, prepared
from sigmavae.data.fashion import load_fashion
from sigmavae.data.prepare import prepare
from sigmavae.data.published import PUBLISHED
from sigmavae.data.source import Format, Source, looking_at
from sigmavae.data.splits import Splits
from sigmavae.errors import ConfigError, DataError
from sigmavae.progress import Progress

EMBEDDED = "fashion"
"""Comes with the package and needs no files."""

FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("mnist", "MNIST, idx files", idx.locate, idx.open_idx, 28, *PUBLISHED["mnist"]),
        Format("fashion-mnist", "Fashion-MNIST, idx files", idx.locate, idx.open_idx, 28, *PUBLISHED["fashion-mnist"]),
        Format("svhn", "SVHN, cropped digits", svhn.locate, svhn.open_svhn, 28, *PUBLISHED["svhn"]),
        Format("cifar", "CIFAR-10", cifar.locate, cifar.open_cifar, 32, *PUBLISHED["cifar"]),
        Format("frey", "Frey Face", frey.locate, frey.open_frey, 28, *PUBLISHED["frey"]),
        Format("celeba", "CelebA, aligned faces", celeba.locate, celeba.open_celeba, 32, *PUBLISHED["celeba"]),
        Format("bair", "BAIR robot pushing, videos", bair.locate, bair.open_bair, 64, *PUBLISHED["bair"]),
        Format("arrays", "your own arrays, .npy or .npz", arrays.locate, arrays.open_arrays),
        Format("images", "your own images, a folder or zip", images.locate, images.open_images, 64),
        Format("videos", "your own videos, GIFs or folders of frames", videos.locate, videos.open_videos, 64),
    )
}
"""Every other data set. A path is taken for the first of them that recognises it, so the particular come first."""

NAMES = (EMBEDDED, *FORMATS)

COMPOSED = moving_mnist.NAME
"""Videos made of the files of `mnist`, for models of videos alone."""

VIDEOS = ("bair", "videos", COMPOSED)
"""Those that recipes for models of videos are named after."""


def load(config: DataConfig, progress: Progress) -> Splits:
    """Return the data that the configuration names, prepared now or before."""
    if config.name == EMBEDDED:
        return load_fashion(config)
    if config.name == COMPOSED:
        training, testing = files_of("mnist", config.path)
        return moving_mnist.open_moving((training, testing), config)
    files = files_of(config.name, config.path)
    options = {**dataclasses.asdict(config), "path": None}

    def make(folder: Path) -> None:
        prepare(opened(FORMATS[config.name], files, config), config, folder, progress)

    return prepared(config.name, files, options, make)


def files_of(name: str, path: Path | None) -> list[Path]:
    """Return the files of a data set at a path, or where they are put when they are fetched."""
    known = find(name)
    place = downloads_folder(name) if path is None else path
    files = located(known, place) if path is not None or place.exists() else []
    if files:
        return files
    if path is not None:
        raise DataError(f"{path}: cannot be read as {known.title}; sigmavae data check {path} says what it is")
    how = f"sigmavae data fetch {name} brings them, or " if known.downloads else ""
    raise DataError(f"data.path: {name} needs files: {how}name them with --data.path")


def located(known: Format, path: Path) -> list[Path]:
    """Return the files of a data set at a path, none if it holds something else."""
    with looking_at(path):
        if not path.exists():
            raise DataError(f"{path}: there is no such file or folder")
        return list(known.locate(path))


def opened(known: Format, files: Sequence[Path], config: DataConfig) -> Source:
    """Return the items in the files of a data set."""
    with looking_at(files[0]):
        return known.open(files, config)


def find(name: str) -> Format:
    """Return the data set of that name, which is read from files."""
    if name == EMBEDDED:
        raise ConfigError(f"data.name={name!r}: is embedded; files of Fashion-MNIST are read as fashion-mnist")
    if name == COMPOSED:
        raise ConfigError(f"data.name={name!r}: is composed from files that are fetched and read as mnist")
    if name not in FORMATS:
        (near,) = difflib.get_close_matches(name, (*NAMES, COMPOSED), n=1, cutoff=0.0)
        raise ConfigError(f"data.name={name!r}: did you mean {near!r}? There are: {', '.join(NAMES)}, {COMPOSED}")
    return FORMATS[name]


def recognise(path: Path) -> tuple[Format, list[Path]]:
    """Return what a path holds, and its files."""
    for known in FORMATS.values():
        if files := located(known, path):
            return known, files
    raise DataError(
        f"{path}: holds nothing that can be read as a data set: give it images (PNG, JPEG, WebP), videos, "
        "or .npy and .npz, one file or train and test"
    )


def downloads_folder(name: str) -> Path:
    """Return where the files of a data set are put when they are fetched."""
    return cache_folder() / "downloads" / name
