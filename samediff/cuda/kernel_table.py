"""The kernels of the CUDA back end."""
from __future__ import annotations

from typing import Any

from ..ir.kernel_table import KernelTable
from ..ir.op import Copies
from ..plans.actions import Action, ArrayCopy, CudaKernel, ZeroFill

_RULES = "dl4py.samediff.cuda.dispatch"


def _copied(found: Copies, inputs: int) -> CudaKernel:
    def actions(*arrays: Any) -> list[Action]:
        zeros = [ZeroFill(out) for out in arrays[inputs:] if out.size] if found.clears else []
        return [*zeros, *(ArrayCopy(source, target) for source, target in found.pairs(*arrays) if target.size)]
    return CudaKernel(actions)


KERNELS: KernelTable[CudaKernel] = KernelTable("cuda", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES}, _copied)
kernel_for = KERNELS.register
