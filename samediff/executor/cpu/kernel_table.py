"""The kernels of the CPU back end."""
from __future__ import annotations

from ...op import Kernel
from ..kernel_table import KernelTable

_RULES = "dl4py.samediff.executor.cpu.dispatch"
KERNELS: KernelTable[Kernel] = KernelTable("cpu", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES})
kernel_for = KERNELS.register
