"""The kernels of the CUDA back end."""
from __future__ import annotations

from ..ir.kernel_table import KernelTable
from .actions import CudaKernel

_RULES = "dl4py.samediff.cuda.dispatch"
KERNELS: KernelTable[CudaKernel] = KernelTable("cuda", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES})
kernel_for = KERNELS.register
