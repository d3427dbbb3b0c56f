"""Machine code on disk, as object files that LLVM alone can load.

A file has the names of functions that its code calls elsewhere, and the object file. One that needs a function that this process does not
have, or lacks one that it is read for, is as good as missing.
"""
from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm

from ...base.locks import LockRank, rlock
from ..cache import store as cache_store
from ..cache.progress import compiling
from ..cache.symbols import make_known
from . import settings

Code = tuple[bytes, list[str]]

_lock = rlock(LockRank.CODE)
_loaded: dict[str, list[int]] = {}


class JitEngine:
    """The LLVM engine that holds loaded machine code."""

    def __init__(self) -> None:
        settings.set_llvm_options()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.machine = target_machine()
        module = llvm.parse_assembly("")
        module.triple, module.data_layout = llvm.get_process_triple(), str(self.machine.target_data)
        self._engine = llvm.create_mcjit_compiler(module, target_machine())

    def load(self, code: bytes, symbols: Sequence[str]) -> list[int]:
        """Addresses of functions of an object file; 0 for one that it does not have."""
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        return [int(self._engine.get_function_address(s)) for s in symbols]


@functools.cache
def engine() -> JitEngine:
    """The engine of this process; call it with the lock held."""
    return JitEngine()


def target_machine() -> Any:
    """LLVM's back end for this machine."""
    name, features = settings.target()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=3, jit=True, codemodel="jitdefault",
                                        reloc="static" if target.name.startswith("x86") else "default")


def of_module(module: Any) -> Code:
    """The object file of LLVM code that was written without Numba, as it shall be: loops stay as they are."""
    with _lock:
        machine = engine().machine
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=1)
    tuning.loop_unrolling = tuning.loop_vectorization = tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
    return emitted(parsed)


def only(module: Any, symbol: str) -> None:
    """Leave nothing but one function of a module to be called from outside."""
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration and thing.name != symbol:
            thing.linkage = "internal"


def emitted(module: Any) -> Code:
    """The object file of a module that is as it shall be."""
    with _lock:
        machine = engine().machine
    return machine.emit_object(module), [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]


def addresses(stamp: str, symbols: Sequence[str], make: Callable[[], Code], versions: str | None) -> tuple[list[int], bool]:
    """Addresses of functions: from the file of that name, or compiled and written to it.

    Parameters
    ----------
    stamp : name of the file, which says all that the code depends on
    symbols : names of the functions
    make : compiles them
    versions : of all that compiles them; None for code that is not kept

    Returns
    -------
    addresses
    whether they were there already
    """
    if is_at_hand(stamp, symbols, versions):
        return _loaded[stamp], True
    with compiling():
        found = make()              # without the lock: Numba has one of its own
    if versions is not None:
        _write(stamp, versions, *found)
    missing = [n for n in found[1] if not _is_known(n)]
    if missing:                     # LLVM would end the process
        raise RuntimeError(f"compiled code calls {', '.join(missing)}, which this process does not have")
    if not _load(stamp, symbols, found):
        raise RuntimeError(f"compiled code has no {' and no '.join(symbols)}")
    return _loaded[stamp], False


def is_at_hand(stamp: str, symbols: Sequence[str], versions: str | None) -> bool:
    """Whether the code is loaded; it is where the disk has it."""
    if stamp not in _loaded and versions is not None:
        found = _read(stamp, versions)
        return found is not None and all(map(_is_known, found[1])) and _load(stamp, symbols, found)
    return stamp in _loaded


def _load(stamp: str, symbols: Sequence[str], code: Code) -> bool:
    """Load the functions; False if one of them has no address."""
    with _lock:
        if stamp not in _loaded:    # another thread may have been quicker
            found = engine().load(code[0], symbols)
            if all(found):
                _loaded[stamp] = found
        return stamp in _loaded


def _is_known(name: str) -> bool:
    """Whether LLVM knows the address of a function; functions of this library and of Numba are registered first if need be."""
    with _lock:
        engine()                    # which makes the functions of the system known
    if llvm.address_of_symbol(name) is None and name.startswith("dl4py_"):
        make_known(*(int(name[-1]),) if name.endswith(("_f4", "_f8")) else ())
    elif llvm.address_of_symbol(name) is None and name.startswith(("NRT_", "numba_")):
        settings.apply()            # these are functions of Numba
    return llvm.address_of_symbol(name) is not None


def _read(stamp: str, versions: str) -> Code | None:
    content = cache_store.read("numba", f"{stamp}.o", versions)
    if content is None:
        return None
    head, _, code = content.partition(b"\n")
    return code, json.loads(head)


def _write(stamp: str, versions: str, code: bytes, needs: list[str]) -> None:
    cache_store.write("numba", f"{stamp}.o", versions, json.dumps(needs).encode() + b"\n" + code)
