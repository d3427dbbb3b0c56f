"""Regular files: only these are read and replaced. Devices, FIFOs and sockets would wait, never end, or be destroyed."""
from __future__ import annotations

import io
import os
import stat
from os import PathLike, fspath
from typing import Any, BinaryIO

from ..errors import LimitError, PathError

_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO (a pipe)"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"),
          (stat.S_ISBLK, "a device"), (stat.S_ISLNK, "a link that leads nowhere"))
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)     # a FIFO that takes the place of the file meanwhile is not waited for


def path_of(path: str | PathLike[str]) -> str:
    """The text of a path that the system can have.

    Raises
    ------
    PathError
        Empty, not a text, with a NUL in it, or with characters that no name of a file has.
    """
    if not isinstance(path, (str, bytes, PathLike)):
        raise PathError(f"{path!r:.200} is no path: expected a text or a path object")
    text = fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise PathError(f"{text!r:.200} is no path: expected a text that is not empty and has no NUL in it")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise PathError(f"{text!r:.200} is no path: character {error.start} has no place in the name of a file") from None
    return text


def as_stream(source: Any, method: str = "read") -> BinaryIO:
    """The binary stream; PathError for what is neither that nor a path, which was looked for before."""
    if isinstance(source, io.TextIOBase):
        raise PathError(f"{getattr(source, 'name', 'the stream')} is open as text; open it with {'rb' if method == 'read' else 'wb'!r}")
    if isinstance(source, type) or not callable(getattr(source, method, None)):
        advice = "; bytes become a stream by io.BytesIO(...)" if isinstance(source, (bytes, bytearray, memoryview)) else ""
        raise PathError(f"expected a path or a binary stream, got {source!r:.100}{advice}")
    return source  # type: ignore[no-any-return]


def check_regular(status: os.stat_result, path: str, use: str) -> None:
    """Raise a :class:`PathError` unless the status is that of a regular file; ``use`` says what was wanted ("read", "replaced")."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "no regular file")
        raise PathError(f"{path} is {kind}; only regular files are {use}")


def open_regular(path: str | PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; links are followed.

    Raises
    ------
    FileNotFoundError
        There is none.
    PathError
        Something else is there: a folder, a device, a FIFO, a socket. It is not opened, so nothing waits for it.
    """
    text = path_of(path)
    check_regular(os.stat(text), text, "read")
    stream = open(text, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115 - the caller closes it
    try:
        check_regular(os.fstat(stream.fileno()), text, "read")
    except BaseException:
        stream.close()
        raise
    return stream


def read_file(path: str | PathLike[str], limit: int | None = None) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes; errors as :func:`open_regular` and :func:`read_stream`."""
    with open_regular(path) as stream:
        return stream.read() if limit is None else read_stream(stream, limit)


def read_stream(stream: BinaryIO, limit: int, begun: bytes = b"") -> bytes:
    """``begun`` and what is left in a stream, in pieces, so that memory is taken for what comes and not for what is allowed.

    Raises
    ------
    LimitError
        More than ``limit`` bytes come.
    """
    pieces, left = [begun], limit - len(begun)
    while piece := stream.read(min(left + 1, 1 << 20)):
        left -= len(piece)
        if left < 0:
            raise LimitError(f"{getattr(stream, 'name', 'the stream')} has more than the {limit} bytes that are allowed")
        pieces.append(piece)
    return b"".join(pieces)
