"""What checks CUDA kernels accepts right ones and refuses wrong ones."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.cuda.sources import type_name
from dl4py.samediff.errors import DeviceError
from dl4py.samediff.ir.op import Op
from dl4py.samediff.plans.actions import CudaKernel, KernelLaunch
from tests.samediff.cuda.support import check_kernel, needs_compiler

pytestmark = needs_compiler

TEXT = """
extern "C" __global__ void running(const T *x, T *y, T *work, int n) {
    int i = threadIdx.x;
    if (i < n) work[i] = x[i];
    WAIT
    if (i < n) { BODY }
}
"""


@dataclass(frozen=True)
class Neighbours(Op):
    """Each number and the one behind it (the first behind the last)."""

    body: str = "store(y[i], load(work[i]) + load(work[(i + 1) % n]));"
    wait: str = "__syncthreads();"
    id = "neighbours_of_this_test"

    def infer(self, x):
        return x

    def compute(self, xp, x):
        return x + xp.roll(x, -1)

    def cuda(self, x):
        names = f"#define T {type_name(x.dtype)}\n#define WAIT {self.wait}\n#define BODY {self.body}\n"

        def actions(x, y, work):
            if not x.size:
                return []
            return [KernelLaunch(names + TEXT, "running", (1, 1, 1), (-(-x.size // 32) * 32, 1, 1), (x, y, work, np.int32(x.size)))]
        return CudaKernel(actions, (TensorSpec(x.shape, x.dtype),))


@pytest.mark.parametrize("size", [0, 1, 31, 33, 1000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_right_kernels(size, dtype):
    x = np.random.default_rng(size).integers(0, 50, 2 * size).astype(dtype)[::2]
    y, = check_kernel(Neighbours(), x)
    np.testing.assert_array_equal(y, x + np.roll(x, -1))


@pytest.mark.parametrize("op, message", [
    (Neighbours(wait=""), "depends on the order|not equal|Not equal"),
    (Neighbours("store(y[i], load(work[i]) + load(x[(i + 1) % n]) + 0.001f * i);"), "Not equal"),
    (Neighbours("y[i] = load(work[i]) + load(work[(i + 1) % n]); if (i == 3) y[n] = 0;"), "behind an array"),
    (Neighbours("if (i) y[i] = load(work[i]) + load(work[(i + 1) % n]);"), "nan|Not equal|not equal"),
    (Neighbours("y[i] = load(work[i]) + load(work[(i + 1) % n]); ((T *)x)[i] = 0;"), "input 0 .* was changed|another one"),
])
def test_wrong_kernels(op, message):
    x = np.arange(40, dtype=np.float32) + 1
    with pytest.raises((AssertionError, DeviceError), match=message):
        check_kernel(op, x)
