"""Writing files so that nobody ever meets half of one."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sigmavae.errors import RunError

try:
    import fcntl
except ImportError:  # no such locks on Windows: there, two processes in one folder are not kept apart
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside path, flush it to disk, and move it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp makes files that only their owner can read
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON atomically, as people can read it; NaN and infinity are refused, since JSON has neither."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    write_atomically(path, lambda temporary: _write_text(temporary, text))


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object, or say which file is damaged."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    return content


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def absolute(path: Path) -> Path:
    """Return a path that means the same from every folder; ~somebody who does not exist is an ordinary name."""
    with suppress(RuntimeError):
        path = path.expanduser()
    return path.absolute()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; a second process that wants it is told so at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunError(f"another process is working in {folder}: wait for it, or name another --out") from None
        yield


@contextmanager
def waiting_for(lock: Path) -> Iterator[None]:
    """Hold a lock file for this process, once no other process does."""
    with lock.open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
