"""Fetching: checksums, sizes, the cache, and what is said without a network."""
from __future__ import annotations

import hashlib
import os
import stat
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dl4py.samediff.data import DownloadError, data_folder
from dl4py.samediff.data.public import fetcher
from dl4py.samediff.data.public.fetcher import RESOURCES, Resource, fetch
from dl4py.samediff.errors import FileFormatError, PathError


@contextmanager
def served(**files: bytes):
    """A server of these files; yields its address and the list of the paths asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            data = files.get(self.path[1:])
            self.send_response(404 if data is None else 200)
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DL4PY_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put(monkeypatch, urls, data, sha256=True, size=None):
    digest = hashlib.sha256(data).hexdigest() if sha256 else None
    monkeypatch.setitem(RESOURCES, "thing", Resource("folder/thing.bin", tuple(urls), digest, len(data) if size is None else size))


def test_a_file_is_fetched_once_and_checked_every_time(cache, monkeypatch):
    data = bytes(range(256)) * 9000       # more than one chunk
    with served(a=data) as (address, asked):
        put(monkeypatch, [address + "a"], data)
        path = fetch("thing")
        assert (path, path.read_bytes()) == (cache / "folder" / "thing.bin", data)
        assert fetch("thing") == path and asked == ["/a"]
    assert [p.name for p in path.parent.iterdir()] == ["thing.bin"]
    path.write_bytes(data[:-1] + b"x")
    with pytest.raises(FileFormatError, match="SHA-256 .* expected .*: delete it"):
        fetch("thing")
    path.write_bytes(data[:-1])
    with pytest.raises(FileFormatError, match=f"{len(data) - 1} bytes, expected {len(data)}"):
        fetch("thing")


def test_the_next_address_is_tried(cache, monkeypatch):
    with served(b=b"good", wrong=b"evil", long=b"good and more") as (address, asked):
        put(monkeypatch, [address + name for name in ("missing", "wrong", "long", "b")], b"good")
        assert fetch("thing").read_bytes() == b"good"
        assert asked == ["/missing", "/wrong", "/long", "/b"]


def test_nothing_stays_after_a_failure(cache, monkeypatch):
    with served(a=b"other") as (address, _):
        put(monkeypatch, [address + "a"], b"good!")
        with pytest.raises(DownloadError, match="SHA-256"):
            fetch("thing")
    assert list((cache / "folder").iterdir()) == []


def test_without_a_network_the_message_says_where_the_file_belongs(cache, monkeypatch):
    with served() as (address, _):
        pass        # the server is gone
    put(monkeypatch, [address + "a"], b"good")
    with pytest.raises(DownloadError) as caught:
        fetch("thing")
    assert f"Fetch {address}a by other means and put it at {cache / 'folder' / 'thing.bin'}" in str(caught.value)
    (cache / "folder").mkdir(exist_ok=True)
    (cache / "folder" / "thing.bin").write_bytes(b"good")
    assert fetch("thing").read_bytes() == b"good"


def test_a_size_limit_where_there_is_no_checksum(cache, monkeypatch):
    with served(a=b"12345") as (address, _):
        put(monkeypatch, [address + "a"], b"", sha256=False, size=4)
        with pytest.raises(DownloadError, match="more than the 4 bytes"):
            fetch("thing")
        put(monkeypatch, [address + "a"], b"", sha256=False, size=8)
        assert fetch("thing").read_bytes() == b"12345"


def test_only_http_is_fetched(cache, monkeypatch, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"good")
    put(monkeypatch, [secret.as_uri()], b"good")
    with pytest.raises(DownloadError, match="only http and https"):
        fetch("thing")


def test_the_table():
    assert all(r.sha256 is None or len(r.sha256) == 64 for r in RESOURCES.values())
    assert len({r.file for r in RESOURCES.values()}) == len(RESOURCES)
    assert [name for name, r in RESOURCES.items() if r.sha256 is None] == ["uci-sequence"]


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("DL4PY_DATA", raising=False)
    monkeypatch.setattr(fetcher.Path, "home", classmethod(lambda _: tmp_path))
    assert data_folder() == tmp_path / ".cache" / "dl4py"


def test_the_usual_folder_is_for_the_user_alone(monkeypatch, tmp_path):
    monkeypatch.delenv("DL4PY_DATA", raising=False)
    monkeypatch.setattr(fetcher, "home", lambda: tmp_path)
    old = os.umask(0)
    try:
        with served(a=b"12345") as (address, _):
            put(monkeypatch, [address + "a"], b"12345")
            assert fetch("thing").read_bytes() == b"12345"
    finally:
        os.umask(old)
    assert os.name == "nt" or [stat.S_IMODE((tmp_path / p).stat().st_mode) for p in (".cache", ".cache/dl4py")] == [0o700, 0o700]


def test_without_a_home_folder_the_message_says_what_to_do(monkeypatch):
    monkeypatch.delenv("DL4PY_DATA", raising=False)
    monkeypatch.setattr(fetcher, "home", lambda: None)
    with pytest.raises(DownloadError, match="no home folder .* DL4PY_DATA"):
        data_folder()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes")
@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", None)])
def test_what_is_no_file_is_no_data_set(cache, monkeypatch, make):
    put(monkeypatch, [], b"", sha256=False, size=1 << 20)
    (cache / "folder").mkdir(parents=True)
    make(cache / "folder" / "thing.bin")
    with pytest.raises(PathError, match="thing.bin is .*; only regular files are read"):
        fetch("thing")
