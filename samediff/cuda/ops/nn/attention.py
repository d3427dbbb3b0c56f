"""CUDA kernels of the ops of :mod:`dl4py.samediff.ops.nn.attention`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ops.nn.attention import FAR, HideSteps, Project, ProjectedInput, ProjectedWeights
from ....plans.actions import CudaKernel
from ...kernel_table import kernel_for
from ...routines.products import project, project_back, projection_weights
from ...sweeps.elementwise import loop


@kernel_for(HideSteps)
def _(op: HideSteps, *specs: TensorSpec) -> CudaKernel | None:
    scores, mask = (s.shape or () for s in specs)
    if not all(s.is_static for s in specs):
        return None
    shape = (mask[0], *(1,) * (len(scores) - 3), mask[1], 1)
    return loop(lambda xp, s, m: s - (1 - m.astype(s.dtype)) * s.dtype.type(-FAR), specs, (None, shape))


@kernel_for(Project)
def _(op: Project, *specs: TensorSpec) -> CudaKernel | None:
    return project(*specs)


@kernel_for(ProjectedInput)
def _(op: ProjectedInput, *specs: TensorSpec) -> CudaKernel | None:
    return project_back(*specs)


@kernel_for(ProjectedWeights)
def _(op: ProjectedWeights, *specs: TensorSpec) -> CudaKernel | None:
    return projection_weights(*specs)
