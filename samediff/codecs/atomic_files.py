"""Files that are either whole or untouched: the one way by which anything is saved."""
from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from os import PathLike
from typing import BinaryIO

from ..base.locks import rlock
from ..errors import FileFormatError, PathError
from .regular_files import check_regular, open_regular, path_of

try:
    import fcntl
except ImportError:     # no locks of files on this system
    fcntl = None  # type: ignore[assignment]

_extending = rlock()
_LONGEST = 200                                              # bytes of a name that its temporary file repeats
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{12}\.tmp", re.DOTALL)
_SURELY_OLD = 24 * 3600.0                                   # seconds, where locks do not tell whether somebody is writing


@contextlib.contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of ``path``; it replaces ``path`` when the block ends without an error.

    The data reach the disk before the exchange; after an error or a crash the old file is still there. A link stays, and what it
    leads to is replaced. Temporary files of savings of the same file whose process died are removed.

    Raises
    ------
    PathError
        ``path`` is, or leads to, something else than a regular file: a folder, a device, a FIFO, a socket. It stays as it is.
    FileNotFoundError
        The folder does not exist.

    Examples
    --------
    >>> with atomic_write("model.zip") as stream:  # doctest: +SKIP
    ...     stream.write(b"...")
    """
    target = _target(path_of(path))
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"{name!r} cannot be written: no such folder", folder)
    old = _status(target)
    stem = _stem(name)
    remove_left_over(folder, lambda found: found == stem)
    stream, temporary = _temporary(folder, stem, 0o666 if old is None else 0o600)
    try:
        with stream:
            yield stream
            stream.flush()
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
            os.fsync(stream.fileno())
            _status(target)                 # what has come there meanwhile
            if fcntl is not None:           # while the lock is held, nobody takes it for a left-over
                os.replace(temporary, target)
        if fcntl is None:
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
    _sync_folder(folder)


def write_file(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a whole file as :func:`atomic_write` does; text as UTF-8."""
    with atomic_write(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def extend_file(path: str | PathLike[str], content: bytes, end: bytes) -> None:
    """Put ``content`` in front of the ``end`` of a file, in place; what another process left half-written behind the last end goes.

    For files that grow while others read them; several threads and processes may extend one, in turn. After an error the file is as
    it was.

    Raises
    ------
    FileFormatError
        The file has no such end.
    """
    text = path_of(path)
    check_regular(os.stat(text), text, "written")
    with _in_turn(text), open(text, "r+b") as stream:
        check_regular(os.fstat(stream.fileno()), text, "written")
        at = _last(stream, end)
        if at < 0:
            raise FileFormatError(f"{text}: expected the end {end!r} that every part of such a file has")
        try:
            stream.seek(at)
            stream.write(content + end)
            stream.truncate()
            stream.flush()
        except BaseException:
            with contextlib.suppress(OSError):      # the buffer that does not go to disk
                stream.close()
            with open(text, "r+b") as again:
                again.seek(at)
                again.write(end)
                again.truncate()
            raise


def remove_left_over(folder: str | PathLike[str], of: Callable[[str], bool]) -> None:
    """Remove the temporary files of a folder whose writers have died; ``of`` chooses by the name of what they were to become.

    Only the user's own: a writer holds a lock on its file as long as it lives.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            found = _TEMPORARY.fullmatch(entry.name)
            if found and of(found[1]) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):      # gone meanwhile, or not ours to remove: it is in nobody's way
                    _remove_dead(entry.path)


def _remove_dead(path: str) -> None:
    with open_regular(path) as stream:
        status, locked = os.fstat(stream.fileno()), _lock(stream)
        old = locked is None and time.time() - status.st_mtime > _SURELY_OLD
        if (locked or old) and status.st_uid == (os.geteuid() if hasattr(os, "geteuid") else status.st_uid):
            os.remove(path)


@contextlib.contextmanager
def _in_turn(text: str) -> Iterator[None]:
    """Nobody else extends the file meanwhile: no thread of this process, and where files have locks, no other process."""
    with _extending, open(text, "r+b") as stream:
        locked = _lock(stream, wait=True)
        try:
            yield
        finally:
            if locked:                  # closing alone would not do it: a process forked meanwhile has the file open too
                fcntl.flock(stream.fileno(), fcntl.LOCK_UN)


def _lock(stream: BinaryIO, wait: bool = False) -> bool | None:
    """Take the lock of a file: False where another process has it, that is, writes it; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def _temporary(folder: str, stem: str, mode: int) -> tuple[BinaryIO, str]:
    """A new file, locked. Between its making and the lock somebody may take it for a left-over: then another is made."""
    while True:
        name = os.path.join(folder, f".{stem}.{uuid.uuid4().hex[:12]}.tmp")
        stream = open(name, "xb", opener=lambda path, flags: os.open(path, flags, mode))  # noqa: SIM115 - the caller closes it
        if not _lock(stream) or os.fstat(stream.fileno()).st_nlink:
            return stream, name
        stream.close()


def _stem(name: str) -> str:
    """What names of temporary files have of the target's: all of it where the system lets it be as long."""
    return name if len(os.fsencode(name)) <= _LONGEST else hashlib.sha256(os.fsencode(name)).hexdigest()


def _target(text: str) -> str:
    """What is to be replaced: a link stays a link.

    Links to what a process has open (``/dev/fd/1``) tell no name where that is a pipe or was deleted.
    """
    target = os.path.realpath(text)
    try:
        status = os.stat(text)
    except OSError:                     # nothing there yet, or nothing that can be reached
        return target
    check_regular(status, text, "replaced")
    if not os.path.exists(target) or not os.path.samestat(status, os.stat(target)):
        raise PathError(f"{text} is an open file that has no place in a folder; only files in folders are replaced")
    return target


def _status(target: str) -> os.stat_result | None:
    """The status of the file that is to be replaced, None where there is none."""
    try:
        status = os.lstat(target)
    except FileNotFoundError:
        return None
    check_regular(status, target, "replaced")
    return status


def _last(stream: BinaryIO, end: bytes) -> int:
    """Where the last ``end`` of a file begins, -1 where there is none."""
    size = stream.seek(0, os.SEEK_END)
    reach = len(end)
    while True:
        begin = max(0, size - reach)
        stream.seek(begin)
        at = stream.read().rfind(end)
        if at >= 0 or begin == 0:
            return begin + at if at >= 0 else -1
        reach = max(4096, 2 * reach)


def _sync_folder(folder: str) -> None:
    """Make the new name durable, where the system lets folders be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
