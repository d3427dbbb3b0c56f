"""Kernels of ops against their ``compute``."""
from __future__ import annotations

import numpy as np

from dl4py.samediff.base.datatype import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cpu.kernel_table import KERNELS
from dl4py.samediff.ir.op import as_tuple


def spec(array):
    return None if array is None else TensorSpec(array.shape, DataType.of(array.dtype))


def unwritten(shape, dtype, order="C"):
    """An array of NaN, or of nines where there is none."""
    return np.full(shape, np.nan if dtype.kind == "f" else 9, dtype, order)


def agree(op, arrays, order="C", ignore=()):
    """Run the kernel into arrays of that memory order that hold NaN, compare, and return what ``compute`` gave."""
    kernel = KERNELS.kernel(op, *map(spec, arrays))
    assert kernel is not None
    kept = [None if a is None else a.copy() for a in arrays]
    want = as_tuple(op.compute(np, *arrays))
    got = [unwritten(w.shape, w.dtype, order) for w in want]
    kernel.call(*arrays, *got, *[unwritten(s.shape, s.dtype.numpy) for s in kernel.workspace])
    for k, (w, g) in enumerate(zip(want, got)):
        tolerance = 1e-5 if w.dtype == np.float32 else 1e-9
        if k not in ignore:
            np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * np.abs(w[np.isfinite(w)]).max(initial=1e-30), err_msg=f"output {k}")
    for before, after in zip(kept, arrays):
        if before is not None:
            np.testing.assert_array_equal(before, after)
    return want
