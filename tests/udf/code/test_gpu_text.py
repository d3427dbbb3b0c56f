"""CUDA text of user ops."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff, device
from dl4py.samediff.errors import DeviceError, GraphError, RegistrationError
from dl4py.udf import UserOp, check_op, user_op
from tests.samediff.cuda.support import needs_compiler

TEXT = """
extern "C" __global__ void scaled(const T *x, const T1 *y, T2 *out, const double factor, const long long power, const bool minus,
                                  const long long n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    T value = x[i] * (T)factor + y[i];
    for (long long k = 1; k < power; ++k) value *= value;
    out[i] = minus ? -value : value;
}
"""


@user_op("test_cuda.scaled", cuda=TEXT)
def scaled(xp, x, y, *, factor: float = 2.0, power: int = 2, minus: bool = False):
    value = (x * factor + y) ** (2 ** (power - 1))
    return -value if minus else value


@user_op("test_cuda.swish")
def swish(xp, x, *, beta: float = 1.0):
    return x / (1 + xp.exp(-beta * x))


@user_op("test_cuda.named", cuda='extern "C" __global__ void f(const T *x, T1 *y, long long n) { }')
def named(xp, x, *, how: str = "a"):
    return x * 2


def _run(op, *arrays, **attributes):
    sd = SameDiff.create()
    inputs = [sd.placeholder(f"x{i}", DataType.of(a.dtype), -1) for i, a in enumerate(arrays)]
    made = op(*inputs, **attributes)
    feeds = {f"x{i}": a for i, a in enumerate(arrays)}
    expected = sd.output_single(feeds, made)
    with device("emulated"):
        text = sd.explain(feeds, made)
        return expected, sd.output_single(feeds, made), text


@needs_compiler
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 255, 256, 257])
def test_the_text_runs_on_the_device(dtype, size):
    x, y = np.linspace(-1, 1, size, dtype=dtype), np.ones(size, dtype)
    expected, found, text = _run(scaled, x, y, factor=0.5, power=2, minus=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not size or "scaled" in text


@needs_compiler
def test_a_traced_op_needs_no_text_and_is_fused():
    x = np.linspace(-3, 3, 33, dtype=np.float32)
    expected, found, text = _run(lambda x, beta: swish(x * 2.0, beta=beta) + 1.0, x, beta=1.5)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert "steps: 1," in text and "no CUDA kernel" not in text


@needs_compiler
def test_attributes_that_are_no_numbers_are_refused():
    with pytest.raises(GraphError, match="how"):
        _run(named, np.ones(3, np.float32))


@needs_compiler
def test_a_mistake_in_the_text_names_the_line_of_the_compiler():
    @user_op("test_cuda.broken", cuda='extern "C" __global__ void broken(const T *x, T1 *y, long long n) { y[0] = nonsense; }')
    def broken(xp, x):
        return x + 1
    with pytest.raises(DeviceError, match="nonsense"):
        _run(broken, np.ones(3, np.float32))


def test_text_without_a_kernel_is_refused():
    with pytest.raises(RegistrationError, match="__global__"):
        user_op("test_cuda.empty", cuda="float f() { return 1; }")(lambda xp, x: x)


@needs_compiler
def test_a_class_may_make_its_launches_itself():
    @user_op("test_cuda.tripled")
    class Tripled(UserOp):
        def compute(self, xp, x):
            return x * 3

        def cuda(self, *specs):
            from dl4py.samediff.plans.actions import CudaKernel, KernelLaunch
            text = 'extern "C" __global__ void tripled(const float *x, float *y) { y[threadIdx.x] = 3 * x[threadIdx.x]; }'
            return CudaKernel(lambda x, y: [KernelLaunch(text, "tripled", (1, 1, 1), (x.size, 1, 1), (x, y))])
    expected, found, text = _run(Tripled(), np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(found, expected)
    assert "tripled" in text


@pytest.mark.slow
@needs_compiler
def test_check_op_compares_the_text_with_compute():
    @user_op("test_cuda.wrong", cuda='extern "C" __global__ void f(const T *x, T1 *y, long long n) { y[threadIdx.x] = x[threadIdx.x]; }')
    def wrong(xp, x):
        return xp.exp(x)
    x = np.linspace(-1, 1, 256)
    @user_op("test_cuda.right", cuda="""extern "C" __global__ void f(const T *x, T1 *y, const long long power, long long n) {
        const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
        if (i < n) y[i] = power * exp(x[i]);
    }""")
    def right(xp, x, *, power: int = 2):
        return power * xp.exp(x)
    report = check_op(right, [x], {"power": 3})
    assert report.passed and "emulated:0 agrees with compute" in str(report)
    failed = check_op(wrong, [x])
    assert [c.name for c in failed.failures] == ["CUDA text stays in its arrays"]
    assert check_op("tanh", [x], device="emulated").passed
