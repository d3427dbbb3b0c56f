"""Files that are either whole or untouched."""
from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of ``path``; it replaces ``path`` when the block ends without an error.

    The data reach the disk before the exchange; after an error or a crash the old file is still there.

    Examples
    --------
    >>> with atomic_write("model.zip") as stream:  # doctest: +SKIP
    ...     stream.write(b"...")
    """
    target = os.path.realpath(path)     # a link stays a link
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"{name!r} cannot be written: no such folder", folder)
    temporary = os.path.join(folder, f".{name[:100]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name durable, where the system lets folders be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
