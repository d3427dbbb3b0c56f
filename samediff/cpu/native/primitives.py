"""Primitives of int64 functions besides arithmetic: memory, atomic words, calls by address, the processor's own instructions."""
# mypy: ignore-errors
from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .int_compiler import WORD, Primitive

_I32 = ir.IntType(32)
_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, WORD.as_pointer())


def _llvm(builder: Any, name: str, result: Any, *args: Any) -> Any:
    kind = ir.FunctionType(result, [a.type for a in args])
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", (), kind), args)


def external(name: str, *numbers: Any, result: Any = _I32) -> Primitive:
    """A function of the C language that is known to machine code by this name."""
    def emit(b: Any, *args: Any) -> Any:
        found = b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(result, numbers), name)
        given = [a if a.type == t else b.trunc(a, t) for a, t in zip(args, numbers)]
        value = b.call(found, given)
        return b.sext(value, WORD) if result == _I32 else value
    return Primitive(emit)


def _primitive(emit: Callable[..., Any]) -> Primitive:
    return Primitive(emit)


#: The word at an address; put a word there.
load = Primitive(lambda b, address: b.load(_at(b, address)))
store = Primitive(lambda b, address, value: b.store(value, _at(b, address)))

#: As above, for words that other threads change (atomic). ``add_shared`` returns the previous value.
load_shared = Primitive(lambda b, address: b.load_atomic(_at(b, address), "seq_cst", 8))
store_shared = Primitive(lambda b, address, value: b.store_atomic(value, _at(b, address), "seq_cst", 8))
add_shared = Primitive(lambda b, address, value: b.atomic_rmw("add", _at(b, address), value, "seq_cst"))

#: Replace a word if it still is ``old``; whether that was so.
claim = Primitive(lambda b, address, old, new: b.extract_value(b.cmpxchg(_at(b, address), old, new, "seq_cst", "seq_cst"), 1))

#: A clock that only ever rises on one processor.
cycles = Primitive(lambda b: _llvm(b, "readcyclecounter", WORD))


@_primitive
def copy_bytes(b: Any, source: Any, target: Any, size: Any) -> None:
    """Copy ``size`` bytes."""
    to, of = (b.inttoptr(a, ir.IntType(8).as_pointer()) for a in (target, source))
    kind = ir.FunctionType(ir.VoidType(), [to.type, of.type, WORD, ir.IntType(1)])
    b.call(b.module.declare_intrinsic("llvm.memcpy", (to.type, of.type, WORD), kind), [to, of, size, ir.IntType(1)(0)])


@_primitive
def call(b: Any, entry: Any, *words: Any) -> None:
    """Call the function at an address with these words."""
    kind = ir.FunctionType(ir.VoidType(), [WORD] * len(words))
    b.call(b.inttoptr(entry, kind.as_pointer()), words)


@_primitive
def pause(b: Any) -> None:
    """Hint for spin loops: let the other hardware thread of the core run for a moment."""
    if _IS_X86:
        _llvm(b, "x86.sse2.pause", ir.VoidType())


@_primitive
def control_word(b: Any) -> Any:
    """The control word of SSE arithmetic; elsewhere 0."""
    if not _IS_X86:
        return WORD(0)
    slot = b.alloca(_I32)
    _llvm(b, "x86.sse.stmxcsr", ir.VoidType(), b.bitcast(slot, ir.IntType(8).as_pointer()))
    return b.zext(b.load(slot), WORD)


@_primitive
def set_control_word(b: Any, word: Any) -> None:
    """Set the control word of the floating-point unit; on other processors nothing happens."""
    if _IS_X86:
        slot = b.alloca(_I32)
        b.store(b.trunc(word, _I32), slot)
        _llvm(b, "x86.sse.ldmxcsr", ir.VoidType(), b.bitcast(slot, ir.IntType(8).as_pointer()))
