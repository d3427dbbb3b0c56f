"""Positions of the largest and smallest elements of slices."""
from __future__ import annotations

import functools
import importlib
from typing import Any, Literal

import numpy as np

from ....base.spec import TensorSpec
from ....families.broadcasting import axes_of
from ....ir.op import Kernel
from ....ops.reduce.argreduce import IndexReduction
from ....plans.sweeps.loops import loops
from ...code.fused import joined, laid_out
from ...compiler.sources import function_of, jit
from ...kernel_table import kernel_for

#: Blocks of 256: vector code finds the block of the extreme, and then the place in it. NaN is more extreme than all.
_ROWS = """def kernel(x, y):
    n = x.shape[1]
    for i in range(x.shape[0]):
        best, start = x[i, 0], 0
        for s in range(0, n, 256):
            top = x[i, s]
            for j in range(s, min(s + 256, n)):
                v = x[i, j]
                top = JOIN
            if top BETTER best or top != top:
                best, start = top, s
                if top != top:
                    break
        block = x[i, start:min(start + 256, n)]
        place = np.int32(256)
        for j in range(block.shape[0]):
            here = select((block[j] == best) | (block[j] != block[j]), np.int32(j), np.int32(256))
            place = select(here < place, here, place)
        y[i] = start + place
"""

#: Slices side by side. The loop knows no NaN, which would keep it from becoming vector code; columns with one are searched again.
_COLUMNS = """def kernel(x, y):
    best, where = np.empty(512, x.dtype), np.empty(512, np.int32)
    for a in range(x.shape[0]):
        for s in range(0, x.shape[2], 512):
            m = min(512, x.shape[2] - s)
            for c in range(m):
                best[c] = x[a, 0, s + c]
                where[c] = 0
            for b in range(1, x.shape[1]):
                row, here = a * x.strides[0] + b * x.strides[1] + s * x.itemsize, np.int32(b)
                for c in range(m):
                    v, top, old = at(x, row + c * SIZE), best[c], where[c]
                    new = JOIN
                    best[c] = new
                    where[c] = old if new == top else here
            for c in range(m):
                if best[c] != best[c]:
                    where[c] = 0
                    while x[a, where[c], s + c] == x[a, where[c], s + c]:
                        where[c] += 1
                y[a, s + c] = where[c]
"""


def _names() -> dict[str, Any]:
    from ...library import address, intrinsics
    return {"np": np, "vmax": intrinsics.vmax, "vmin": intrinsics.vmin, "select": intrinsics.select, "at": address.at}


def _source(rows: bool, which: Literal["max", "min"], dtype: Any) -> str:
    better = ">" if which == "max" else "<"
    join = f"v{which}(top, v)" if dtype.kind == "f" else f"v if v {better} top else top"
    return (_ROWS if rows else _COLUMNS).replace("JOIN", join).replace("BETTER", better).replace("SIZE", str(dtype.itemsize))


#: Nanoseconds of an element.
_COST = 0.3


@functools.lru_cache(maxsize=256)
def _compiled(rows: bool, which: Literal["max", "min"], dtype: Any) -> Any:
    numba: Any = importlib.import_module("numba")
    rank = 2 if rows else 3
    signature = numba.void(numba.types.Array(numba.from_dtype(dtype), rank, "C"), numba.types.Array(numba.int64, rank - 1, "C"))
    function = function_of(_source(rows, which, dtype), "kernel", _names())
    return jit(function, signature, error_model="numpy", nogil=True, fastmath={"contract"})


def position(which: Literal["max", "min"], axes: tuple[int, ...], x: TensorSpec) -> Kernel | None:
    """``call(x, out)``: the first position of the extreme, or of a NaN, in each slice over ``axes`` in c order."""
    shape = x.shape or ()
    if not x.is_static or 0 in shape or not x.dtype.is_numeric or x.dtype.name in ("HALF", "BFLOAT16"):
        return None
    found = loops(shape, axes)
    whole = found is not None and (found[1][0][1] == 1 or found[1][0][3] == 1)     # the slices run along one loop
    if not whole:
        kept = [i for i in range(len(shape)) if i not in axes]
        order = (*kept, *axes)
        moved = TensorSpec(tuple(shape[i] for i in order), x.dtype)
        inner = position(which, tuple(range(len(kept), len(order))), moved)
        return None if inner is None else _in_order(order, inner)
    rows, (view,) = found  # type: ignore[misc]
    dtype = np.dtype(np.uint8) if x.dtype.name == "BOOL" else x.dtype.numpy
    seen: tuple[int, ...] = (view[0] * view[2], view[3]) if rows else view[:3]
    slices: tuple[int, ...] = seen[:1] if rows else (seen[0], seen[2])

    def call(x: Any, out: Any) -> None:
        _compiled(rows, which, dtype)((x if x.flags.carray else np.array(x, order="C")).view(dtype).reshape(seen), out.reshape(slices))

    def native(x: Any, out: Any) -> Any:
        from ...native.instruction import ArrayOperand, Instruction, entry_of_generated
        if not out.flags.c_contiguous:
            return None
        made: list[Any] = []
        arrays = [laid_out(x, made).view(dtype).reshape(seen), out.reshape(slices)]
        operands = tuple(ArrayOperand(a.dtype, a.ndim, True, 0) for a in arrays)
        entry = entry_of_generated(_source(rows, which, dtype), _names, operands)
        return joined(*made, Instruction(entry, arrays, [True, True], work=10 + x.size * _COST, splits=seen[0] > 1))
    return Kernel(call, native=native)


def _in_order(order: tuple[int, ...], inner: Kernel) -> Kernel:
    """A kernel for arrays whose axes come in another order."""
    call, native = inner.call, inner.native
    assert native is not None
    return Kernel(lambda x, out: call(x.transpose(order), out), native=lambda x, out: native(x.transpose(order), out))


@kernel_for(IndexReduction)
def _(op: IndexReduction, *specs: TensorSpec) -> Kernel | None:
    x = specs[0]
    if op.which is None or op.absolute or len(specs) > 1 or not x.is_static:
        return None
    return position(op.which, axes_of(op.dimensions, len(x.shape or ())), x)
