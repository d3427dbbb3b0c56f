"""CPU kernels of the ops of :mod:`dl4py.samediff.ops.deconv`."""
from __future__ import annotations

from ....op import Kernel
from ....ops.deconv import TransposedConvolution
from ....spec import TensorSpec
from ..convolution import transposed
from ..kernel_table import kernel_for


@kernel_for(TransposedConvolution)
def _(op: TransposedConvolution, *specs: TensorSpec) -> Kernel | None:
    x, w = specs[:2]
    shape = op.result(x.shape, w.shape) or ()
    return transposed(op.geometry(w.shape), x, w, specs[2] if len(specs) > 2 else None, shape)
