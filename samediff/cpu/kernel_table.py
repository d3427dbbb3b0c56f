"""The kernels of the CPU back end."""
from __future__ import annotations

from collections.abc import Sequence

from ..base.spec import TensorSpec
from ..ir.kernel_table import KernelTable
from ..ir.op import Copies, Kernel, SweepOf

_RULES = "dl4py.samediff.cpu.ops"


def _copied(found: Copies, inputs: int) -> Kernel:
    from .routines.copies import copied
    return copied(found, inputs)


def _swept(found: SweepOf, specs: Sequence[TensorSpec | None]) -> Kernel | None:
    from .sweeps.sweep import kernel_of
    return kernel_of(found, specs)


KERNELS: KernelTable[Kernel] = KernelTable("cpu", {"dl4py.samediff": _RULES, "dl4py.samediff.ops": _RULES}, _copied, _swept)
kernel_for = KERNELS.register
