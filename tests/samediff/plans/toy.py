"""A back end of NumPy alone, as somebody outside would write one: kernels for a few ops, array code for the others."""
from __future__ import annotations

import numpy as np

from dl4py.samediff.device.devices import register_device
from dl4py.samediff.ir.kernel_table import KernelTable
from dl4py.samediff.ir.op import Kernel
from dl4py.samediff.ops.linalg.matmul import Matmul
from dl4py.samediff.ops.nn.softmax import Softmax
from dl4py.samediff.plans.backend import Backend

KERNELS: KernelTable[Kernel] = KernelTable("toy")
#: How often each kernel ran.
RUNS = {"matmul": 0, "softmax": 0}


@KERNELS.register(Matmul)
def _(op, *specs):
    if any(len(s.shape) != 2 for s in specs) or op.transpose_z:
        return None

    def call(x, y, out):
        RUNS["matmul"] += 1
        np.matmul(x.T if op.transpose_x else x, y.T if op.transpose_y else y, out=out)
    return Kernel(call)


@KERNELS.register(Softmax)
def _(op, x):
    def call(x, out):
        RUNS["softmax"] += 1
        np.exp(x - x.max(axis=op.dimension, keepdims=True), out=out)
        out /= out.sum(axis=op.dimension, keepdims=True)
    return Kernel(call)


class Toy(Backend):
    """The back end."""

    name = "toy"
    kernels = KERNELS


register_device("toy", lambda device: Toy())
