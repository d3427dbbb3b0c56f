"""Folders of the user's own, for files that are trusted as much as the program itself: nobody else may write there.

Access control lists count as the group's rights, as the system reports them. Where users have no numbers (Windows) nothing is checked:
there a home folder is closed to others.
"""
from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

_READ = os.O_RDONLY | sum(getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "NOCTTY", "CLOEXEC", "BINARY"))


class UntrustedFolderError(Exception):
    """Somebody else may change a file or a folder; the text says which, and why."""


def home() -> Path | None:
    """The user's home folder; None where there is none, as for a user without a name and without ``HOME``."""
    try:
        found = Path.home()
    except RuntimeError:
        return None
    return found if found.is_absolute() else None


def make(folder: Path) -> None:
    """Make a folder and what is missing above it, for the user alone whatever the umask is."""
    if folder.is_dir():
        return
    make(folder.parent)
    with contextlib.suppress(FileExistsError):          # another process was quicker
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)


class PrivateFolder:
    """A folder that belongs to the user of this process, made if need be.

    Folders above it may belong to the administrator too, and may be open to all where nobody can rename what belongs to others (as in
    ``/tmp``).

    Raises
    ------
    UntrustedFolderError
        Somebody else could put files into the folder, or another folder in its place.
    OSError
        The folder cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(path))        # nobody can exchange a link that is not followed again
        for folder in reversed(self.path.parents):
            if not os.path.lexists(folder):
                break
            _check(folder, folder.lstat(), above=True)
        make(self.path)
        for folder in reversed(self.path.parents):      # those that other processes made meanwhile
            _check(folder, folder.lstat(), above=True)
        found = self.path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(f"{self.path} is not a folder")
        _check(self.path, found)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where there is none that is a regular file.

        Raises
        ------
        UntrustedFolderError
            Somebody else may write it.
        """
        file = self.path / name
        try:
            handle = os.open(file, _READ)               # neither follows a link nor waits for a pipe
        except OSError:
            return None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return None
            _check(file, found)
            with open(handle, "rb", closefd=False) as stream:
                return stream.read()
        except OSError:
            return None
        finally:
            os.close(handle)

    def write(self, name: str, content: bytes) -> None:
        """Keep a file, as well as that goes: readers find all of it or nothing. What is there and not a regular file stays."""
        file = self.path / name
        with contextlib.suppress(OSError):
            if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
                return
            handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=self.path)
            try:
                with open(handle, "wb") as stream:
                    stream.write(content)
                os.chmod(temporary, 0o600)              # the umask may have taken more
                os.replace(temporary, file)
            except BaseException:
                os.unlink(temporary)
                raise

    def modified(self, name: str) -> float:
        """When a file was written, in seconds since the epoch; 0 where there is none."""
        try:
            return (self.path / name).lstat().st_mtime
        except OSError:
            return 0.0


def _check(path: Path, found: os.stat_result, above: bool = False) -> None:
    """Refuse what somebody else may change."""
    if not hasattr(os, "geteuid"):
        return
    user = os.geteuid()
    if found.st_uid != user and not (above and found.st_uid == 0):
        raise UntrustedFolderError(f"{path} belongs to user {found.st_uid}, and this process to user {user}")
    if found.st_mode & 0o022 and not (above and found.st_mode & stat.S_ISVTX):
        raise UntrustedFolderError(f"others may write to {path} (mode {stat.S_IMODE(found.st_mode):04o})")
