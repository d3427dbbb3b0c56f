"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.normalization`."""
from __future__ import annotations

from collections.abc import Sequence

from ....base.spec import Shape, TensorSpec, normalize_axes
from ....ir.op import Kernel
from ....ops.nn.normalization import LayerNorm, StandardizedAxes, StandardizeSlope
from ....plans.sweeps.table import NORMALIZATIONS
from ...kernel_table import kernel_for
from ...sweeps.sweep import swept


def sweep_kernel(name: str, axes: Sequence[int], specs: Sequence[TensorSpec], shapes: Sequence[Shape] = ()) -> Kernel | None:
    """The kernel of :mod:`..executor.cpu.sweeps` of that name over ``axes``."""
    if not specs[0].is_static:
        return None
    return swept(NORMALIZATIONS[name], normalize_axes(axes, len(specs[0].shape or ())), specs, shapes)


@kernel_for(LayerNorm)
def _(op: LayerNorm, *specs: TensorSpec) -> Kernel | None:
    x, gain, bias = (*specs, None, None)[:3]
    if x is None or not x.is_static:
        return None
    rank = len(x.shape or ())
    shapes = [x.shape or (), *(op.aligned(s.shape, rank) for s in (gain, bias) if s is not None)]
    name = "_".join(["layer_norm", *(["gain"] if gain else []), *(["bias"] if bias else [])])
    inner = sweep_kernel(name, op.dimensions, [s for s in (x, gain, bias) if s is not None], shapes)
    if inner is None or None not in specs:
        return inner
    call = inner.call
    return Kernel(lambda *arrays: call(*(a for a in arrays if a is not None)))


@kernel_for(StandardizedAxes)
def _(op: StandardizedAxes, *specs: TensorSpec) -> Kernel | None:
    return sweep_kernel("standardize", op.axes, specs)


@kernel_for(StandardizeSlope)
def _(op: StandardizeSlope, *specs: TensorSpec) -> Kernel | None:
    return sweep_kernel("standardize_backward", op.axes, specs)
