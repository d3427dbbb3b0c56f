"""Scans along one axis of an array: running sums and products, sums of neighbours."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import CudaKernel, KernelLaunch
from ..code.layout import NARROW
from ..code.operators import work_type
from ..sources import source, text_of, type_name

BLOCKS = 4096


def _source(file: str, dtype: Any, wide: bool, **more: Any) -> str:
    return source(file, T=type_name(dtype), I="long long" if wide else "int", **more)


def _scan_source(dtype: Any, wide: bool, combine: str) -> str:
    names = {"W": work_type(dtype), "COMBINE": f"{combine}_of", "START": int(combine == "prod")}
    return text_of("fold.cu") + _source("scan", dtype, wide, **names)


def cumulative(combine: Literal["sum", "prod"], axes: Sequence[int], exclusive: bool, reverse: bool, x: TensorSpec) -> CudaKernel | None:
    """``(x, out)``: running totals along the axes, one after the other."""
    if not x.is_static or not x.dtype.is_numeric or x.dtype is DataType.BOOL:
        return None
    shape, dtype = x.shape or (), x.dtype.numpy
    size = math.prod(shape)
    wide = size >= NARROW
    index = np.int64 if wide else np.int32
    flags = (np.int32(exclusive), np.int32(reverse))

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


def neighbours(depth: int, axis: int, x: TensorSpec) -> CudaKernel | None:
    """``(x, out)``: the sum over ``depth`` neighbours on each side."""
    if not x.is_static or not x.dtype.is_floating:
        return None
    shape, dtype = x.shape or (), x.dtype.numpy
    axis %= len(shape)
    size, n, inner = math.prod(shape), shape[axis], math.prod(shape[axis + 1:])
    wide = size >= NARROW
    index = np.int64 if wide else np.int32

    def actions(x: Any, out: Any) -> list[KernelLaunch]:
        if not size:
            return []
        blocks = min(-(-size // 256), BLOCKS)
        return [KernelLaunch(_source("neighbour_sum", dtype, wide), "neighbours", (blocks, 1, 1), (256, 1, 1),
                       (x, out, index(size), index(n), index(inner), index(min(depth, n))))]
    return CudaKernel(actions)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Texts of every kind, for checks that they compile."""
    for name in ("float16", "float32", "float64", "int8", "int64"):
        dtype = DataType.of(name).numpy
        yield f"running sums of {name}", _scan_source(dtype, False, "sum")
        yield f"running products of {name}", _scan_source(dtype, True, "prod")
        if dtype.kind == "f":
            yield f"sums of neighbours of {name}", _source("neighbour_sum", dtype, name == "float64")
