"""The locks of this package, and what happens to them where a process forks.

A forked process has the memory of all threads but only one of them: a lock that another thread held would stay held, and what that thread
was changing would stay half done. So a fork waits for what is short and must not be cut in two, in the order of :class:`LockRank`, and
in the child all other locks are free. Locks are reentrant: a thread may fork, or be interrupted by a finalizer, while it holds one.
"""
from __future__ import annotations

import logging  # noqa: F401  takes its own lock for a fork, which compilers need: whoever registers first takes his last
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from enum import IntEnum
from importlib import _bootstrap  # type: ignore[attr-defined]  # where locks of modules are looked at
from typing import Any

#: Seconds that a fork waits for one lock, at most; then it goes on, as one that never ends would be worse.
PATIENCE = 10.0

_OWN = __package__.partition(".")[0] + "."


class LockRank(IntEnum):
    """The order of locks for which a fork waits. A thread that holds one of these takes only those behind it."""

    FORK = 0            # another fork
    STEPS = 1           # parameters that change
    KERNELS = 2         # a kernel that is compiled
    START = 3           # the start of Numba
    NUMBA = 4           # Numba's own lock
    TYPES = 5           # types of what is written for compiled code
    CODE = 6            # machine code that is loaded
    LLVM = 7            # llvmlite's own lock


_every: weakref.WeakSet[Any] = weakref.WeakSet()
_awaited: weakref.WeakKeyDictionary[Any, LockRank] = weakref.WeakKeyDictionary()
_mine = threading.local()           # what this thread holds over its fork: another one may fork too, once it has waited long enough
_afterwards: list[Callable[[], None]] = []


def rlock(rank: LockRank | None = None) -> Any:
    """A new lock; with a rank, forks wait for it."""
    made = threading.RLock()
    _every.add(made)
    if rank is not None:
        _awaited[made] = rank
    return made


def in_child(call: Callable[[], None]) -> None:
    """Do something in every process that is forked from this one, once its locks are free."""
    _afterwards.append(call)


_forking = rlock(LockRank.FORK)


def _others() -> list[tuple[Any, LockRank]]:
    """The locks of the compilers, as far as these are loaded and have them where they are looked for."""
    found = []
    for module, path, rank in (("numba.core.compiler_lock", "global_compiler_lock._lock", LockRank.NUMBA),
                               ("llvmlite.binding.ffi", "lib._lock._lock", LockRank.LLVM)):
        lock: Any = sys.modules.get(module)
        for name in path.split("."):
            lock = getattr(lock, name, None)
        if hasattr(lock, "_is_owned"):
            found.append((lock, rank))
    return found


def _in_order() -> list[Any]:
    while True:
        try:
            found = list(_awaited.items())
        except RuntimeError:        # another thread made a lock meanwhile
            continue
        return [lock for lock, _ in sorted([*found, *_others()], key=lambda pair: pair[1])]


def _importing() -> bool:
    """Whether a thread is loading code of this package: in the child nobody would go on with it."""
    return any(name.startswith(_OWN) for name in list(getattr(_bootstrap, "_module_locks", ())))


def _before() -> None:
    end = time.monotonic() + PATIENCE
    taken = _mine.taken = []
    while True:
        for lock in _in_order():
            if lock.acquire(timeout=PATIENCE):
                taken.append(lock)
        if not _importing() or time.monotonic() > end:
            return
        _after()
        time.sleep(0.001)


def _after() -> None:
    taken = _mine.taken
    while taken:
        taken.pop().release()


def _after_in_child() -> None:
    _after()
    for lock in [*_every, *(lock for lock, _ in _others())]:
        if hasattr(lock, "_at_fork_reinit") and not lock._is_owned():      # what the locks of threading have for this
            lock._at_fork_reinit()
    for call in _afterwards:
        call()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
