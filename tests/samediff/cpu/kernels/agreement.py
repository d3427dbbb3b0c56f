"""Kernels of ops against their ``compute``, in memory that shows what lies outside of the arrays."""
from __future__ import annotations

import numpy as np

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.cpu.routines.parallel_kernel import ParallelKernel
from dl4py.samediff.cpu.threads import parts
from dl4py.samediff.ir.op import as_tuple

#: Elements before and behind an array, more than a vector has.
MARGIN = 64


def spec(array):
    return None if array is None else TensorSpec(array.shape, DataType.of(array.dtype))


def filled(count, dtype):
    """Elements of NaN, or of nines where there is none."""
    return np.full(count, np.nan if dtype.kind == "f" else 9, dtype)


def fenced(shape, dtype, strides=None):
    """An array that nothing was written into, and the memory around it."""
    if strides is None:
        strides = np.empty(shape, dtype).strides
    before, after = (sum((n - 1) * s for n, s in zip(shape, strides) if n and (s < 0) == negative) for negative in (True, False))
    room = filled(2 * MARGIN + (after - before) // dtype.itemsize + 1, dtype)
    return np.ndarray(shape, dtype, room, MARGIN * dtype.itemsize - before, strides), room


def fenced_copy(array):
    """A copy of the same strides between numbers that no result may depend on."""
    if array is None or not array.size or any(s % array.itemsize for s in array.strides):
        return array
    copy, _ = fenced(array.shape, array.dtype, array.strides)
    copy[...] = array
    return copy


def results(kernel, arrays, wanted, order):
    """What a kernel writes into arrays of that memory order; nothing around them changes."""
    outputs = [fenced(w.shape, w.dtype, np.empty(w.shape, w.dtype, order).strides) for w in wanted]
    work = [fenced(tuple(s.shape), s.dtype.numpy) for s in kernel.workspace]
    kernel.call(*arrays, *[a for a, _ in (*outputs, *work)])
    for array, room in (*outputs, *work):
        around = np.ones(room.size, bool)
        np.ndarray(array.shape, bool, around, (array.ctypes.data - room.ctypes.data) // room.itemsize,
                   [s // array.itemsize for s in array.strides])[...] = False
        np.testing.assert_array_equal(room[around], filled(np.count_nonzero(around), room.dtype), "memory around an array")
    return [a for a, _ in outputs]


def agree(op, arrays, order="C", ignore=()):
    """Run the kernel into arrays of that memory order, in one go and in shares, compare, and return what ``compute`` gave."""
    kernel = KERNELS.kernel(op, *map(spec, arrays))
    assert kernel is not None, "no kernel serves this"
    want, given = as_tuple(op.compute(np, *arrays)), [fenced_copy(a) for a in arrays]
    found = [results(kernel, given, want, order)]
    shared = getattr(kernel.call, "__self__", None)
    if isinstance(shared, ParallelKernel) and parts() > 1:
        found.append(results(type(kernel)(in_shares(shared, parts()), kernel.workspace), given, want, order))
    for got in found:
        for k, (w, g) in enumerate(zip(want, got)):
            tolerance = 1e-5 if w.dtype == np.float32 else 1e-9
            if k not in ignore:
                np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * np.abs(w[np.isfinite(w)]).max(initial=1e-30),
                                           err_msg=f"output {k}")
    for before, after in zip(arrays, given):
        if before is not None:
            np.testing.assert_array_equal(before, after)
    return want


def in_shares(shared, count):
    """The work of a kernel, share by share."""
    def run(*arrays):
        given = (*shared.operands(*arrays), *shared.numbers)
        for part in range(count):
            shared.function(*given, part, count)
    return run
