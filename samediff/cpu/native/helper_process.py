"""A second process that compiles a part of the kernels of a plan: Numba compiles one at a time in each process.

The entries lie in a folder, in which whoever compiles one makes a file of its name first. This process begins at the first one, the other
one at the last; what that has compiled is found in the cache. Where it cannot be started, or fails, everything is compiled here.
"""
from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..cache.store import opened
from ..threads import parts
from .instruction import Entry

#: Seconds of compiling from which on another process is worth its start.
WORTH = 2.5

_LIST = "entries"
_CODE = "import sys; sys.path[:] = sys.argv[2:]; from {0} import compile_from_the_end as run; run(sys.argv[1])"


class HelperProcess:
    """Context manager around the compilation of entries; at its end, the other process has compiled what it has begun."""

    def __init__(self, entries: Iterable[Entry | int]) -> None:
        self._folder: str = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._own: dict[Entry | int, bool] = {}         # for each entry that was asked for whether it is compiled here
        if not is_possible():
            return
        missing = [e for e in dict.fromkeys(entries) if isinstance(e, Entry) and not e.is_at_hand()]
        if sum(e.seconds for e in missing) >= WORTH:
            self._start([(e.stamp, text) for e in missing if (text := _as_text(e)) is not None])

    def _start(self, given: list[tuple[str, bytes]]) -> None:
        with contextlib.suppress(OSError):          # no room, no right to start processes
            self._folder = tempfile.mkdtemp(prefix="dl4py-")
            Path(self._folder, _LIST).write_bytes(pickle.dumps(given))
            command = [sys.executable, "-c", _CODE.format(__name__), self._folder, *map(str, sys.path)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def leaves(self, entry: Entry | int) -> bool:
        """Whether an entry is to be compiled here: the other process has not begun it."""
        if entry not in self._own:
            self._own[entry] = self._process is None or isinstance(entry, int) or _is_first(self._folder, entry.stamp)
        return self._own[entry]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self._process is not None:
            if kind is not None or all(self._own.values()):
                self._process.kill()
            self._process.wait()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def is_possible() -> bool:
    """Whether there are processors for two, a cache that both share, and an interpreter to start.

    ``DL4PY_COMPILE_PROCESSES`` set to 1 forbids it.
    """
    python = os.path.basename(sys.executable or "").lower().startswith(("python", "pypy"))
    return (os.environ.get("DL4PY_COMPILE_PROCESSES") != "1" and python and not getattr(sys, "frozen", False)
            and parts() > 1 and opened("numba") is not None)


def _as_text(entry: Entry) -> bytes | None:
    """An entry for the other process; None where its function is not the library's own, whose modules nobody else's import runs."""
    names = entry.names
    for part in names.args if isinstance(names, partial) else ():
        if not part.__module__.startswith(__name__.partition(".")[0] + "."):
            return None
    try:
        return pickle.dumps(entry)
    except (pickle.PicklingError, AttributeError, TypeError):       # a function that is made inside of another one
        return None


def _is_first(folder: str, stamp: str) -> bool:
    """Whether nobody has begun an entry before; it counts as begun now."""
    try:
        os.close(os.open(os.path.join(folder, stamp), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def compile_from_the_end(folder: str) -> None:
    """Compile the entries of a folder that nobody else has begun, the last one first: what the other process runs."""
    for stamp, text in reversed(pickle.loads(Path(folder, _LIST).read_bytes())):
        if _is_first(folder, stamp):
            pickle.loads(text).address  # noqa: B018
