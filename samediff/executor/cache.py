"""Compiled kernels on disk: generated source becomes a function, its machine code outlives the process.

The folder is ``DL4PY_CACHE_DIR``, or the user's cache folder; ``DL4PY_CACHE_MB`` limits its size.  A folder that cannot be read or written,
or a damaged file in it, costs time but never changes a result.
"""
from __future__ import annotations

import functools
import hashlib
import importlib
import linecache
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cache_limit import tidy

PREFIX = "<dl4py-"


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    chosen = os.environ.get("DL4PY_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dl4py"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dl4py"


@functools.cache
def toolchain() -> str:
    """Text that changes when code that a kernel may call, or a compiler, changes."""
    import llvmlite
    import numba
    import numpy
    sources = sorted((Path(__file__).parent / "cpu").rglob("*.py"))
    digest = hashlib.sha256(b"\0".join(p.read_bytes() for p in sources)).hexdigest()
    return " ".join((digest, numba.__version__, llvmlite.__version__, numpy.__version__))


@functools.cache
def _usable(folder: str) -> bool:
    """True when files can be made in the folder."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def _install() -> bool:
    """Teach Numba to cache functions that have no file.  False when this Numba does it differently."""
    try:
        caching: Any = importlib.import_module("numba.core.caching")
        base, classes = caching._CacheLocator, caching.CacheImpl._locator_classes
    except (ImportError, AttributeError):
        return False

    class Locator(base):  # type: ignore[misc, valid-type]
        """Stamps a function with a hash of its content and of all that it may call."""

        def __init__(self, stamp: str) -> None:
            self.stamp = stamp

        @classmethod
        def from_function(cls, function: Any, file: str) -> Locator | None:
            if file.startswith(PREFIX):
                return cls(file[len(PREFIX) : -1])
            if file.startswith(str(Path(__file__).parent / "cpu")):
                return cls(hashlib.sha256((toolchain() + file).encode()).hexdigest()[:24])
            return None

        def get_cache_path(self) -> str:
            return str(cache_folder() / "numba")

        def get_source_stamp(self) -> str:
            return self.stamp

        def get_disambiguator(self) -> str:
            return self.stamp[:12]

    classes.insert(0, Locator)
    return True


def can_cache() -> bool:
    """True when machine code can be kept on disk."""
    folder = cache_folder() / "numba"
    return _install() and _usable(str(folder)) and _tidied(str(folder))


@functools.cache
def _tidied(folder: str) -> bool:
    tidy(Path(folder))
    return True


def function_of(source: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Run generated source and return the function ``name`` of it; tracebacks show the generated lines."""
    stamp = hashlib.sha256("\0".join((source, toolchain())).encode()).hexdigest()[:24]
    file = f"{PREFIX}{stamp}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {**names, "__name__": "numba"}  # Numba imports this module when it loads from the cache
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space[name]
    return made


def jit(function: Callable[..., Any], signature: Any, **options: Any) -> Any:
    """Compile with Numba for one signature, through the disk cache where that works."""
    numba: Any = importlib.import_module("numba")
    if can_cache():
        try:
            return numba.njit(signature, cache=True, **options)(function)
        except Exception:  # a damaged cache may raise anything; a true compile error comes again below
            pass
    return numba.njit(signature, **options)(function)


def compiled_entry(function: Callable[..., Any], **options: Any) -> Any:
    """Compile ``entry(table, part, parts)`` as a function of the C language, through the disk cache where that works."""
    numba: Any = importlib.import_module("numba")
    signature = numba.void(numba.int64, numba.int64, numba.int64)
    if can_cache():
        try:
            return numba.cfunc(signature, cache=True, **options)(function)
        except Exception:  # as above
            pass
    return numba.cfunc(signature, **options)(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator of hand-written kernels: compiled for the types of the first call, through the disk cache.

    Sums may be reordered (that makes vector code), NaN and infinity are kept, no Python lock is held.
    """
    numba: Any = importlib.import_module("numba")
    made = numba.njit(function, cache=can_cache(), error_model="numpy", nogil=True,
                      fastmath={"contract", "arcp", "nsz", "reassoc"})
    for name in ("load_overload", "save_overload"):
        _forgive(getattr(made, "_cache", None), name)
    return made


def _forgive(cache: Any, name: str) -> None:
    """A damaged or vanished cache is a miss."""
    original = getattr(cache, name, None)
    if original is None:
        return

    def guarded(*args: Any) -> Any:
        try:
            return original(*args)
        except Exception:
            return None
    setattr(cache, name, guarded)
