"""The kernels of the CPU back end."""
from __future__ import annotations

from ..ir.kernel_table import KernelTable
from ..ir.op import Kernel

_RULES = "dl4py.samediff.cpu.dispatch"
KERNELS: KernelTable[Kernel] = KernelTable("cpu", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES})
kernel_for = KERNELS.register
