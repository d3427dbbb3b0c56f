"""Running sums and products on the GPU: scans along one axis after the other."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.spec import TensorSpec, normalize_axes
from ....ops.reduce.cumulative import Cumulative
from ....plans.actions import CudaKernel, KernelLaunch
from ...code.layout import NARROW
from ...code.operators import work_type
from ...kernel_table import kernel_for
from ...sources import source, text_of, type_name

BLOCKS = 4096


def _scan_source(dtype: Any, wide: bool, combine: str) -> str:
    names = {"T": type_name(dtype), "I": "long long" if wide else "int", "W": work_type(dtype)}
    return text_of("fold.cu") + source("scan", **names, COMBINE=f"{combine}_of", START=int(combine == "prod"))


@kernel_for(Cumulative)
def cumulative(op: Cumulative, x: TensorSpec, *_: TensorSpec) -> CudaKernel | None:
    """``(x, out)``: running totals along the axes, one after the other."""
    combine = op.combine
    if combine is None or not x.is_static or not x.dtype.is_numeric or x.dtype is DataType.BOOL:
        return None
    shape, dtype, axes = x.shape or (), x.dtype.numpy, normalize_axes(op.axis, x.rank or 0)
    size = math.prod(shape)
    wide = size >= NARROW
    index = np.int64 if wide else np.int32
    flags = (np.int32(op.exclusive), np.int32(op.reverse))

    def actions(x: Any, out: Any) -> list[KernelLaunch]:
        made, text = [], _scan_source(dtype, wide, combine)
        for k, axis in enumerate(axes if size else ()):
            count, n, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1:])
            arrays = (x if k == 0 else out, out)
            if inner == 1:
                threads = 32 if n <= 128 else 256 if n <= 4096 else 1024
                made.append(KernelLaunch(text, "scan_rows", (min(count, BLOCKS), 1, 1), (threads, 1, 1),
                                   (*arrays, index(count), index(n), *flags)))
            else:
                blocks = min(-(-count * inner // 128), BLOCKS)
                made.append(KernelLaunch(text, "scan_columns", (blocks, 1, 1), (128, 1, 1),
                                   (*arrays, index(count), index(n), index(inner), *flags)))
        return made
    return CudaKernel(actions)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    for name in ("float16", "float32", "float64", "int8", "int64"):
        dtype = DataType.of(name).numpy
        yield f"running sums of {name}", _scan_source(dtype, False, "sum")
        yield f"running products of {name}", _scan_source(dtype, True, "prod")
