"""Tiny files in the formats as they are published."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import av
import google_crc32c
import numpy as np
from PIL import Image

from sigmavae.config import DataConfig
from sigmavae.data.source import Part


def pixels(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def items(part: Part) -> np.ndarray:
    return np.stack([part.read(i) for i in range(part.count)])


def any_config(**fields) -> DataConfig:
    return DataConfig(name="images", **fields)


def idx(images: np.ndarray) -> bytes:
    return struct.pack(">BBBB3I", 0, 0, 8, 3, *images.shape) + images.tobytes()


def write_idx(folder: Path, train: np.ndarray, test: np.ndarray, packed: bool = True) -> Path:
    for stem, images in (("train-images-idx3-ubyte", train), ("t10k-images-idx3-ubyte", test)):
        if packed:
            (folder / f"{stem}.gz").write_bytes(gzip.compress(idx(images)))
        else:
            (folder / stem).write_bytes(idx(images))
    return folder


def binary_batch(images: np.ndarray) -> bytes:
    """Images (N, 32, 32, 3): a label, then the planes of each."""
    planes = np.moveaxis(images, -1, 1).reshape(len(images), -1)
    return np.concatenate([np.full((len(images), 1), 7, np.uint8), planes], axis=1).tobytes()


def python_batch(images: np.ndarray) -> bytes:
    """A pickle of protocol 2 as Python 2 wrote it, where an array's bytes are a string."""
    data = np.moveaxis(images, -1, 1).reshape(len(images), -1).tobytes()
    short = lambda text: b"U" + bytes([len(text)]) + text  # noqa: E731
    number = lambda n: b"J" + struct.pack("<i", n)  # noqa: E731
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n" + b"cnumpy\nndarray\n" + number(0) + b"\x85" + short(b"b") + b"\x87R"
        + b"(" + number(1) + number(len(images)) + number(3072) + b"\x86"
        + b"cnumpy\ndtype\n" + short(b"u1") + number(0) + number(1) + b"\x87R"
        + b"\x89" + b"T" + struct.pack("<i", len(data)) + data + b"tb"
    )  # fmt: skip
    labels = b"]" + b"(" + b"K\x07" * len(images) + b"e"
    return b"\x80\x02}(" + short(b"data") + array + short(b"labels") + labels + b"u."


def modern_batch(images: np.ndarray, protocol: int) -> bytes:
    data = np.moveaxis(images, -1, 1).reshape(len(images), -1)
    return pickle.dumps({b"data": data, b"labels": [7] * len(images)}, protocol=protocol)


def write_tar(path: Path, members: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def write_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def picture(values: np.ndarray, kind: str = "PNG", **options) -> bytes:
    """(H, W), (H, W, 3) or (H, W, 4) as the content of a file."""
    file = io.BytesIO()
    Image.fromarray(values).save(file, kind, **options)
    return file.getvalue()


def smooth(height: int, width: int, phase: float = 0.0) -> np.ndarray:
    """A colour picture that a JPEG hardly changes."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / width * 3 + phase), np.cos(y / height * 3 + phase), np.sin((x + y) / (height + width) * 3)]
    return (127.5 + 100 * np.stack(waves, -1)).astype(np.uint8)


def likeness(images: np.ndarray, axis: int) -> float:
    """Correlation of neighbouring values along an axis: near 1 in photographs, if axes are what they are taken for."""
    values = np.moveaxis(images.astype(np.float32), axis, 0)
    return float(np.corrcoef(values[1:].ravel(), values[:-1].ravel())[0, 1])


def masked(content: bytes) -> bytes:
    """The checksum that TFRecord files have, as their documentation defines it."""
    value = google_crc32c.value(content)
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + masked(length) + content + masked(content)


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def delimited(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer that is bytes or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(key: str, *values: bytes) -> bytes:
    """An entry of the map in a tf.train.Features: a list of byte strings under a key."""
    strings = b"".join(delimited(1, value) for value in values)
    return delimited(1, delimited(1, key.encode()) + delimited(2, delimited(1, strings)))


def floats(key: str, *values: float) -> bytes:
    packed = delimited(1, struct.pack(f"<{len(values)}f", *values))
    return delimited(1, delimited(1, key.encode()) + delimited(2, delimited(2, packed)))


def example(*features: bytes) -> bytes:
    """A tf.train.Example."""
    return delimited(1, b"".join(features))


def trajectory(main: np.ndarray, other: np.ndarray | None = None) -> bytes:
    """A record of BAIR robot pushing: frames (T, 64, 64, 3) of two cameras, actions and positions."""
    features = []
    for number, frame in enumerate(main):
        features.append(feature(f"{number}/image_aux1/encoded", frame.tobytes()))
        features.append(feature(f"{number}/image_main/encoded", (frame if other is None else other[number]).tobytes()))
        features.append(floats(f"{number}/action", 0.1, 0.2, 0.3, 0.4))
        features.append(floats(f"{number}/endeffector_pos", 0.5, 0.6, 0.7))
    return record(example(*features[::-1]))  # a map has no order


def gif(frames: np.ndarray) -> bytes:
    """Frames (T, H, W, 3) as an animation."""
    pictures, file = [Image.fromarray(frame) for frame in frames], io.BytesIO()
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], duration=100)
    return file.getvalue()


def film(path: Path, frames: np.ndarray, options: Mapping[str, str] | None = None) -> None:
    """Write frames (T, H, W, 3) as a video in the container that the ending names."""
    with av.open(f"file:{path}", "w", options=dict(options or {})) as container:
        stream = container.add_stream("mpeg4", rate=10, options={"qscale": "2"})
        stream.height, stream.width, stream.pix_fmt = *frames.shape[1:3], "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
