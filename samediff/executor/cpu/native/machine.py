"""What compiled code needs to work on addresses: words of memory, atomic ones, calls, arrays laid over memory."""
# mypy: ignore-errors
from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

_WORD = ir.IntType(64)
_I8 = types.int64


def _pointer(builder: Any, address: Any, kind: Any = _WORD) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def load(context: Any, address: Any) -> Any:
    """The word at an address."""
    return _I8(_I8), lambda c, b, s, a: b.load(_pointer(b, a[0]))


@intrinsic
def load_float(context: Any, address: Any) -> Any:
    """The float64 at an address."""
    return types.float64(_I8), lambda c, b, s, a: b.load(_pointer(b, a[0], ir.DoubleType()))


@intrinsic
def product(context: Any, x: Any, y: Any) -> Any:
    """The upper and the lower word of the product of two words without signs."""
    pair = types.UniTuple(_I8, 2)

    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        wide = ir.IntType(128)
        made = b.mul(b.zext(a[0], wide), b.zext(a[1], wide))
        return c.make_tuple(b, pair, [b.trunc(b.lshr(made, wide(64)), _WORD), b.trunc(made, _WORD)])
    return pair(_I8, _I8), emit


@intrinsic
def store_flags(context: Any, address: Any, first: Any, second: Any, third: Any, fourth: Any, limit: Any) -> Any:
    """Put eight bytes at an address: whether the halves of four words, the lower one first, are at most ``limit`` (without signs)."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        half, count = ir.IntType(32), 8
        words = ir.Constant(ir.VectorType(_WORD, 4), ir.Undefined)
        for k in range(4):
            words = b.insert_element(words, a[1 + k], half(k))
        kind = ir.VectorType(half, count)
        most = b.insert_element(ir.Constant(kind, ir.Undefined), b.trunc(a[5], half), half(0))
        most = b.shuffle_vector(most, most, ir.Constant(kind, [0] * count))
        flags = b.zext(b.icmp_unsigned("<=", b.bitcast(words, kind), most), ir.VectorType(ir.IntType(8), count))
        b.store(flags, _pointer(b, a[0], flags.type), align=1)
        return c.get_dummy_value()
    return types.void(*[_I8] * 6), emit


@intrinsic
def store(context: Any, address: Any, value: Any) -> Any:
    """Put a word at an address."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        b.store(a[1], _pointer(b, a[0]))
        return c.get_dummy_value()
    return types.void(_I8, _I8), emit


@intrinsic
def load_shared(context: Any, address: Any) -> Any:
    """The word at an address that other threads change."""
    return _I8(_I8), lambda c, b, s, a: b.load_atomic(_pointer(b, a[0]), "seq_cst", 8)


@intrinsic
def store_shared(context: Any, address: Any, value: Any) -> Any:
    """Put a word where other threads look."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        b.store_atomic(a[1], _pointer(b, a[0]), "seq_cst", 8)
        return c.get_dummy_value()
    return types.void(_I8, _I8), emit


@intrinsic
def add_shared(context: Any, address: Any, value: Any) -> Any:
    """Add to a word; gives what was there before."""
    return _I8(_I8, _I8), lambda c, b, s, a: b.atomic_rmw("add", _pointer(b, a[0]), a[1], "seq_cst")


@intrinsic
def claim(context: Any, address: Any, old: Any, new: Any) -> Any:
    """Replace a word if it still is ``old``; whether that was so."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        return b.extract_value(b.cmpxchg(_pointer(b, a[0]), a[1], a[2], "seq_cst", "seq_cst"), 1)
    return types.boolean(_I8, _I8, _I8), emit


@intrinsic
def call(context: Any, function: Any, table: Any, part: Any, parts: Any) -> Any:
    """Call the entry at an address."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_WORD] * 3)
        b.call(b.inttoptr(a[0], kind.as_pointer()), a[1:])
        return c.get_dummy_value()
    return types.void(_I8, _I8, _I8, _I8), emit


@intrinsic
def pause(context: Any) -> Any:
    """Let the other thread of the core go first for a moment."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            b.call(b.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return c.get_dummy_value()
    return types.void(), emit


@intrinsic
def cycles(context: Any) -> Any:
    """A clock that only ever rises on one processor."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        return b.call(b.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(_WORD, [])), [])
    return _I8(), emit


def _laid_over(kind: Any, strided: bool) -> Any:
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        base, item = a[0], c.get_abi_sizeof(c.get_data_type(kind.dtype))
        word = [b.load(_pointer(b, b.add(base, _WORD(8 * k)))) for k in range(1 + kind.ndim * (2 if strided else 1))]
        shape, strides = word[1:1 + kind.ndim], word[1 + kind.ndim:]
        if not strided:
            strides = [_WORD(item)]
            for n in reversed(shape[1:]):
                strides.insert(0, b.mul(strides[0], n))
        made = arrayobj.make_array(kind)(c, b)
        data = b.inttoptr(word[0], c.get_data_type(kind.dtype).as_pointer())
        arrayobj.populate_array(made, data=data, shape=shape, strides=strides[:kind.ndim], itemsize=_WORD(item), meminfo=None)
        return made._getvalue()
    return emit


@intrinsic(prefer_literal=True)
def dense(context: Any, address: Any, dtype: Any, rank: Any) -> Any:
    """A C-contiguous array: its address and sizes are the words at ``address``."""
    kind = types.Array(dtype.dtype, rank.literal_value, "C")
    return kind(address, dtype, rank), _laid_over(kind, False)


@intrinsic(prefer_literal=True)
def strided(context: Any, address: Any, dtype: Any, rank: Any) -> Any:
    """Any array: its address, sizes and steps in bytes are the words at ``address``."""
    kind = types.Array(dtype.dtype, rank.literal_value, "A")
    return kind(address, dtype, rank), _laid_over(kind, True)


@intrinsic
def rows(context: Any, array: Any, low: Any, high: Any) -> Any:
    """``array[low:high]`` of the same layout, for bounds inside the array: a loop from 0 on over it needs no look at signs."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        kind = s.args[0]
        old = arrayobj.make_array(kind)(c, b, value=a[0])
        shape, strides = (cgutils.unpack_tuple(b, getattr(old, field), kind.ndim) for field in ("shape", "strides"))
        made = arrayobj.make_array(kind)(c, b)
        arrayobj.populate_array(made, data=cgutils.pointer_add(b, old.data, b.mul(a[1], strides[0])), shape=[b.sub(a[2], a[1]), *shape[1:]],
                                strides=strides, itemsize=old.itemsize, meminfo=None)
        return made._getvalue()
    return array(array, _I8, _I8), emit


@intrinsic
def control_word(context: Any, new: Any) -> Any:
    """The control word of SSE arithmetic; set to ``new`` unless that is negative. Elsewhere nothing happens."""
    def emit(c: Any, b: Any, s: Any, a: Any) -> Any:
        if platform.machine().lower() not in ("x86_64", "amd64"):
            return ir.IntType(32)(-1)
        slot = b.alloca(ir.IntType(32))
        byte = b.bitcast(slot, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.type])
        b.call(b.module.declare_intrinsic("llvm.x86.sse.stmxcsr", (), kind), [byte])
        old = b.load(slot)
        with b.if_then(b.icmp_signed(">=", a[0], ir.IntType(32)(0))):
            b.store(a[0], slot)
            b.call(b.module.declare_intrinsic("llvm.x86.sse.ldmxcsr", (), kind), [byte])
        return old
    return types.int32(types.int32), emit
