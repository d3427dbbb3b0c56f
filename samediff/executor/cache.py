"""Compiled kernels on disk: generated source becomes a function, its machine code outlives the process.

The folder is ``DL4PY_CACHE_DIR``, or the user's cache folder; ``DL4PY_CACHE_MB`` limits its size.  A folder that cannot be read or written,
or a damaged file in it, costs time but never changes a result.
"""
from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import linecache
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
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
    """Text that changes when code that a kernel may call, a compiler or its settings, or the processor changes."""
    import llvmlite
    import numpy

    from .cpu import settings
    sources = sorted((Path(__file__).parent / "cpu").rglob("*.py"))
    digest = hashlib.sha256(b"\0".join(p.read_bytes() for p in sources)).hexdigest()
    given = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_"))
    return " ".join((digest, _numba_version(), llvmlite.__version__, numpy.__version__, *settings.target(), *given))


def _numba_version() -> str:
    """Read from its folder: loading it takes longer than everything else that a start needs."""
    found = importlib.util.find_spec("numba")
    folder = Path(found.origin).parent if found and found.origin else None
    try:
        return hashlib.sha256((folder / "_version.py").read_bytes()).hexdigest() if folder else ""
    except OSError:
        return str(importlib.import_module("numba").__version__)


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
            return str(_folder())

        def get_source_stamp(self) -> str:
            return self.stamp

        def get_disambiguator(self) -> str:
            return self.stamp[:12]

    classes.insert(0, Locator)
    return True


def _folder() -> Path:
    return cache_folder() / "numba"


def can_cache() -> bool:
    """True when machine code that Python calls can be kept on disk."""
    return can_write() and _install()


def can_write() -> bool:
    """True when files can be kept on disk; looks after their number."""
    folder = str(_folder())
    return _usable(folder) and _tidied(folder)


@functools.cache
def _tidied(folder: str) -> bool:
    tidy(Path(folder))
    return True


def function_of(source: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Run generated source and return the function ``name`` of it; tracebacks show the generated lines."""
    stamp = _stamp(source)
    file = f"{PREFIX}{stamp}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {**names, "__name__": "numba"}  # Numba imports this module when it loads from the cache
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space[name]
    return made


def jit(function: Callable[..., Any], signature: Any, **options: Any) -> Any:
    """Compile with Numba for one signature, through the disk cache where that works."""
    from .cpu.functions import prepare
    prepare()
    numba: Any = importlib.import_module("numba")
    if can_cache():
        try:
            return numba.njit(signature, cache=True, **options)(function)
        except Exception:  # a damaged cache may raise anything; a true compile error comes again below
            pass
    return numba.njit(signature, **options)(function)


def compiled_entry(source: str, names: Callable[[], dict[str, Any]], **options: Any) -> tuple[int, bool]:
    """Compile ``entry(table, part, parts)`` as a function of the C language; with Numba where that is needed.

    Parameters
    ----------
    source : of the function
    names : gives what the source uses by name
    options : of Numba

    Returns
    -------
    address
    whether it was there already
    """
    def make() -> objects.Code:
        from .cpu.native import generated
        from .cpu.native.words import Unknown
        known = names()
        try:
            return objects.of_module(generated.module_of(source, known, symbol, options["fastmath"]), loops=True)
        except Unknown:
            from .cpu.functions import prepare
            prepare()
            from .cpu.lean import machine_code
            made: objects.Code = machine_code(function_of(source, "entry", known), symbol, options)
            return made
    from . import cache_objects as objects
    stamp = _stamp(source, repr(sorted(options.items(), key=str)))
    symbol = f"dl4py_{stamp}"
    (address,), known = objects.addresses(stamp, [symbol], make, _folder() if can_write() else None)
    return address, known


def compiled_module(name: str, symbols: Sequence[str], build: Callable[[], Any]) -> list[int]:
    """Addresses of functions of a module of LLVM code, which ``build`` writes."""
    from . import cache_objects as objects
    folder = _folder() if can_write() else None
    return objects.addresses(f"{name}-{_stamp(name)}", symbols, lambda: objects.of_module(build()), folder)[0]


def _stamp(*texts: str) -> str:
    return hashlib.sha256("\0".join((*texts, toolchain())).encode()).hexdigest()[:24]


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator of hand-written kernels: for compiled code, and for Python, where they are compiled for the types of the first call.

    Sums may be reordered (that makes vector code), NaN and infinity are kept, no Python lock is held.
    """
    from .cpu.functions import Function
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"contract", "arcp", "nsz", "reassoc"}}

    def for_python(function: Callable[..., Any]) -> Any:
        numba: Any = importlib.import_module("numba")
        made = numba.njit(function, cache=can_cache(), **options)
        for name in ("load_overload", "save_overload"):
            _forgive(getattr(made, "_cache", None), name)
        return made
    return Function(function, options, for_python)


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
