"""Compiled kernels on disk: generated source becomes a function, its machine code outlives the process.

The folder is ``DL4PY_CACHE_DIR``, or in the user's cache folder; ``DL4PY_CACHE_MB`` limits its size.  A folder that cannot be read or
written, or that others may write, and a damaged file in it cost time, but never change a result.
"""
from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import ResourceLoader
from pathlib import Path
from typing import Any, cast

from ...errors import MissingPackageError
from ..cache.progress import compiling

PREFIX = "<dl4py-"


@functools.cache
def toolchain() -> str:
    """Text that changes when code that a kernel may call, a compiler or its settings, or the processor changes."""
    import llvmlite
    import numpy

    from . import settings
    digest = hashlib.sha256(b"\0".join(code_of(Path(__file__).parents[1]))).hexdigest()
    given = sorted(f"{k}={v}" for k, v in os.environ.items() if _has_a_say(k))
    python = (*map(str, sys.version_info), getattr(sys, "abiflags", ""))
    return " ".join((digest, _numba_version(), llvmlite.__version__, numpy.__version__, *python, *settings.target(), *given))


def _has_a_say(variable: str) -> bool:
    """Whether an environment variable may change machine code."""
    return variable == "DL4PY_COMPILER" or (variable.startswith("NUMBA_") and variable != "NUMBA_DISABLE_JIT")


def code_of(folder: Path) -> Iterator[bytes]:
    """The files of a package: texts, or byte code where that is all there is; of an archive the whole."""
    files = [*folder.rglob("*.py")] or [*folder.rglob("*.pyc")] or [p for p in folder.parents if p.is_file()]
    if not files:
        raise missing_source(str(folder))
    return (p.read_bytes() for p in sorted(files))


def missing_source(file: str) -> MissingPackageError:
    """The error for an installation without its texts."""
    return MissingPackageError(
        f"dl4py compiles kernels from its own source texts, and {file} is not there: install it with its .py files, not as byte code "
        "alone (PyInstaller: module_collection_mode={'dl4py': 'pyz+py'})")


def _numba_version() -> str:
    """Read from its folder: loading it takes longer than everything else that a start needs."""
    found = importlib.util.find_spec("numba")
    folder = Path(found.origin).parent if found and found.origin else None
    try:
        return hashlib.sha256((folder / "_version.py").read_bytes()).hexdigest() if folder else ""
    except OSError:
        return str(importlib.import_module("numba").__version__)


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
    """Compile with Numba for one signature, or take the code from the disk."""
    from .settings import jit_enabled
    with jit_enabled():
        made = _dispatcher(function, options)
        with compiling():
            made.compile(signature)
    made.disable_compile()
    return made


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Numba's function, which keeps its machine code in the cache."""
    numba: Any = importlib.import_module("numba")
    made, code = numba.njit(**options)(function), function.__code__
    if (kept := _kept_code()) is not None:
        made._cache = kept(_stamp(_origin(code.co_filename, function.__module__), code.co_qualname, code.co_code.hex(), _text(options)),
                           toolchain())
    return made


@functools.cache
def _origin(file: str, module: str) -> str:
    """The hash of the file that defines a function, as paths differ between checkouts and environments."""
    if file.startswith(PREFIX):
        return file
    spec = sys.modules[module].__spec__
    assert spec is not None and spec.origin is not None
    data: bytes = cast(ResourceLoader, spec.loader).get_data(spec.origin)
    return f"{module} {hashlib.sha256(data).hexdigest()}"


@functools.cache
def _kept_code() -> Any:
    """The cache that Numba's functions get; None where this Numba has no place for it, and without private parts of Numba."""
    if os.environ.get("DL4PY_COMPILER") == "plain":
        return None
    try:
        return importlib.import_module("..compiler.dispatcher_cache", __package__).DispatcherCache
    except (ImportError, AttributeError):
        return None


def _text(options: dict[str, Any]) -> str:
    """Options as text that is the same in every process; the order of a set is not."""
    return repr(sorted((name, sorted(value) if isinstance(value, (set, frozenset)) else value) for name, value in options.items()))


def compiled_entry(source: str, names: Callable[[], dict[str, Any]], reference_counts: bool = True, **options: Any) -> tuple[int, bool]:
    """Compile ``entry(table, part, parts)`` as a function of the C language.

    Parameters
    ----------
    source : of the function
    names : gives what the source uses by name
    reference_counts : of arrays; code that makes none does without
    options : of Numba

    Returns
    -------
    address
    whether it was there already
    """
    def make() -> objects.Code:
        from .settings import jit_enabled
        with jit_enabled():
            from .choice import machine_code
            made: objects.Code = machine_code(function_of(source, "entry", names()), symbol_of(stamp), options, reference_counts)
        return made
    from . import objects as objects
    stamp = stamp_of_entry(source, options)
    (address,), known = objects.addresses(stamp, [symbol_of(stamp)], make, toolchain())
    return address, known


def stamp_of_entry(source: str, options: dict[str, Any]) -> str:
    """The name of the file of an entry, which says all that its code depends on."""
    return _stamp(source, _text(options))


def symbol_of(stamp: str) -> str:
    """The name of the function of an entry."""
    return f"dl4py_{stamp}"


def is_on_disk(stamp: str) -> bool:
    """Whether the code of an entry need not be compiled: it is loaded then."""
    from . import objects as objects
    return objects.is_at_hand(stamp, [symbol_of(stamp)], toolchain())


def compiled_module(name: str, symbols: Sequence[str], build: Callable[[], Any]) -> list[int]:
    """Addresses of functions of a module of LLVM code, which ``build`` writes."""
    from . import objects as objects
    return objects.addresses(f"{name}-{_stamp(name)}", symbols, lambda: objects.of_module(build()), toolchain())[0]


def _stamp(*texts: str) -> str:
    return hashlib.sha256("\0".join((*texts, toolchain())).encode()).hexdigest()[:24]


def kernel(function: Callable[..., Any]) -> Any:
    """Decorator of hand-written kernels: for compiled code, and for Python, where they are compiled for the types of the first call.

    Sums may be reordered (that makes vector code), NaN and infinity are kept, no Python lock is held.
    """
    from .jit_functions import JitFunction
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"contract", "arcp", "nsz", "reassoc"}}
    return JitFunction(function, options, lambda f: _dispatcher(f, options))
