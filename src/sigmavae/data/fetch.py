"""A data set's published files, downloaded: under its name a file is whole and right, or not there.

What has come of a file is kept beside it as FILE.part, and the next attempt asks for the rest.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from sigmavae.data.cache import VARIABLE
from sigmavae.data.catalogue import downloads_folder
from sigmavae.data.source import Download, Published
from sigmavae.errors import DataError
from sigmavae.files import waiting_for
from sigmavae.progress import Progress

CONNECT, SILENCE = 15.0, 60.0  # seconds that a server may take to answer, and then to send nothing
PIECE = 1 << 16
MEGABYTE = 1_000_000


def fetch(known: Published, progress: Progress, folder: Path | None = None) -> Path:
    """Download what is missing of published files, and return the folder they are in: a data set's own, or another."""
    if not known.downloads:
        raise DataError(f"{known.name}: nothing is published to fetch; name files of your own with --data.path")
    folder = folder or downloads_folder(known.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with waiting_for(folder.parent / f".{known.name}.lock"):
            for download in known.downloads:
                if is_here(folder / download.file, download):
                    progress.say(f"{download.file} is here")
                else:
                    _bring(known, download, folder, progress)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be used ({error.strerror or error}): "
            f"make room there, or name another folder in the environment variable {VARIABLE}"
        ) from error
    return folder


def is_here(file: Path, download: Download) -> bool:
    """Whether a published file is there; DataError if what is there is another one."""
    if not file.exists():
        return False
    if download.checksum is not None:
        algorithm, _, published = download.checksum.partition(":")
        with file.open("rb") as content:
            if hashlib.file_digest(content, algorithm).hexdigest() != published:
                raise DataError(
                    f"{file}: is not the published file, its {algorithm} is not {published}: "
                    "move it away to fetch that one, or read it as it is with --data.path"
                )
    return True


def _bring(known: Published, download: Download, folder: Path, progress: Progress) -> None:
    """Download one file and verify it."""
    # Not before they are needed: the program's help does not wait for them.
    import pooch  # type: ignore[import-untyped]
    import requests
    import urllib3

    part = folder / f"{download.file}.part"

    def go_on(url: str, output: str, _: object) -> None:
        _receive(url, part, download, progress)
        part.replace(output)

    pooch.get_logger().setLevel("WARNING")  # progress says all that it would
    try:
        pooch.retrieve(download.url, download.checksum, download.file, folder, downloader=go_on)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise DataError(
            f"{download.url}: {_why(error)}. sigmavae data fetch {known.name} goes on from here; "
            f"or get {download.file} from {known.home}, put it into {folder}, and run the same command"
        ) from error
    if download.checksum is None:
        progress.say(f"{download.file}: no checksum is published; sigmavae data check reads it to see if it is whole")


def _why(error: Exception) -> str:
    """Return in a few words what stopped a download."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError):
        return str(error)
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "no answer"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not accepted"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not let it through"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    if isinstance(error, urllib3.exceptions.HTTPError):
        return "the connection broke off"
    if isinstance(error, requests.RequestException):
        return f"cannot be asked for ({type(error).__name__})"
    return "what came is not the published file (its checksum differs) and has been removed"  # pooch's ValueError


def _receive(url: str, part: Path, download: Download, progress: Progress) -> None:
    """Append to a part what it lacks."""
    import requests

    # Without a checksum nothing would show that the two halves are not of the same file: it starts again.
    done = part.stat().st_size if part.exists() and download.checksum is not None else 0
    # As it is stored: some servers take a .gz for a page in transport and would have it unpacked.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with requests.get(url, headers=headers, stream=True, timeout=(CONNECT, SILENCE)) as answer:
        if done and answer.status_code == requests.codes.requested_range_not_satisfiable:
            return  # there is no more: the part is whole, as its checksum will show
        if not answer.ok:
            raise requests.HTTPError(f"{answer.status_code} {answer.reason}")
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            raise requests.HTTPError("the server sent a web page instead, perhaps since too many ask for the file")
        if answer.status_code != requests.codes.partial_content:
            done = 0  # a server that knows no ranges starts again
        rest = int(answer.headers.get("Content-Length", download.megabytes * MEGABYTE - done))
        _demand_room(part, rest)
        total = done + rest
        progress.begin(f"{download.file}, MB", _megabytes(total), _megabytes(done))
        shown = done
        with part.open("ab" if done else "wb") as file:
            for piece in answer.raw.stream(PIECE, decode_content=False):
                file.write(piece)
                done += len(piece)
                if done - shown >= MEGABYTE or done == total:
                    progress.advance(_megabytes(done), {})
                    shown = done
            file.flush()
            os.fsync(file.fileno())


def _demand_room(part: Path, needed: int) -> None:
    """Refuse at the start what will not fit in the end."""
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise DataError(
            f"{part.parent}: {part.stem} needs {needed / MEGABYTE:,.0f} MB there, but {free / MEGABYTE:,.0f} are free: "
            f"name a folder with more room in the environment variable {VARIABLE}"
        )


def _megabytes(count: int) -> int:
    return -(-count // MEGABYTE)
