"""Rows taken from arrays, and rows of arrays changed, at indices."""
from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...base.spec import Shape, TensorSpec
from ..code.fused import joined, stored, writable
from ..compiler.sources import function_of, jit
from ..library.operators import TYPE_NAMES

if TYPE_CHECKING:
    from ..native.instruction import Instruction

Change = Literal["add", "sub", "mul", "div", "max", "min", "update"]

_CHECK = """
    for k in range(i.size):
        if i[k] < 0 or i[k] >= ARRAY.shape[1]:
            REFUSE
"""

_TAKE = """def kernel(x, i, y):
CHECK
    for a in range(x.shape[0]):
        for k in range(i.size):
            source, target = a * x.strides[0] + i[k] * x.strides[1], a * y.strides[0] + k * y.strides[1]
            for c in range(x.shape[2]):
                put(y, target + c * STEP_Y, at(x, source + c * STEP_X))
    DONE
"""

#: Equal indices are served in their order, so that results do not depend on anything else.
_CHANGE = """def kernel(x, i, y):
CHECK
    for a in range(y.shape[0]):
        for k in range(i.size):
            source, target = a * x.strides[0] + k * x.strides[1], a * y.strides[0] + i[k] * y.strides[1]
            for c in range(y.shape[2]):
                v = at(y, target + c * STEP_Y)
                w = at(x, source + c * STEP_X)
                put(y, target + c * STEP_Y, T(COMBINED))
    DONE
"""

#: As :data:`_TAKE` and :data:`_CHANGE`, with indices of its own for each outer place.
_TAKE_ALONG = """def kernel(x, i, y):
CHECK
    n = y.shape[1]
    for a in range(x.shape[0]):
        for k in range(n):
            put(y, a * y.strides[0] + k * y.strides[1], at(x, a * x.strides[0] + i[a * n + k] * x.strides[1]))
    DONE
"""
_PUT_ALONG = """def kernel(x, i, y):
CHECK
    n = x.shape[1]
    for a in range(x.shape[0]):
        for k in range(n):
            put(y, a * y.strides[0] + i[a * n + k] * y.strides[1], at(x, a * x.strides[0] + k * x.strides[1]))
    DONE
"""

_POSITIONS = """def kernel(i, x, y):
    for k in range(i.shape[0]):
        place = 0
        for j in range(i.shape[1]):
            if i[k, j] < 0 or i[k, j] >= x[j]:
                REFUSE
            place = place * x[j] + i[k, j]
        y[k] = place
    DONE
"""

_COMBINED: dict[str, str] = {"add": "v + w", "sub": "v - w", "mul": "v * w", "div": "v / w", "update": "w",
                             "max": "v if v > w else w", "min": "v if v < w else w"}

#: Nanoseconds of an element, and of an index.
_COST = 0.5, 3.0


def _type(spec: TensorSpec) -> Any:
    """The element type of kernels that only move elements."""
    return {"HALF": np.dtype(np.uint16), "BFLOAT16": np.dtype(np.uint16), "BOOL": np.dtype(np.uint8)}.get(spec.dtype.name, spec.dtype.numpy)


def _names() -> dict[str, Any]:
    from ..library import address, intrinsics
    return {**{name: d.type for d, name in TYPE_NAMES.items()}, "at": address.at, "put": address.put, "vmax": intrinsics.vmax,
            "vmin": intrinsics.vmin}


def _source(text: str, near: Sequence[int | None]) -> str:
    """The source with strides between neighbours as constants, where they are known."""
    for name, step in zip("XY", near):
        text = text.replace(f"STEP_{name}", f"{name.lower()}.strides[2]" if step is None else str(step))
    return text


def _near(arrays: Sequence[Any]) -> tuple[int | None, ...]:
    """Strides between neighbours in the arrays; None where they are not adjacent."""
    return tuple(a.itemsize if a.ndim == 3 and (a.strides[2] == a.itemsize or a.shape[2] == 1) else None for a in (arrays[0], arrays[2]))


@functools.lru_cache(maxsize=256)
def _compiled(text: str, near: tuple[int | None, ...], types: tuple[tuple[Any, int], ...]) -> Any:
    """The function for Python: True when all indices are in range."""
    numba: Any = importlib.import_module("numba")
    kinds = [numba.types.Array(numba.from_dtype(d), rank, "A" if rank == 3 else "C") for d, rank in types]
    source = _source(text, near).replace("REFUSE", "return False").replace("DONE", "return True")
    return jit(function_of(source, "kernel", _names()), numba.boolean(*kinds), error_model="numpy", nogil=True, fastmath={"contract"})


def _run(text: str, arrays: Sequence[Any]) -> bool:
    return bool(_compiled(text, _near(arrays), tuple((a.dtype, a.ndim) for a in arrays))(*map(writable, arrays)))


def _instruction(text: str, arrays: Sequence[Any]) -> Instruction | None:
    """The native instruction, which reports indices out of range; None for arrays it cannot take."""
    from ..native.instruction import TYPES, ArrayOperand, Instruction, entry_of_generated
    if any(a.dtype not in TYPES or not a.flags.aligned for a in arrays):
        return None
    answer = np.zeros(1, np.int64)
    given = [*arrays, answer]
    source = _source(text, _near(arrays)).replace("y):", "y, answer):", 1)
    source = source.replace("REFUSE", "answer[0] = 1; return").replace("DONE", "return")
    operands = tuple(ArrayOperand(a.dtype, a.ndim, bool(a.flags.c_contiguous)) for a in given)
    work = _COST[0] * min(arrays[0].size, arrays[2].size) + _COST[1] * arrays[1].size
    return Instruction(entry_of_generated(source, _names, operands), given, [o.dense for o in operands], work=work, answer=answer)


def _whole(indices: Any, dtype: Any) -> Any:
    """Indices as a contiguous array of the type that kernels take."""
    return np.array(indices, dtype, order="C", copy=None if indices.flags.carray else True)


def _whole_natively(indices: Any, dtype: Any, made: list[Instruction | None]) -> Any:
    """As :func:`_whole`; a conversion, where one is needed, is an instruction added to ``made``."""
    if indices.dtype == dtype and indices.flags.c_contiguous:
        return indices
    found = np.empty(indices.shape, dtype)
    made.append(stored(indices, found))
    return found


def _index(spec: TensorSpec) -> Any:
    return np.dtype(np.int32) if spec.dtype.name == "INT" else np.dtype(np.int64)


def _sides(shape: Shape, axis: int) -> Shape:
    """The shape as (outer, n, inner) around an axis."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])


def _is_view(array: Any, of: Any) -> bool:
    return not array.size or bool(np.may_share_memory(array, of))


@dataclass(frozen=True)
class IndexedRows:
    """Rows moved between an array and another one at indices: ``rows(x, indices, y)`` is False when an index is out of range.

    Attributes
    ----------
    text : of the kernel, whose arrays are (outer, rows, inner)
    dtype, index : types that it sees elements and indices as
    given, made : shapes that it sees x and y in
    """

    text: str
    dtype: Any
    index: Any
    given: Shape
    made: Shape

    def __call__(self, x: Any, indices: Any, y: Any) -> bool:
        seen = self._seen(y, self.made)
        if not _is_view(seen, y):           # whose axes cannot be joined
            seen = seen.copy()
        done = _run(self.text, (self._seen(x, self.given), _whole(indices, self.index).reshape(-1), seen))
        if done and not _is_view(seen, y):
            y[...] = seen.view(y.dtype).reshape(y.shape)
        return done

    def native(self, x: Any, indices: Any, y: Any) -> list[Instruction] | None:
        """Instructions for arrays of the final layout; None where they cannot be seen like that."""
        made: list[Instruction | None] = []
        seen = [self._seen(x, self.given), self._seen(y, self.made)]
        if not all(map(_is_view, seen, (x, y))):
            return None
        places = _whole_natively(indices, self.index, made).reshape(-1)
        return joined(*made, _instruction(self.text, (seen[0], places, seen[1])))

    def _seen(self, array: Any, shape: Shape) -> Any:
        array = array if array.flags.aligned else array.copy()
        array = array if array.dtype == self.dtype else array.view(self.dtype)
        return array.reshape(shape)


def take(axis: int, x: TensorSpec, indices: TensorSpec) -> IndexedRows | None:
    """``rows(x, indices, out)``: the slices of x at the indices; nothing is stored when an index is out of range."""
    shape, dtype = x.shape or (), _type(x)
    if not shape or dtype not in TYPE_NAMES or 0 in shape or 0 in (indices.shape or ()):
        return None
    outer, n, inner = _sides(shape, axis)
    text = _TAKE.replace("CHECK", _CHECK.replace("ARRAY", "x"))
    return IndexedRows(text, dtype, _index(indices), (outer, n, inner), (outer, math.prod(indices.shape or ()), inner))


def change(how: Change, axis: int, y: TensorSpec, indices: TensorSpec) -> IndexedRows | None:
    """``rows(updates, indices, y)``: slices of y changed in place, in the order of the indices."""
    shape, dtype = y.shape or (), _type(y) if how == "update" else y.dtype.numpy
    if not shape or dtype not in TYPE_NAMES or y.dtype.name == "BOOL" or 0 in shape or 0 in (indices.shape or ()):
        return None
    if how == "div" and dtype.kind != "f":
        return None
    combined = f"v{how}(v, w)" if dtype.kind == "f" and how in ("max", "min") else _COMBINED[how]
    text = _CHANGE.replace("CHECK", _CHECK.replace("ARRAY", "y")).replace("COMBINED", combined).replace("T(", f"{TYPE_NAMES[dtype]}(")
    outer, n, inner = _sides(shape, axis)
    return IndexedRows(text, dtype, _index(indices), (outer, math.prod(indices.shape or ()), inner), (outer, n, inner))


def along_last(text: str, x: TensorSpec, indices: TensorSpec, y: TensorSpec, checked: str) -> IndexedRows | None:
    """``rows(x, indices, y)``: elements moved at indices along the last axis, which are checked against that of x or y."""
    dtype, static = _type(x), x.is_static and indices.is_static and y.is_static
    if not (static and x.shape and y.shape) or dtype not in TYPE_NAMES or 0 in (*x.shape, *y.shape):
        return None
    seen = [(math.prod(shape[:-1]), shape[-1], 1) for shape in (x.shape, y.shape)]
    return IndexedRows(text.replace("CHECK", _CHECK.replace("ARRAY", checked)), dtype, _index(indices), *seen)


def take_along(x: TensorSpec, indices: TensorSpec, y: TensorSpec) -> IndexedRows | None:
    """``rows(x, indices, out)``: the elements of each row of x at indices of its own."""
    return along_last(_TAKE_ALONG, x, indices, y, "x")


def put_along(x: TensorSpec, indices: TensorSpec, y: TensorSpec) -> IndexedRows | None:
    """``rows(x, indices, out)``: elements put into each row of out at indices of its own."""
    return along_last(_PUT_ALONG, x, indices, y, "y")


@dataclass(frozen=True)
class Places:
    """The rows, counted in c order, that index vectors address in an array: None when one is out of range."""

    index: Any
    count: int
    sizes: Any

    def __call__(self, indices: Any) -> Any:
        found = np.empty(self.count, np.int64)
        return found if _run(_POSITIONS, (_whole(indices, self.index).reshape(self.count, -1), self.sizes, found)) else None

    def native(self, indices: Any, made: list[Instruction | None]) -> Any:
        """The array that will hold them; the instructions that fill it are added to ``made``."""
        found = np.empty(self.count, np.int64)
        vectors = _whole_natively(indices, self.index, made).reshape(self.count, -1)
        made.append(_instruction(_POSITIONS, (vectors, self.sizes, found)))
        return found


def places(shape: Shape, indices: TensorSpec) -> Places | None:
    """Positions in an array of ``shape`` for the index vectors along the last axis of ``indices``; None where there are none."""
    given = indices.shape or ()
    if 0 in given or 0 in shape or not given or given[-1] == 0:
        return None
    return Places(_index(indices), math.prod(given[:-1]), np.array(shape[:given[-1]], np.int64))
