"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.nn.normalization`."""
from __future__ import annotations

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.nn.normalization import LayerNorm
from ...kernel_table import kernel_for
from ..reduce.standardized import sweep_kernel


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
