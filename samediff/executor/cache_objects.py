"""Machine code on disk, as object files that LLVM alone can load.

A file has a checksum, the names of functions that its code calls elsewhere, and the object file. One that is damaged, or needs a
function that this process does not have, is as good as missing.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from .cpu import settings

Code = tuple[bytes, list[str]]

_MAGIC = b"dl4py machine code 1\n"
_lock = threading.RLock()
_loaded: dict[str, list[int]] = {}


class Engine:
    """What LLVM keeps loaded code in."""

    def __init__(self) -> None:
        settings.tell_llvm()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.machine = target_machine()
        module = llvm.parse_assembly("")
        module.triple, module.data_layout = llvm.get_process_triple(), str(self.machine.target_data)
        self._engine = llvm.create_mcjit_compiler(module, target_machine())

    def load(self, code: bytes, symbols: Sequence[str]) -> list[int]:
        """Addresses of functions of an object file."""
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        return [int(self._engine.get_function_address(s)) for s in symbols]


@functools.cache
def engine() -> Engine:
    """That of this process; asked for with the lock."""
    return Engine()


def target_machine() -> Any:
    """LLVM's back end for this machine."""
    name, features = settings.target()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=3, jit=True, codemodel="jitdefault",
                                        reloc="static" if target.name.startswith("x86") else "default")


def of_module(module: Any, loops: bool = False) -> Code:
    """The object file of LLVM code that was written without Numba; with ``loops``, loops are to become vector code."""
    with _lock:
        machine = engine().machine
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3 if loops else 1)
    tuning.loop_unrolling = tuning.loop_vectorization = loops       # else written as it shall be
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
    return machine.emit_object(parsed), [f.name for f in parsed.functions if f.is_declaration and not f.name.startswith("llvm.")]


def addresses(stamp: str, symbols: Sequence[str], make: Callable[[], Code], folder: Path | None) -> tuple[list[int], bool]:
    """Addresses of functions: from the file of that name, or compiled and written to it.

    Parameters
    ----------
    stamp : name of the file, which says all that the code depends on
    symbols : names of the functions
    make : compiles them
    folder : where files are; None where none can be

    Returns
    -------
    addresses
    whether they were there already
    """
    if stamp in _loaded:
        return _loaded[stamp], True
    found = None if folder is None else _read(folder / f"{stamp}.o")
    known = found is not None and all(map(_is_known, found[1]))
    if found is None or not known:
        found = make()              # without the lock: Numba has one of its own
        if folder is not None:
            _write(folder / f"{stamp}.o", *found)
        missing = [n for n in found[1] if not _is_known(n)]
        if missing:                 # LLVM would end the process
            raise RuntimeError(f"compiled code calls {', '.join(missing)}, which this process does not have")
    with _lock:
        if stamp not in _loaded:    # another thread may have been quicker
            _loaded[stamp] = engine().load(found[0], symbols)
    return _loaded[stamp], known


def _is_known(name: str) -> bool:
    """Whether code may call the function; what makes it known is loaded if need be."""
    if llvm.address_of_symbol(name) is None and name.startswith("dl4py_"):
        make_known(*(int(name[-1]),) if name.endswith(("_f4", "_f8")) else ())
    elif llvm.address_of_symbol(name) is None and name.startswith(("NRT_", "numba_")):
        settings.apply()            # these are functions of Numba
    return llvm.address_of_symbol(name) is not None


def make_known(*sizes: int) -> None:
    """Make all functions known that kernels call by name: those of the system, of BLAS, and products of elements of these sizes."""
    from .cpu import blas, product_code
    from .cpu.native import system  # noqa: F401  its functions are known then
    blas.available()
    for size in sizes:
        product_code.addresses(size)


def _read(file: Path) -> Code | None:
    try:
        content = file.read_bytes()
    except OSError:
        return None
    size = len(_MAGIC)
    checksum, rest = content[size:size + 32], content[size + 32:]
    if not content.startswith(_MAGIC) or hashlib.sha256(rest).digest() != checksum:
        return None
    head, _, code = rest.partition(b"\n")
    return code, json.loads(head)


def _write(file: Path, code: bytes, needs: list[str]) -> None:
    """Under another name first: a process that reads meanwhile finds all of it or nothing."""
    rest = json.dumps(needs).encode() + b"\n" + code
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(_MAGIC + hashlib.sha256(rest).digest() + rest)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
