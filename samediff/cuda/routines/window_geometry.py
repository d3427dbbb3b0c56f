"""Geometry of windows as arguments of kernels, and the number of their threads.

Windows are those of :class:`~dl4py.samediff.plans.window_geometry.WindowGeometry`: one to three spatial axes as depth, height and width;
still ones have size 1.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...base.spec import TensorSpec
from ...plans.actions import Triple
from ...plans.window_geometry import WindowGeometry
from ..sources import source, text_of

#: Threads of a block where each works by itself.
THREADS = 256
#: Threads beyond these take more than one element.
MOST_BLOCKS = 132 * 32
FLOATS = (DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16)


def text(file: str, **names: Any) -> str:
    """``kernels/<file>.cu`` behind what all kernels of windows use."""
    return text_of("windows.cuh") + source(file, **names)


def numbers(grid: WindowGeometry) -> tuple[np.int32, ...]:
    """The values of the kernel parameters ``WINDOW``."""
    found: list[int] = []
    for kernel, stride, before, dilation, size, count in zip(*grid.window, grid.sizes, grid.counts):
        common = math.gcd(stride, dilation)
        found += [kernel, stride, before, dilation, size, count, stride // common, dilation // common]
    return tuple(map(np.int32, found))


def offsets(*specs: TensorSpec) -> str:
    """The type of offsets into arrays like these; the short one wherever it suffices."""
    return "int" if all(math.prod(s.shape or ()) < 1 << 30 for s in specs) else "long long"


def threads_for(count: int) -> tuple[Triple, Triple]:
    """Blocks and threads for loops over ``count`` elements (not 0)."""
    return (min(-(-count // THREADS), MOST_BLOCKS), 1, 1), (THREADS, 1, 1)


def served(*specs: TensorSpec | None, types: tuple[DataType, ...] = FLOATS) -> bool:
    """Whether all specs have one of these types, the same for all, and known sizes."""
    given = [s for s in specs if s is not None]
    return all(s.is_static and s.dtype is given[0].dtype for s in given) and given[0].dtype in types
