"""Padding by copies between views, and by a number."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....base.datatype import DataType
from ....base.enums import PadMode
from ....base.spec import TensorSpec
from ....ops.shape.pad import Pad
from ....plans.actions import Action, ArrayCopy, CudaKernel, KernelLaunch
from ...kernel_table import kernel_for
from ...routines.gather import flat
from ...sources import source, type_name


def _copies(pairs: Sequence[tuple[Any, Any]]) -> list[Action]:
    return [ArrayCopy(source, target) for source, target in pairs if target.size]


def padded(widths: Sequence[tuple[int, int]], mode: PadMode, constant: float, x: TensorSpec) -> CudaKernel | None:
    """``call(x, padding, out)``: mirrored parts are copied axis by axis, so that corners come from the axes before."""
    if not x.is_static or x.shape is None or not x.dtype.is_numeric or (constant and x.dtype is DataType.BFLOAT16):
        return None
    sizes, skip = x.shape, 1 if mode is PadMode.REFLECT else 0
    inner = tuple(slice(before, before + n) for (before, _), n in zip(widths, sizes))
    value, text = x.dtype.numpy.type(constant), source("fill", T=type_name(x.dtype))

    def actions(x: Any, padding: Any, out: Any) -> list[Action]:
        if not out.size:
            return []
        middle = _copies([(x, out[(*inner, ...)])])
        if mode is PadMode.CONSTANT:
            return middle if middle and x.size == out.size else [
                KernelLaunch(text, "fill", *flat(out.size), (out, value, np.int64(out.size))), *middle]
        pairs = []
        for axis, ((before, behind), n) in enumerate(zip(widths, sizes)):
            done = out[(*(slice(None),) * axis, slice(None), *inner[axis + 1:])].swapaxes(0, axis)
            end = before + n
            pairs += [(done[before + skip:2 * before + skip][::-1], done[:before]),
                      (done[end - skip - behind:end - skip][::-1], done[end:])]
        return [*middle, *_copies(pairs)]
    return CudaKernel(actions)


@kernel_for(Pad)
def _(op: Pad, *specs: TensorSpec) -> CudaKernel | None:
    x, padding = specs
    if padding.value is None or (op.mode is PadMode.CONSTANT and not op.constant):      # zeros around it are the op's copies
        return None
    return padded([(int(a), int(b)) for a, b in padding.value], op.mode, op.constant, x)


def sample_kernels() -> Iterator[tuple[str, str]]:
    """Representative kernels for tests: label, source."""
    yield "fill", source("fill", T="half_t")
