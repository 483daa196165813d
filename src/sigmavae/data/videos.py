"""One's own videos: a folder, nested as one likes, of video files, GIFs and folders of frames."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
from PIL import Image, ImageSequence

from sigmavae.config import DataConfig
from sigmavae.data.frames import folders, frames_of, join, read_frames
from sigmavae.data.images import by_folder
from sigmavae.data.picture import SUFFIXES
from sigmavae.data.resize import SQUARE, Crop, Item, from_picture
from sigmavae.data.source import Part, Source
from sigmavae.errors import DataError

_GIF = ".gif"
_FILMS = (".mp4", ".mov", ".avi", ".mkv", ".webm")


def locate(path: Path) -> Sequence[Path]:
    """Return a video file; or those of a folder and all below, and the frames in folders that have none."""
    if path.is_file():
        return [path] if _is_video(path) else []
    found: list[Path] = []
    for files in folders(path):
        # Images beside video files are thumbnails of them, not frames.
        found += [file for file in files if _is_video(file)] or frames_of(files)
    return found


def open_videos(files: Sequence[Path], config: DataConfig) -> Source:
    """Return the videos in the splits that their top folders are named after, if they are; else all of them."""
    return source_of(files, config, SQUARE, "videos")


def source_of(files: Sequence[Path], config: DataConfig, crop: Crop, kind: str) -> Source:
    """Return the videos of video files, and of frames, each folder's one video."""
    if any(file.suffix.lower() in _FILMS for file in files):
        _av()
    members: dict[Path, list[Path]] = {}
    for file in files:
        members.setdefault(file.parent if file.suffix.lower() in SUFFIXES else file, []).append(file)
    videos = list(members)
    root = Path(os.path.commonpath([video.parent for video in videos]))

    def part(numbers: Sequence[int]) -> Part:
        def read(i: int) -> Item:
            video = videos[numbers[i]]
            if video not in members[video]:
                return read_frames(members[video], str(video), config)
            return read_video(video, config)

        return Part(len(numbers), read, lambda i: str(videos[numbers[i]]))

    relative = [video.relative_to(root) for video in videos]
    return Source(by_folder(relative, part), crop, f"{kind} of {root.resolve().name}")


def read_video(path: Path, config: DataConfig) -> Item:
    """Return the first frames of a video file, as many as are asked for, uint8 (T, H, W, 3)."""
    frames = _gif(path) if path.suffix.lower() == _GIF else _film(path)
    return join(frames, str(path), config)


def _gif(path: Path) -> Iterator[Item]:
    """Give the frames as they are shown: each drawn over those before it, what is transparent white."""
    try:
        with Image.open(path) as picture:
            for frame in ImageSequence.Iterator(picture):
                shown = frame.convert("RGBA")
                ground = Image.new("RGBA", shown.size, "white")
                yield from_picture(Image.alpha_composite(ground, shown).convert("RGB"))
    except Exception as error:  # decoders raise whatever a damaged byte leads them to
        raise _unreadable(path, error) from error


def _film(path: Path) -> Iterator[Item]:
    """Give the frames of the main video stream, upright."""
    av = _av()
    try:
        # A playlist in the guise of a video must not lead to the network; titles need not be UTF-8.
        options = {"protocol_whitelist": "file"}
        with av.open(f"file:{path}", options=options, metadata_errors="replace") as container:
            stream = container.streams.best("video")
            if stream is None or stream.codec_context is None:
                return
            stream.thread_count = 1  # several videos are read at once
            for packet in container.demux(stream):
                if packet.is_corrupt:
                    raise ValueError("the file ends within a frame")
                for frame in packet.decode():
                    yield np.rot90(frame.to_ndarray(format="rgb24"), frame.rotation // 90)
    except Exception as error:
        raise _unreadable(path, error) from error


def _av() -> ModuleType:
    try:
        return importlib.import_module("av")
    except ImportError as error:
        raise DataError("video files other than GIF need PyAV: pip install 'sigmavae[video]'") from error


def _is_video(path: Path) -> bool:
    return path.suffix.lower() in (_GIF, *_FILMS)


def _unreadable(path: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{path}: cannot be read as a video ({reason})")
