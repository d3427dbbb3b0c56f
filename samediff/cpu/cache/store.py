"""The files of the cache, which are run as they are found: from a folder of the user's own, each bound to its name by a checksum.

A file that is missing, damaged, another one's or none of ours costs time, and never changes a result.
"""
from __future__ import annotations

import functools
import hashlib
import os
import sys
import warnings
from pathlib import Path

from ...base.private_folder import PrivateFolder, UntrustedFolderError, home
from .limit import tidy

_MAGIC = b"dl4py cache 2\n"
_DIGEST = hashlib.sha256().digest_size
_warnings_left = iter([True])


def cache_folder() -> Path | None:
    """The folder of compiled kernels: ``DL4PY_CACHE_DIR``, or one in the user's cache folder; None where there is no such folder.

    A relative ``DL4PY_CACHE_DIR`` starts at the current folder; other variables count only when they are absolute, as the XDG standard
    asks.
    """
    chosen = os.environ.get("DL4PY_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    variable, *usual = ("LOCALAPPDATA", "AppData", "Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    given, at = Path(os.environ.get(variable, "")), home()
    if given.is_absolute():
        return given / "dl4py"
    return None if at is None else at.joinpath(*usual, "dl4py")


def opened(part: str = "") -> PrivateFolder | None:
    """A part of the cache, or its folder itself; None where that cannot be had, or not be trusted."""
    folder = cache_folder()
    return None if folder is None else _opened(folder, part)


@functools.cache
def _opened(folder: Path, part: str) -> PrivateFolder | None:
    if part and _opened(folder, "") is None:
        return None
    try:
        found = PrivateFolder(folder / part)
    except UntrustedFolderError as error:
        _warn(folder, error)
        return None
    except OSError:
        return None
    if part:
        tidy(found.path)
    return found


def read(part: str, name: str, versions: str) -> bytes | None:
    """The content that was stored under a name.

    Parameters
    ----------
    part : of the cache
    name : of the file
    versions : of all that made the content
    """
    content = read_plain(part, name)
    if content is None or not content.startswith(_MAGIC):
        return None
    head = len(_MAGIC) + _DIGEST
    return content[head:] if content[len(_MAGIC):head] == _digest(name, versions, content[head:]) else None


def write(part: str, name: str, versions: str, content: bytes) -> None:
    """Store content in the cache for other processes."""
    folder = opened(part)
    if folder is not None:
        folder.write(name, _MAGIC + _digest(name, versions, content) + content)


def read_plain(part: str, name: str) -> bytes | None:
    """A file as it is, from a folder that is trusted."""
    folder = opened(part)
    if folder is None:
        return None
    try:
        return folder.read(name)
    except UntrustedFolderError as error:
        _warn(folder.path, error)
        return None


def _digest(name: str, versions: str, content: bytes) -> bytes:
    return hashlib.sha256(b"\0".join((name.encode(), versions.encode(), content))).digest()


def _warn(folder: Path, error: UntrustedFolderError) -> None:
    """Warn about a folder that cannot be trusted, once per process."""
    if next(_warnings_left, False):
        warnings.warn(f"compiled kernels are not taken from {folder}, which makes this start slow: {error}. Machine code is only loaded "
                      "from files and folders that belong to the user and that nobody else may write: change the owner (chown) or take the "
                      "rights of others (chmod go-w), or name another folder in DL4PY_CACHE_DIR", stacklevel=2)
