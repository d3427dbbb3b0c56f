"""Sums of what several blocks have summed, and biases."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...plans.actions import KernelLaunch
from ..sources import source, type_name
from .window_geometry import FLOATS, MOST_BLOCKS, threads_for

#: Threads that share the parts of an element.
MOST_LANES = 8


def work_type(dtype: DataType) -> DataType:
    """The type in which sums of numbers of a type are kept."""
    return DataType.FLOAT if dtype in (DataType.HALF, DataType.BFLOAT16) else dtype


def _text(dtype: DataType, size: int) -> str:
    return source("partial_sums", T=type_name(dtype), I="int" if size < 1 << 30 else "long long")


def sum_parts(dtype: DataType, parts: Any, out: Any, bias: Any = None, run: int = 1, channels: int = 1) -> KernelLaunch:
    """``out`` (not empty) as the sum of arrays of its size, ``parts`` (n, size), and of a bias.

    ``run`` cells of ``out`` in a row share one of the ``channels``.
    """
    size = out.size
    args = (parts, out, out if bias is None else bias, np.int32(bias is not None), np.int32(len(parts)), np.int64(size), np.int32(run),
            np.int32(channels))
    block = (32, min(len(parts), MOST_LANES), 1)
    return KernelLaunch(_text(dtype, size), "sum_parts", (min(-(-size // 32), MOST_BLOCKS), 1, 1), block, args)


def spread_bias(dtype: DataType, bias: Any, out: Any, run: int, channels: int) -> KernelLaunch:
    """A bias in every place of its channel."""
    size = out.size
    return KernelLaunch(_text(dtype, size), "spread_bias", *threads_for(size),
                        (bias, out, np.int64(size), np.int32(run), np.int32(channels)))


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    for dtype in FLOATS:
        yield f"parts {dtype.name}", _text(dtype, 1)
