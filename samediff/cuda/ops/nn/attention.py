"""Attention on a device: hidden steps, and projections of all heads as one product for each example."""
from __future__ import annotations

from typing import Any

from ....base.spec import TensorSpec
from ....ops.nn.attention import HideSteps, Project, ProjectedInput, ProjectedWeights, far
from ....plans.actions import Action, ArrayCopy, CudaKernel
from ...kernel_table import kernel_for
from ...routines.products import repeated, served, times
from ...sweeps.elementwise import loop


@kernel_for(HideSteps)
def _(op: HideSteps, *specs: TensorSpec) -> CudaKernel | None:
    scores, mask = (s.shape or () for s in specs)
    if not all(s.is_static for s in specs):
        return None
    shape = (mask[0], *(1,) * (len(scores) - 3), mask[1], 1)
    return loop(lambda xp, s, m: s - (1 - m.astype(s.dtype)) * s.dtype.type(-far(s.dtype)), specs, (None, shape))


@kernel_for(Project)
def project(op: Project, x: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """``call(x, w, out)``: (N, features, steps) by (heads, size, features) -> (N, heads, size, steps)."""
    if not served(x, w):
        return None

    def actions(x: Any, w: Any, out: Any) -> list[Action]:
        rows = w.shape[0] * w.shape[1]
        one = repeated(w.reshape(rows, w.shape[2]), x.shape[:1])
        return times(one, x, out.reshape(x.shape[0], rows, x.shape[2]))
    return CudaKernel(actions)


@kernel_for(ProjectedInput)
def project_back(op: ProjectedInput, g: TensorSpec, w: TensorSpec) -> CudaKernel | None:
    """``call(g, w, out)``: (N, heads, size, steps) by (heads, size, features) -> (N, features, steps)."""
    if not served(g, w):
        return None

    def actions(g: Any, w: Any, out: Any) -> list[Action]:
        rows = w.shape[0] * w.shape[1]
        return times(repeated(w.reshape(rows, w.shape[2]).T, g.shape[:1]), g.reshape(g.shape[0], rows, g.shape[3]), out)
    return CudaKernel(actions)


@kernel_for(ProjectedWeights)
def projection_weights(op: ProjectedWeights, g: TensorSpec, x: TensorSpec) -> CudaKernel | None:
    """``call(g, x, out, ...)``: sum over the examples of g (N, heads, size, steps) by x (N, features, steps) transposed.

    The axis of the examples goes beside that of the steps, so that one product adds up over both.
    """
    if not served(g, x):
        return None
    (batch, heads, size, steps), features = g.shape or (0, 0, 0, 0), (x.shape or (0, 0, 0))[1]
    rows = heads * size

    def actions(g: Any, x: Any, out: Any, left: Any = None, right: Any = None) -> list[Action]:
        target = out.reshape(rows, features)
        if batch == 1:
            return times(g.reshape(rows, steps), x.reshape(features, steps).T, target)
        moves: list[Action] = [ArrayCopy(g.reshape(batch, rows, steps).transpose(1, 0, 2), left), ArrayCopy(x.transpose(1, 0, 2), right)]
        product = times(left.reshape(rows, batch * steps), right.reshape(features, batch * steps).T, target)
        return [*moves, *product] if batch * steps and out.size else product
    if batch == 1:
        return CudaKernel(actions)
    return CudaKernel(actions, (TensorSpec((rows, batch, steps), g.dtype), TensorSpec((features, batch, steps), g.dtype)))
