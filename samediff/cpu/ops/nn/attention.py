"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.attention`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.attention import Project, ProjectedInput, ProjectedWeights
from ...kernel_table import kernel_for
from ...matrix import attention_heads


@kernel_for(Project)
def _(op: Project, *specs: TensorSpec) -> Kernel | None:
    return attention_heads.project(*specs)


@kernel_for(ProjectedInput)
def _(op: ProjectedInput, *specs: TensorSpec) -> Kernel | None:
    return attention_heads.project_back(*specs)


@kernel_for(ProjectedWeights)
def _(op: ProjectedWeights, *specs: TensorSpec) -> Kernel | None:
    return attention_heads.weights(*specs)
