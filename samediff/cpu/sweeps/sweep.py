"""Sweeps bound to axes: which loops run over what, views for them, calls."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import Shape, TensorSpec
from ...ir.op import Kernel, SweepOf
from ...plans.sweeps.loops import loops
from ...plans.sweeps.spec import Sweep
from ...plans.sweeps.table import NORMALIZATIONS, REDUCTIONS
from ..code.fused import writable
from ..compiler.sources import function_of, jit
from ..library import kernel_names
from .specialization import SweepSpecialization, is_short
from .sweep_source import source_of

_HALVES = ("HALF", "BFLOAT16")


def _names() -> dict[str, Any]:
    """The names that the source of a sweep may use."""
    from ..library import address
    return {**kernel_names.names(), **{n: getattr(address, n) for n in ("at", "put", "scratch", "steps")}}


@functools.lru_cache(maxsize=1024)
def compiled(sweep: Sweep, form: SweepSpecialization) -> Any:
    """The machine code of a sweep as a function of arrays."""
    numba: Any = importlib.import_module("numba")
    given = [numba.types.Array(numba.from_dtype(d), 4, "A") for d in form.dtypes]
    made = numba.from_dtype(form.result)
    out = [numba.types.Array(made, 4, "A")] if sweep.epilogue else [numba.types.Array(made, 2, "C")] * len(sweep.results)
    function = function_of(source_of(sweep, form), "kernel", _names())
    return jit(function, numba.void(*given, *out), error_model="numpy", nogil=True, fastmath={"contract"})


#: Nanoseconds for each element and fold.
_COST = 0.3


def _native(sweep: Sweep, form: SweepSpecialization, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The instruction for views in four loops; parts take rows of their own."""
    from ..native.instruction import ArrayOperand, Instruction, entry_of_generated
    from ..threads import parts
    a, b, c, _ = inputs[0].shape
    if form.rows and a == b == 1 and not form.transposed:       # nothing but rows: these become the outermost loop
        inputs = [x.transpose(2, 0, 1, 3) for x in inputs]
        outputs = [y.transpose(2, 0, 1, 3) if sweep.epilogue else y.reshape(-1, 1) for y in outputs]
        a, c = c, 1
    elif not form.rows and a == 1 and c % parts() == 0:         # columns side by side: a share for each thread
        a = parts()
        inputs = [_shared_out(x, a) for x in inputs]
        outputs = [_shared_out(y, a) if sweep.epilogue else y.reshape(a, -1) for y in outputs]
    arrays = [*inputs, *outputs]
    axis, count = (1, c) if form.transposed and a == 1 else (0, a)
    axes = [k if x.shape[k] == count else None for x in arrays for k in [axis * x.ndim // 2]]
    dense = [False] * len(inputs) + [not sweep.epilogue] * len(outputs)
    work = inputs[0].size * _COST * (len(sweep.folds) + bool(sweep.epilogue)) + 10
    operands = tuple(ArrayOperand(a.dtype, a.ndim, d, axis) for a, d, axis in zip(arrays, dense, axes))
    entry = entry_of_generated(source_of(sweep, form), _names, operands)
    return Instruction(entry, arrays, dense, (), work, count > 1)


def _shared_out(x: Any, parts: int) -> Any:
    """A view (1, b, c, 1) as (parts, b, c / parts, 1); one that is repeated along c stays."""
    return x if x.shape[2] == 1 else x.reshape(x.shape[1], parts, -1, 1).swapaxes(0, 1)


def _form(sweep: Sweep, rows: bool, shapes: Sequence[Shape], specs: Sequence[TensorSpec], result: TensorSpec) -> SweepSpecialization:
    inner = 3 if rows else 2
    dtypes = tuple(_type(s) for s in specs)
    _, b, c, d = shapes[0]
    passes = len(sweep.folds) + bool(sweep.epilogue)
    short = is_short(d, passes, len(specs) + bool(sweep.epilogue))
    transposed = rows and b == 1 and short and c > 1            # a single row has nothing beside it
    return SweepSpecialization(rows, transposed, dtypes, _type(result), tuple(transposed or s[inner] == shapes[0][inner] for s in shapes))


def _type(spec: TensorSpec) -> Any:
    """The type in which arrays are handed to kernels."""
    return np.dtype(np.float32) if spec.dtype.name in _HALVES else np.dtype(np.uint8) if spec.dtype.name == "BOOL" else spec.dtype.numpy


def kernel_of(found: SweepOf, specs: Sequence[TensorSpec | None]) -> Kernel | None:
    """The kernel of an op that is a sweep, for inputs of these specs (None: left out); None for one that is not among these."""
    given = [s for s in specs if s is not None]
    if found.result is None:
        sweep = NORMALIZATIONS.get(found.name)
        kernel = None if sweep is None else swept(sweep, found.axes, given, found.shapes)
    else:
        sweep = REDUCTIONS.get(found.name)
        kernel = None if sweep is None else folded(sweep, found.axes, given[0], TensorSpec(None, found.result))
    if kernel is None or len(given) == len(specs):
        return kernel
    call = kernel.call
    return Kernel(lambda *arrays: call(*(a for a in arrays if a is not None)))


def folded(sweep: Sweep, axes: tuple[int, ...], x: TensorSpec, result: TensorSpec) -> Kernel | None:
    """A kernel ``call(x, *results)`` for a sweep with results for each slice; None for empty arrays and other things than numbers."""
    if not x.is_static or not _is_known(x) or 0 in (x.shape or ()):
        return None
    if x.dtype.name == result.dtype.name == "BOOL" and not sweep.folds[0].counting:
        return None
    if _is_half(x) and sweep.folds[0].combine == "prod":       # overflows on the way in 16 bits alone
        return None
    converted = _is_half(x) or (result.dtype.is_floating and not x.dtype.is_floating)
    run = _folds(sweep, axes, TensorSpec(x.shape, DataType.FLOAT) if converted else x, result)
    if converted:
        return Kernel(_through_float(run, 1))

    def native(given: Any, *results: Any) -> Any:
        order = in_memory(given.strides, axes)
        given = given.transpose(order)
        found = loops(given.shape, [k for k, i in enumerate(order) if i in axes])
        if found is None or not given.flags.carray or not all(y.flags.c_contiguous for y in results):
            return None
        rows, (view,) = found
        return _native(sweep, _form(sweep, rows, [view], [x], result), [_numbers(given).reshape(view)],
                       [_numbers(y).reshape(view[0], view[2]) for y in results])
    return Kernel(run, native=native)


def _folds(sweep: Sweep, axes: tuple[int, ...], x: TensorSpec, result: TensorSpec) -> Callable[..., None]:
    shape: Shape = x.shape or ()
    found = loops(shape, axes)
    if found is None:
        kept = [i for i in range(len(shape)) if i not in axes]
        return _moved(sweep, axes, x, result, (*kept, *axes), copy=True)
    rows, (view,) = found
    form, slices, inner = _form(sweep, rows, [view], [x], result), (view[0], view[2]), 3 if rows else 2

    def kernel(*arrays: Any) -> None:
        compiled(sweep, form)(*arrays)
    moved: dict[tuple[int, ...], Callable[..., None]] = {}

    def strided(x: Any, *results: Any) -> None:
        order = memory_order(x.strides)
        if order != tuple(range(len(order))):
            if order not in moved:
                moved[order] = _moved(sweep, axes, TensorSpec(shape, spec.dtype), result, order)
            moved[order](x, *results)
            return
        seen = x.reshape(view)
        if seen.strides[inner] != seen.itemsize or not seen.flags.aligned:
            seen = seen.copy()
        kernel(writable(seen), *[y.reshape(slices) for y in results])

    def one(x: Any, y: Any) -> None:
        if x.flags.carray:
            kernel(x.reshape(view), y.reshape(slices))
        else:
            strided(x, y)

    def several(x: Any, *results: Any) -> None:
        if x.flags.carray:
            kernel(x.reshape(view), *[y.reshape(slices) for y in results])
        else:
            strided(x, *results)
    spec = x
    call = one if len(sweep.results) == 1 else several
    return call if "BOOL" not in (x.dtype.name, result.dtype.name) else lambda *arrays: call(*map(_numbers, arrays))


def memory_order(strides: Sequence[int]) -> tuple[int, ...]:
    """The axes from the largest to the smallest step in memory."""
    return tuple(sorted(range(len(strides)), key=lambda i: -abs(strides[i])))


def in_memory(strides: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The axes as they lie in memory, where neither the folded ones nor the others change places among themselves; else as they are."""
    order = memory_order(strides)
    folded, kept = [i for i in order if i in axes], [i for i in order if i not in axes]
    return order if folded == sorted(folded) and kept == sorted(kept) else tuple(range(len(strides)))


def _moved(sweep: Sweep, axes: tuple[int, ...], x: TensorSpec, result: TensorSpec, order: tuple[int, ...],
           copy: bool = False) -> Callable[..., None]:
    """As :func:`_folds`, with the axes taken in the order in which they lie in memory."""
    shape: Shape = x.shape or ()
    kept = [i for i in order if i not in axes]
    back = [kept.index(i) for i in sorted(kept)]
    inner = _folds(sweep, tuple(k for k, i in enumerate(order) if i in axes), TensorSpec(tuple(shape[i] for i in order), x.dtype), result)
    given, wanted = tuple(shape[i] for i in kept), tuple(shape[i] for i in sorted(kept))

    def call(x: Any, *results: Any) -> None:
        x = np.ascontiguousarray(x.transpose(order)) if copy else x.transpose(order)
        if given == wanted and kept == sorted(kept):
            inner(x, *results)
            return
        found = [np.empty(given, y.dtype) for y in results]
        inner(x, *found)
        for y, values in zip(results, found):
            y.reshape(wanted)[...] = values.transpose(back)
    return call


def swept(sweep: Sweep, axes: tuple[int, ...], specs: Sequence[TensorSpec], shapes: Sequence[Shape] = ()) -> Kernel | None:
    """A kernel ``call(*inputs, out)`` for a sweep that stores each element, in the shape and type of the first input.

    ``shapes`` are those of the inputs aligned with the first one, 1 where they are repeated; by default all have its shape.
    """
    x = specs[0]
    shape: Shape = x.shape or ()
    if any(not s.is_static or s.dtype is not x.dtype for s in specs) or not x.dtype.is_floating or 0 in shape:
        return None
    found = loops(shape, axes, list(shapes or [shape] * len(specs))[1:])
    if found is None:
        return None
    rows, views = found
    form, whole = _form(sweep, rows, views, specs, x), views[0]

    def kernel(*arrays: Any) -> None:
        compiled(sweep, form)(*arrays)

    def one(x: Any, out: Any) -> None:
        kernel((x if x.flags.carray else np.array(x, order="C")).reshape(whole), out.reshape(whole))

    def several(*arrays: Any) -> None:
        given = [(a if a.flags.carray else np.array(a, order="C")).reshape(view) for a, view in zip(arrays, views)]
        kernel(*given, arrays[-1].reshape(whole))
    call = one if len(specs) == 1 else several
    if _is_half(x):
        return Kernel(_through_float(call, len(specs)))

    def native(*arrays: Any) -> Any:
        if not all(a.flags.carray for a in arrays):
            return None
        return _native(sweep, form, [a.reshape(view) for a, view in zip(arrays[:-1], views)], [arrays[-1].reshape(whole)])
    return Kernel(call, native=native)


def _is_known(x: TensorSpec) -> bool:
    return x.dtype.is_numeric or x.dtype.name == "BOOL"


def _is_half(x: TensorSpec) -> bool:
    return x.dtype.name in _HALVES


def _numbers(x: Any) -> Any:
    """BOOL arrays viewed as bytes; others as they are."""
    return x.view(np.uint8) if x.dtype == np.bool_ else x


def _through_float(run: Callable[..., None], inputs: int) -> Callable[..., None]:
    """Numbers of other types by way of float32."""

    def call(*arrays: Any) -> None:
        given = [a.astype(np.float32) for a in arrays[:inputs]]
        made = [y if y.dtype.itemsize != 2 or y.dtype.kind in "iu" else np.empty(y.shape, np.float32) for y in arrays[inputs:]]
        run(*given, *made)
        for y, values in zip(arrays[inputs:], made):
            if y is not values:
                y[...] = values
    return call
