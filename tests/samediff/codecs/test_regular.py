"""Only regular files are read."""
from __future__ import annotations

import io
import os
import socket

import pytest

from dl4py.samediff.codecs.regular_files import open_regular, path_of, read_file, read_stream
from dl4py.samediff.errors import DL4PyError, LimitError, PathError


def test_a_regular_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "link").symlink_to("a")
    assert read_file(tmp_path / "a") == read_file(str(tmp_path / "link")) == b"content"


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name, kind in (("fifo", "FIFO"), ("link", "FIFO"), ("socket", "socket"), ("", "folder")):
            with pytest.raises(PathError, match=kind):
                open_regular(tmp_path / name)


def test_paths_that_are_none():
    for path in ("", "a\0b", "\udfff\ud800", b"bytes"):
        with pytest.raises(PathError, match="is no path"):
            path_of(path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


def test_streams_end_at_the_limit():
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return bytes(size)

    assert read_stream(io.BytesIO(b"12345"), 5) == b"12345"
    assert read_stream(io.BytesIO(b"345"), 5, b"12") == b"12345"
    with pytest.raises(LimitError, match="4 bytes"):
        read_stream(io.BytesIO(b"12345"), 4)
    with pytest.raises(LimitError):
        read_stream(Endless(), 1 << 22)
    assert issubclass(LimitError, DL4PyError)
