"""The kernels of the CPU back end."""
from __future__ import annotations

from ..ir.kernel_table import KernelTable
from ..ir.op import Copies, Kernel

_RULES = "dl4py.samediff.cpu.dispatch"


def _copied(found: Copies, inputs: int) -> Kernel:
    from .routines.copies import copied
    return copied(found, inputs)


KERNELS: KernelTable[Kernel] = KernelTable("cpu", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES}, _copied)
kernel_for = KERNELS.register
