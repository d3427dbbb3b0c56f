"""check_op survives what it checks: kernels that write, read or index beside their arrays, and code that ends the process."""
from __future__ import annotations

import ctypes
import os
import sys

import numpy as np
import pytest

from dl4py.udf import UserOp, check_op, user_op
from tests.samediff.cuda.support import needs_compiler

apart = pytest.mark.skipif(sys.platform != "linux", reason="checks run in the same process there")
X = np.linspace(-1, 1, 12).reshape(3, 4)


def doubled(name, numba=None, cuda=None):
    @user_op(f"test_check_kernels.{name}", infer=lambda x: x, grad=lambda i, o, g: [g[0] * 2], numba=numba, cuda=cuda)
    def op(xp, x):
        return x * 2
    return op


def failed(op, *inputs, **options):
    return {c.name: c.detail for c in check_op(op, inputs or [X], **options).failures}


def one_row_more(x, y):
    for i in range(x.shape[0] + 1):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2


def reads_behind(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2 + 0 * x[(i + 1) % (x.shape[0] + 1), j]


def not_the_last(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - (x.shape[1] > 4)):
            y[i, j] = x[i, j] * 2


def changes_its_input(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2
            x[i, j] = 0


@pytest.mark.parametrize(("kernel", "text"), [
    (one_row_more, "beside its array"), (reads_behind, "beside its array"), (not_the_last, "compute"),
    (changes_its_input, "changes its input x")])
def test_numba_kernels_keep_to_their_arrays(kernel, text):
    found = failed(doubled(kernel.__name__, kernel))
    assert list(found) == ["kernel stays in its arrays"] and text in found["kernel stays in its arrays"]


def test_a_kernel_without_checked_indices_is_found_by_what_it_writes():
    @user_op("test_check_kernels.raw")
    class Raw(UserOp):
        def compute(self, xp, x):
            return x * 2

        def cpu(self, x):
            from dl4py.samediff.ir.op import Kernel

            def kernel(x, y):
                y[...] = x * 2
                ctypes.memset(y.ctypes.data + y.nbytes, 7, 8)
            return Kernel(kernel)
    assert "behind output 0" in failed(Raw())["kernel stays in its arrays"]


def text(body):
    return ('extern "C" __global__ void f(const T *x, T1 *y, long long n) { '
            f"const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; {body} }}")


@needs_compiler
@pytest.mark.parametrize(("name", "body", "found_by"), [
    ("no_bound", "y[i] = x[i] * 2;", "behind output 0"),
    ("neighbour", "if (i < n) y[i] = x[i] * 2 + (i > 0 ? y[i - 1] * 0 : 0);", "NaN"),
    ("neighbour_before", "if (i < n) y[i] = x[i] * 2 + (i + 1 < n ? y[i + 1] * 0 : 0);", "NaN"),
    ("reads_behind", "if (i < n) y[i] = x[i] * 2 + x[i + 1] * 0;", "NaN"),
    ("last_left_out", "if (i < n - 1) y[i] = x[i] * 2;", "compute"),
    ("race", "if (i < n) { y[i] = x[i] * 2; y[0] = x[i] * 2; }", "order"),
    ("float_only", "if (i < n) ((float *)y)[i] = ((const float *)x)[i] * 2;", "DOUBLE")])
@pytest.mark.parametrize("size", [256, 25])
def test_cuda_text_keeps_to_its_arrays(name, body, found_by, size):
    found = failed(doubled(f"{name}{size}", cuda=text(body)), np.ones(size, np.float32) + np.arange(size, dtype=np.float32))
    assert list(found) == ["CUDA text stays in its arrays"] and found_by in found["CUDA text stays in its arrays"]


@needs_compiler
def test_pointers_of_one_type_are_refused_though_the_examples_have_it():
    op = doubled("pointers", cuda=text("if (i < n) y[i] = x[i] * 2;").replace("const T ", "const float ").replace("T1", "float"))
    assert "float64" in failed(op, np.ones(3, np.float32))["CUDA text stays in its arrays"]


@apart
@pytest.mark.parametrize(("end", "text"), [
    (lambda: ctypes.string_at(0), "SIGSEGV"), (os.abort, "SIGABRT"), (lambda: os._exit(3), "exit status 3"), (sys.exit, "exit status 0")])
def test_code_that_ends_the_process_is_a_finding_and_the_other_checks_go_on(end, text):
    @user_op("test_check_kernels.ends", infer=lambda x: x)
    def ends(xp, x):
        if np.shape(x)[0] > 3:
            end()
        return np.asarray(x) * 2
    found = failed(ends)
    assert list(found) == ["other sizes"] and found["other sizes"].startswith(f"the process ended: {text}")
    assert not text.startswith("SIG") or __file__ in found["other sizes"]


@apart
def test_a_check_that_does_not_end_is_a_finding(monkeypatch):
    from dl4py.udf import apart as module
    monkeypatch.setattr(module, "LIMIT", 5)

    @user_op("test_check_kernels.hangs", infer=lambda x: x)
    def hangs(xp, x):
        while np.shape(x)[0] > 3:
            pass
        return np.asarray(x) * 2
    assert failed(hangs) == {"other sizes": "took more than 5 seconds"}


def test_right_kernels_pass():
    def kernel(x, y):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = x[i, j] * 2
    assert not failed(doubled("right", kernel))
