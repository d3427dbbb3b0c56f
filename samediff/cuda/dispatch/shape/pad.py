"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.shape.pad`."""
from __future__ import annotations

from ....base.choices import PadMode
from ....base.spec import TensorSpec
from ....ops.shape.pad import Pad, PadSum
from ...actions import CudaKernel
from ...code.copies import copied, padded
from ...kernel_table import kernel_for


@kernel_for(Pad)
def _(op: Pad, *specs: TensorSpec) -> CudaKernel | None:
    x, padding = specs
    if padding.value is None:
        return None
    return padded([(int(a), int(b)) for a, b in padding.value], op.mode, op.constant, x)


@kernel_for(PadSum)
def _(op: PadSum, *specs: TensorSpec) -> CudaKernel | None:
    padding, like = specs[1].value, specs[2].shape
    if padding is None or like is None or op.mode is not PadMode.CONSTANT:
        return None
    inner = tuple(slice(int(before), int(before) + n) for (before, _), n in zip(padding, like))
    return copied(lambda x, padding, like, out: [(x[(*inner, ...)], out)], *specs)
