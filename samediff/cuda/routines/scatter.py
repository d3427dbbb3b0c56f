"""Rows of arrays changed at indices, and rows joined by numbers, with sums in the order of the indices.

Three ways, by sizes alone: each element of the result looks through all indices (*walk*); the first of equal indices works for all of
them (*change*); or indices are sorted with their positions and each row of the result adds up its run. Indices out of range count
for nothing.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec, size
from ...plans.actions import Action, ArrayCopy, CudaKernel, KernelLaunch, ZeroFill
from ..sources import source, type_name
from .gather import MOST, block_for, places, position_type, rows_of, sides

How = Literal["add", "sub", "mul", "div", "max", "min", "update"]

_COMBINE: dict[str, str] = {"add": "((v) + (w))", "sub": "((v) - (w))", "mul": "((v) * (w))", "div": "((v) / (w))", "max": "vmax(v, w)",
                            "min": "vmin(v, w)", "update": "(w)"}

#: What threads that share a run begin with besides the first, and how their results are joined.
_SHARES = {"add": ("0", "((v) + (w))"), "sub": ("0", "((v) + (w))"), "mul": ("1", "((v) * (w))"), "max": ("START", "vmax(v, w)"),
           "min": ("START", "vmin(v, w)")}

#: The result as it is.
_END = "(v)"

#: Comparisons up to which all indices are looked through for each element.
_WALK = 1 << 24

#: Indices up to which the first of equal ones is looked for.
_FEW = 4096

#: Numbers that one block sorts, and threads of it.
_CHUNK, _THREADS = 1024, 256


@dataclass(frozen=True)
class ScatterSizes:
    """y (outer, n, inner), changed by ``count`` updates (outer, count, inner)."""

    how: How
    dtype: DataType
    outer: int
    n: int
    inner: int
    count: int

    @property
    def served(self) -> bool:
        """Whether the kernels support this combination of type, operation and sizes."""
        plain = self.how == "update" or self.dtype is not DataType.BOOL
        return plain and self.dtype.is_numeric and self.n <= MOST and self.count <= MOST and (self.how != "div" or self.dtype.is_floating)

    @property
    def columns(self) -> int:
        """Number of elements of a row."""
        return self.outer * self.inner

    def positions(self) -> tuple[str, Any]:
        """The type of positions, in C and in NumPy."""
        return position_type(self.columns * max(self.n, self.count), self.n, self.count)

    def sizes(self) -> tuple[Any, ...]:
        """The size arguments of the kernels."""
        kind = self.positions()[1]
        return np.int32(self.count), kind(self.n), kind(self.inner), kind(self.columns)


def change(rows: ScatterSizes, index: DataType) -> Callable[..., KernelLaunch]:
    """``call(updates, indices, y)``: few rows of y changed in place."""
    text = source("scatter", T=type_name(rows.dtype), X=type_name(index), I=rows.positions()[0],
                  **{"COMBINE(v, w)": _COMBINE[rows.how]}, LAST=int(rows.how == "update"))
    grid = min(-(-rows.count // 4), 1 << 16), min(-(-rows.columns // 128), 1 << 10), 1

    def launch(updates: Any, indices: Any, y: Any) -> KernelLaunch:
        return KernelLaunch(text, "change", grid, (32, 4, 1), (updates, indices, y, *rows.sizes()))
    return launch


def runs(rows: ScatterSizes, key: DataType, start: str, end: str, walk: bool, ordered: bool) -> Callable[..., KernelLaunch]:
    """``call(ref, updates, keys, order, y)``: all rows of y."""
    grid, block = block_for(rows.columns, rows.n, 128)
    mean = rows.count // max(rows.n, 1)
    shared = not walk and mean >= 32 and rows.how in _SHARES
    if shared:
        x, y = min(block[0], 32), 2
        while y < min(mean // 4, 1024 // x):
            y *= 2
        grid, block = (min(rows.n, 1 << 16), max(1, min(-(-rows.columns // x), 1 << 10)), 1), (x, y, 1)
    neutral, join = _SHARES[rows.how] if shared else ("START", "(v)")
    text = source("segment_reduce", T=type_name(rows.dtype), X=type_name(key), I=rows.positions()[0], WALK=int(walk), ORDERED=int(ordered),
                  PARTS=int(shared), START=start, NEUTRAL=neutral,
                  **{"COMBINE(v, w)": _COMBINE[rows.how], "JOIN(v, w)": join, "END(v, count)": end})

    def launch(ref: Any, updates: Any, keys: Any, order: Any, y: Any) -> KernelLaunch:
        return KernelLaunch(text, "runs", grid, block, (ref, updates, keys, order, y, *rows.sizes()))
    return launch


def sort_workspace(count: int) -> tuple[TensorSpec, ...]:
    """Workspace of :func:`sort`: keys, keys again, positions twice, totals."""
    blocks = -(-count // _CHUNK)
    return (*(TensorSpec((count,), DataType.INT) for _ in range(4)), TensorSpec((_THREADS * blocks,), DataType.INT))


def sort(n: int, workspace: Any) -> tuple[list[Action], Any, Any]:
    """Sorts the keys of the first room (0 to n) with their positions: the actions, and where both are then."""
    key, other, order, other_order, totals = workspace
    text, count, blocks = source("sort"), np.int32(key.size), -(-key.size // _CHUNK)
    actions: list[Action] = []
    for shift in range(0, max(n.bit_length(), 1), 8):
        at = np.int32(shift)
        actions += [KernelLaunch(text, "count_digits", (blocks, 1, 1), (_THREADS, 1, 1), (key, totals, count, at)),
                    KernelLaunch(text, "add_up", (1, 1, 1), (1024, 1, 1), (totals, np.int32(totals.size))),
                    KernelLaunch(text, "move", (blocks, 1, 1), (_THREADS, 1, 1),
                           (key, order, totals, other, other_order, count, at, np.int32(shift == 0)))]
        key, other, order, other_order = other, key, other_order, order
    return actions, key, order


def combined(rows: ScatterSizes, index: DataType, start: str | None = None, end: str = _END,
             axes: Shape | None = None) -> CudaKernel | None:
    """``call(ref, updates, indices, out, ...)``: ``ref``, or ``start`` everywhere (then ref is not looked at), with rows changed.

    ``axes``: indices are vectors into axes of these sizes.
    """
    if not rows.served:
        return None
    walk = rows.count * rows.columns * rows.n <= _WALK
    few = not walk and rows.count <= _FEW and end == _END and start in (None, "0")
    straight = axes is None and (walk or few)
    key = index if straight else DataType.INT
    begin = "load(ref[to])" if start is None else start
    workspace = () if straight else (TensorSpec((rows.count,), DataType.INT),) if walk or few else sort_workspace(rows.count)
    in_place = change(rows, key)
    whole = runs(rows, key, begin, end, walk, not walk)

    def actions(ref: Any, updates: Any, indices: Any, out: Any, *workspace: Any) -> list[Action]:
        if not out.size:
            return []
        first: list[Action] = []
        if workspace and rows.count:
            first.append(places((rows.n,) if axes is None else axes, indices, workspace[0]))
        keys = workspace[0] if workspace else indices
        if few:
            before: Action = ZeroFill(out) if start is not None else ArrayCopy(ref, out)
            return [*first, before, *([in_place(updates, keys, out)] if rows.count else [])]
        order = keys
        if not walk:
            sorting, keys, order = sort(rows.n, workspace)
            first += sorting
        return [*first, whole(out if start is not None else ref, updates, keys, order, out)]
    return CudaKernel(actions, workspace)


def changed(how: How, axis: int, y: TensorSpec, indices: TensorSpec, start: str | None = None) -> CudaKernel | None:
    """``call(ref, updates, indices, out, ...)``: slices along an axis changed; ``start`` "0" begins with zeros instead of ``ref``."""
    if not y.is_static or not y.shape or not indices.is_static:
        return None
    outer, n, inner = sides(y.shape, axis)
    return combined(ScatterSizes(how, y.dtype, outer, n, inner, size(indices.shape)), indices.dtype, start)


def changed_nd(how: How, y: TensorSpec, indices: TensorSpec, start: str | None = None) -> CudaKernel | None:
    """As :func:`changed`, at index vectors: ``call(ref, updates, indices, out, ...)``."""
    table = rows_of(y, indices)
    if table is None:
        return None
    n, count, inner = table
    return combined(ScatterSizes(how, y.dtype, 1, n, inner, count), indices.dtype, start,
                    axes=(y.shape or ())[:(indices.shape or (0,))[-1]])


def scattered(made: CudaKernel | None) -> CudaKernel | None:
    """The kernel with its inputs in the order of the scatter ops: ``call(ref, indices, updates, out, ...)``."""
    return None if made is None else CudaKernel(lambda ref, i, u, out, *work: made.actions(ref, u, i, out, *work), made.workspace)


def gradient_of(made: CudaKernel | None) -> CudaKernel | None:
    """The kernel as ``call(updates, like, indices, out, ...)``, which writes updates into zeros of the shape of ``like``."""
    return None if made is None else CudaKernel(lambda u, like, i, out, *work: made.actions(out, u, i, out, *work), made.workspace)


def segments(name: str, empty_is_zero: bool, in_order: bool, n: int, data: TensorSpec, ids: TensorSpec) -> CudaKernel | None:
    """``call(data, ids, out, ...)``: rows of data with equal ids joined, the result having ``n`` of them."""
    if not data.is_static or not ids.is_static or n < 0 or not data.dtype.is_numeric or data.dtype is DataType.BOOL:
        return None
    floating = data.dtype.is_floating
    if name in ("mean", "sqrt_n") and not floating:
        return None
    how: Any = {"prod": "mul", "max": "max", "min": "min"}.get(name, "add")
    start = {"prod": "1", "max": lowest(data.dtype, False), "min": lowest(data.dtype, True)}.get(name, "0")
    divisor = {"mean": "(W)((count) > 1 ? (count) : 1)", "sqrt_n": "sqrt((W)((count) > 1 ? (count) : 1))"}.get(name)
    end = f"((v) / {divisor})" if divisor else "((count) > 0 ? (v) : (W)0)" if empty_is_zero else _END
    count = size(ids.shape)
    rows = ScatterSizes(how, data.dtype, 1, n, math.prod((data.shape or ())[len(ids.shape or ()):]), count)
    if not rows.served:
        return None
    if in_order and rows.count * rows.columns * rows.n > _WALK:
        whole = runs(rows, ids.dtype, start, end, False, False)
        return CudaKernel(lambda data, ids, out: [whole(out, data, ids, ids, out)] if out.size else [])
    made = combined(rows, ids.dtype, start, end)
    return None if made is None else CudaKernel(lambda data, ids, out, *work: made.actions(out, data, ids, out, *work), made.workspace)


def lowest(dtype: DataType, negated: bool) -> str:
    """The lowest number of a type in CUDA text, or the highest."""
    import ml_dtypes
    if dtype.is_floating:
        most = ml_dtypes.finfo(dtype.numpy).max  # type: ignore[no-untyped-call]
        return f"(W){'' if negated else '-'}{float(most)!r}"
    info: Any = np.iinfo(dtype.numpy)
    value = int(info.max if negated else info.min)
    suffix = "ull" if info.min == 0 else "ll"
    return f"(W)({value}{suffix})" if value > -2 ** 63 else f"(W)({value + 1}{suffix} - 1)"


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in (DataType.FLOAT, DataType.HALF, DataType.INT):
        for how in ("add", "max"):
            few, many = ScatterSizes(how, dtype, 1, 100, 8, 10), ScatterSizes(how, dtype, 1, 10, 8, 10000)  # type: ignore[arg-type]
            probe = np.zeros(1, np.int32)
            for label, launch in (("change", change(few, DataType.LONG)(probe, probe, probe)),
                                  ("walk", runs(few, DataType.LONG, "load(ref[to])", _END, True, False)(*[probe] * 5)),
                                  ("shares", runs(many, DataType.INT, "0", _END, False, True)(*[probe] * 5)),
                                  ("runs", runs(few, DataType.INT, "0", _END, False, False)(*[probe] * 5))):
                yield f"{label} {how} {dtype.name}", launch.source
    yield "sort", source("sort")
