"""CUDA texts as machine code of this computer, which the emulator runs: compiled by a C++ compiler, kept on disk by content."""
from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.locks import rlock
from ...cpu.cache import store as cache_store
from ...errors import DeviceError
from ..sources import text_of

FLAGS = ("-x", "c++", "-std=c++17", "-O0", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions",
         "-fno-rtti", "-fno-math-errno", "-fvisibility=hidden")

_DYNAMIC = re.compile(r"\bextern\s+__shared__\s+((?:__align__\(\d+\)\s+)?[\w\s:]+?)\s*\b(\w+)\s*\[\s*\]\s*;")
_MARK = r"__attribute__\s*\(\(used\)\)"
_FUNCTION = re.compile(rf'extern\s+"C"\s+{_MARK}\s+void\s+(\w+)\s*\(')

_lock = rlock()
_libraries: dict[str, HostLibrary] = {}


@dataclass(frozen=True)
class KernelParameter:
    """One parameter of a CUDA function: the NumPy name of its type, or the size of a struct."""

    type: str
    is_pointer: bool
    is_read: bool

    def __str__(self) -> str:
        return f"{'const ' if self.is_read else ''}{self.type}{' *' if self.is_pointer else ''}"


@dataclass(frozen=True)
class HostFunction:
    """A CUDA function that this computer can run."""

    name: str
    parameters: tuple[KernelParameter, ...]
    run: Any


class HostLibrary:
    """The compiled functions of one CUDA source."""

    def __init__(self, file: Path) -> None:
        self._code = ctypes.CDLL(str(file))
        self._functions: dict[str, HostFunction] = {}

    def function(self, name: str) -> HostFunction:
        """The function of that name."""
        if name not in self._functions:
            try:
                words, run = getattr(self._code, f"emu_words_{name}"), getattr(self._code, f"emu_run_{name}")
            except AttributeError:
                raise DeviceError(f'the text has no function extern "C" __global__ void {name}(...)') from None
            run.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)
            out = ctypes.create_string_buffer(1 << 14)
            words(out)
            found = tuple(KernelParameter(w.lstrip("*!"), w.startswith("*"), w.startswith("*!")) for w in out.value.decode().split())
            self._functions[name] = HostFunction(name, found, run)
        return self._functions[name]


def compiler() -> str:
    """The C++ compiler: what ``DL4PY_CXX`` names, or the first of c++, g++ and clang++ that there is."""
    chosen = os.environ.get("DL4PY_CXX")
    for name in (chosen,) if chosen else ("c++", "g++", "clang++"):
        found = shutil.which(name)
        if found:
            return found
    raise DeviceError(f"the emulator of CUDA kernels needs a C++ compiler, and there is none: {chosen or 'c++, g++, clang++'} not found on "
                      "the path; install one or name it with DL4PY_CXX")


def library(text: str) -> HostLibrary:
    """The functions of a CUDA text (without the prelude)."""
    with _lock:
        key = _key(text)
        if key not in _libraries:
            _libraries[key] = _load(text, key)
        return _libraries[key]


def _key(text: str) -> str:
    tool = compiler()
    stamp = os.stat(tool)
    parts = (text, _before(), tool, str(stamp.st_mtime_ns), str(stamp.st_size), platform.platform(), platform.machine(), *FLAGS)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@functools.cache
def _before() -> str:
    shim = text_of("shim.h") + text_of("shim_threads.h")
    return f"#define EMULATED\n{shim}namespace {{\n{text_of('prelude.cuh')}}}\n{text_of('shim_calls.h')}namespace {{\n#line 1\n"


def _load(text: str, key: str) -> HostLibrary:
    """Load a library from the cache by its content: the system's loader would not check who owns the file."""
    name = f"{key}.so"
    content = cache_store.read("emulator", name, key)
    with tempfile.TemporaryDirectory(prefix="dl4py-") as folder:
        file = Path(folder, name)
        if content is None:
            _compile(text, file)
            cache_store.write("emulator", name, key, file.read_bytes())
        else:
            file.write_bytes(content)
        return HostLibrary(file)


def _compile(text: str, file: Path) -> None:
    rewritten = _DYNAMIC.sub(r"\1 *\2 = (\1 *)emu_pool;", text)
    names = _names(rewritten)
    whole = "".join((_before(), rewritten, "\n}\n", *(f"EMU_ENTRY({name})\n" for name in names)))
    _run([*FLAGS, "-", "-o", str(file), "-lm"], whole)


def _names(text: str) -> list[str]:
    """The functions that are left once the preprocessor has gone over the text."""
    head = "#define EMULATED\n#define __global__ __attribute__((used))\n#define __launch_bounds__(...)\n"
    return list(dict.fromkeys(_FUNCTION.findall(_run(["-x", "c++", "-std=c++17", "-E", "-P", "-w", "-"], head + text))))


def _run(options: list[str], text: str) -> str:
    done = subprocess.run([compiler(), *options], input=text, capture_output=True, text=True)
    if done.returncode:
        own = text.rpartition("#line 1\n")[2]
        raise DeviceError(f"a CUDA text does not compile for the emulator:\n{done.stderr[:4000]}\nThe text begins with:\n{own[:400]}")
    return done.stdout
