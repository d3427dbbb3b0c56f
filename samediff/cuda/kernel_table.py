"""The kernels of the CUDA back end."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.spec import TensorSpec
from ..ir.kernel_table import KernelTable
from ..ir.op import Copies, SweepOf
from ..plans.actions import Action, ArrayCopy, CudaKernel, ZeroFill

_RULES = "dl4py.samediff.cuda.ops"


def _copied(found: Copies, inputs: int) -> CudaKernel:
    def actions(*arrays: Any) -> list[Action]:
        zeros = [ZeroFill(out) for out in arrays[inputs:] if out.size] if found.clears else []
        return [*zeros, *(ArrayCopy(source, target) for source, target in found.pairs(*arrays) if target.size)]
    return CudaKernel(actions)


def _swept(found: SweepOf, specs: Sequence[TensorSpec | None]) -> CudaKernel | None:
    from .sweeps.sweep import kernel_of
    return kernel_of(found, specs)


_FOLDERS = {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES}
KERNELS: KernelTable[CudaKernel] = KernelTable("cuda", _FOLDERS, _copied, _swept)
kernel_for = KERNELS.register
