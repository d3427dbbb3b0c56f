"""Transposed convolution on the CPU: the gradient of a convolution by its images."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....base.spec import TensorSpec
from ....ir.op import Kernel
from ....ops.conv.deconv import TransposedConvolution
from ...code.fused import added, joined
from ...kernel_table import kernel_for
from .convolving import data_gradient


@kernel_for(TransposedConvolution)
def transposed(op: TransposedConvolution, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None = None) -> Kernel | None:
    """The data gradient as a forward pass, with a bias when there is one: ``call(x, w[, bias], y, *work)``."""
    geometry = op.geometry(w.shape)
    inner = data_gradient(geometry, w, x, TensorSpec(op.result(x.shape, w.shape) or (), x.dtype))
    if inner is None or (bias is not None and bias.dtype is not x.dtype):
        return None
    data, native_data, given = inner.call, inner.native, 2 if bias is None else 3

    def call(*arrays: Any) -> None:
        y = arrays[given]
        data(arrays[1], arrays[0], None, *arrays[given:])
        if bias is not None:
            np.add(y, geometry.spread_bias(arrays[2].reshape(-1), y.ndim), out=y)

    def native(*arrays: Any) -> list[Any] | None:
        assert native_data is not None
        made, y = native_data(arrays[1], arrays[0], None, *arrays[given:]), arrays[given]
        return joined(made, *([] if bias is None else [added(geometry.spread_bias(arrays[2].reshape(-1), y.ndim), y)]))
    return Kernel(call, inner.workspace, inner.one_thread, native_data and native)
