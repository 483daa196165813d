"""Downloads, from a server of our own: whole and right under their name, or not there."""

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from sigmavae.data import catalogue
from sigmavae.data import fetch as fetching
from sigmavae.data.fetch import fetch
from sigmavae.data.source import Download, Format
from sigmavae.errors import DataError
from tests.data.files import pixels
from tests.data.heard import Heard

CONTENT = pixels(3_000_000).tobytes()


class Server(ThreadingHTTPServer):
    """Sends one file, in good ways and bad ones."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.ranges = True
        self.status = 200
        self.kind = "application/octet-stream"
        self.sent: int | None = None
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/set.bin"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        if server.status != 200:
            self.send_error(server.status)
            return
        if start >= len(server.content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", server.kind)
        self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        self.wfile.write(server.content[start : server.sent])

    def log_message(self, *words):
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGMAVAE_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "downloads" / "mine"


def a_set(url: str, checksum: str | None = f"md5:{hashlib.md5(CONTENT).hexdigest()}") -> Format:
    return Format(
        "mine", "a set", lambda _: [], lambda *_: None, home="http://127.0.0.1/page",
        downloads=(Download("set.bin", url, checksum, len(CONTENT) / 1e6),),
    )  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("algorithm", ["md5", "sha256", None])
def test_a_file_arrives_whole(algorithm: str | None, server: Server, folder: Path):
    checksum = f"{algorithm}:{hashlib.new(algorithm, CONTENT).hexdigest()}" if algorithm else None
    heard = Heard()
    assert fetch(a_set(server.url, checksum), heard) == folder
    assert (folder / "set.bin").read_bytes() == CONTENT
    assert names(folder) == ["set.bin"]
    assert heard.begun == [("set.bin, MB", 3, 0)]
    assert heard.steps[-1] == (3, {})
    assert heard.said == (
        [] if algorithm else ["set.bin: no checksum is published; sigmavae data check reads it to see if it is whole"]
    )


@pytest.mark.usefixtures("folder")
def test_what_is_here_is_left_alone(server: Server):
    fetch(a_set(server.url), Heard())
    heard = Heard()
    fetch(a_set(server.url), heard)
    assert len(server.asked) == 1
    assert heard.said == ["set.bin is here"]


def test_an_interrupted_download_goes_on(server: Server, folder: Path):
    server.sent = 1_000_000
    with pytest.raises(DataError, match=r"the connection broke off\. sigmavae data fetch mine goes on from here"):
        fetch(a_set(server.url), Heard())
    assert names(folder) == ["set.bin.part"]
    got = (folder / "set.bin.part").stat().st_size
    assert 0 < got <= 1_000_000
    server.sent = None
    heard = Heard()
    fetch(a_set(server.url), heard)
    assert server.asked == [None, f"bytes={got}-"]
    assert heard.begun == [("set.bin, MB", 3, -(-got // 1_000_000))]
    assert (folder / "set.bin").read_bytes() == CONTENT
    assert names(folder) == ["set.bin"]


def test_a_server_without_ranges_starts_again(server: Server, folder: Path):
    folder.mkdir(parents=True)
    (folder / "set.bin.part").write_bytes(CONTENT[:500_000])
    server.ranges = False
    fetch(a_set(server.url), Heard())
    assert (folder / "set.bin").read_bytes() == CONTENT


def test_a_part_without_a_checksum_is_not_gone_on_with(server: Server, folder: Path):
    folder.mkdir(parents=True)
    (folder / "set.bin.part").write_bytes(b"of another file")
    fetch(a_set(server.url, None), Heard())
    assert (folder / "set.bin").read_bytes() == CONTENT


def test_a_part_that_is_already_whole_is_taken(server: Server, folder: Path):
    folder.mkdir(parents=True)
    (folder / "set.bin.part").write_bytes(CONTENT)
    fetch(a_set(server.url), Heard())
    assert (folder / "set.bin").read_bytes() == CONTENT
    assert names(folder) == ["set.bin"]


@pytest.mark.parametrize("part", [b"", b"wrong", CONTENT + b"too much"])
def test_a_wrong_file_is_removed_and_named(part: bytes, server: Server, folder: Path):
    folder.mkdir(parents=True)
    if part:
        (folder / "set.bin.part").write_bytes(part)
    else:
        server.content = CONTENT[::-1]
    with pytest.raises(DataError, match=r"/set\.bin: what came is not the published file .*has been removed"):
        fetch(a_set(server.url), Heard())
    assert names(folder) == []
    server.content = CONTENT
    fetch(a_set(server.url), Heard())
    assert (folder / "set.bin").read_bytes() == CONTENT


def by_hand(url: str, folder: Path, why: str) -> str:
    return (
        f"{url}: {why}. sigmavae data fetch mine goes on from here; "
        f"or get set.bin from http://127.0.0.1/page, put it into {folder}, and run the same command"
    )


@pytest.mark.parametrize(("status", "why"), [(404, "404 Not Found"), (503, "503 Service Unavailable")])
def test_an_error_of_the_server_says_how_to_get_it_by_hand(status: int, why: str, server: Server, folder: Path):
    server.status = status
    with pytest.raises(DataError) as raised:
        fetch(a_set(server.url), Heard())
    assert str(raised.value) == by_hand(server.url, folder, why)
    assert names(folder) == []


def test_a_web_page_is_not_taken_for_the_file(server: Server, folder: Path):
    server.kind, server.content = "text/html; charset=utf-8", b"<html>too many downloads</html>"
    for checksum in (None, "md5:0"):
        with pytest.raises(DataError, match="the server sent a web page instead"):
            fetch(a_set(server.url, checksum), Heard())
        assert names(folder) == []


def test_without_a_connection_it_says_how_to_get_it_by_hand(folder: Path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/set.bin"
        with pytest.raises(DataError) as raised:
            fetch(a_set(url), Heard())
    assert str(raised.value) == by_hand(url, folder, "no connection")
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("folder")
def test_a_server_that_falls_silent_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching, "SILENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/set.bin"
        with pytest.raises(DataError, match=r"no answer\. sigmavae data fetch mine goes on"):
            fetch(a_set(url), Heard())


def test_what_will_not_fit_is_refused_at_the_start(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda _: SimpleNamespace(free=10**6))
    with pytest.raises(DataError, match=r"set\.bin needs 3 MB there, but 1 are free: .*SIGMAVAE_CACHE"):
        fetch(a_set(server.url), Heard())
    assert names(folder) == []


def test_another_file_under_the_name_is_not_overwritten(server: Server, folder: Path):
    folder.mkdir(parents=True)
    (folder / "set.bin").write_bytes(b"mine")
    with pytest.raises(DataError, match=r"set\.bin: is not the published file, its md5 is not .*: move it away"):
        fetch(a_set(server.url), Heard())
    assert (folder / "set.bin").read_bytes() == b"mine"
    assert server.asked == []


def test_a_file_put_there_by_hand_is_taken(server: Server, folder: Path):
    folder.mkdir(parents=True)
    (folder / "set.bin").write_bytes(CONTENT)
    fetch(a_set(server.url), Heard())
    assert server.asked == []


def test_a_folder_that_cannot_be_made_says_what_to_do(server: Server, folder: Path):
    folder.parent.mkdir()
    folder.write_bytes(b"a file")
    with pytest.raises(DataError, match=r"cannot be used \(File exists\): make room there, or name.*SIGMAVAE_CACHE"):
        fetch(a_set(server.url), Heard())


def test_what_nobody_publishes_cannot_be_fetched():
    with pytest.raises(DataError, match="images: nothing is published to fetch"):
        fetch(catalogue.FORMATS["images"], Heard())


def test_every_published_file_has_what_it_needs():
    for known in catalogue.FORMATS.values():
        assert bool(known.downloads) == bool(known.home)
        for download in known.downloads:
            assert download.url.startswith(("http://", "https://"))
            assert download.megabytes > 0
            if download.checksum is not None:
                algorithm, _, digest = download.checksum.partition(":")
                assert len(digest) == 2 * hashlib.new(algorithm).digest_size
                assert int(digest, 16)
