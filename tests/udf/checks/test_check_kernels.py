"""check_op survives what it checks: kernels that write, read or index beside their arrays, and code that ends the process."""
from __future__ import annotations

import ctypes
import os
import sys
import time
import warnings

import numpy as np
import pytest

from dl4py.samediff.errors import ShapeError
from dl4py.udf import UserOp, check_op, user_op
from dl4py.udf.checks.examples import larger, other_sizes
from dl4py.udf.checks.runs import of_sizes
from tests.samediff.cuda.support import needs_compiler

pytestmark = pytest.mark.children

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


def added(x, y, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] if y is None else x[i, j] + y[i, j]


def shape_of_both(x, y=None):
    if y is not None and any(-1 not in pair and len(set(pair)) > 1 for pair in zip(x.shape, y.shape)):
        raise ShapeError(f"x and y have one shape; got {x.shape} and {y.shape}")
    return x


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rest", [[X], [None]], ids=["given", "left out"])
def test_kernels_of_inputs_that_may_be_left_out(rest):
    @user_op("test_check_kernels.added", infer=shape_of_both, numba=added,
             grad=lambda i, o, g: [g[0], None if i[1] is None else g[0]])
    def op(xp, x, y=None):
        return x * 1 if y is None else x + y
    assert not failed(op, X, *rest)


def not_the_last(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - (x.shape[1] > 4)):
            y[i, j] = x[i, j] * 2


def changes_its_input(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2
            x[i, j] = 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kernel", "text"), [
    (one_row_more, "beside its array"), (reads_behind, "beside its array"), (not_the_last, "elements of output 0"),
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


@pytest.mark.sampled(18)
@needs_compiler
@pytest.mark.parametrize(("name", "body", "found_by"), [
    ("no_bound", "y[i] = x[i] * 2;", "behind output 0"),
    ("neighbour", "if (i < n) y[i] = x[i] * 2 + (i > 0 ? y[i - 1] * 0 : 0);", "NaN"),
    ("neighbour_before", "if (i < n) y[i] = x[i] * 2 + (i + 1 < n ? y[i + 1] * 0 : 0);", "NaN"),
    ("reads_behind", "if (i < n) y[i] = x[i] * 2 + x[i + 1] * 0;", "NaN"),
    ("last_left_out", "if (i < n - 1) y[i] = x[i] * 2;", "in 1 of"),
    ("one_block", "if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * 2;", "elements of output 0"),
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


@pytest.mark.sampled(4)
@apart
@pytest.mark.parametrize(("end", "text"), [
    (lambda: ctypes.string_at(0), "SIGSEGV"), (os.abort, "SIGABRT"), (lambda: os.kill(os.getpid(), 40), "signal 40"),
    (lambda: os._exit(3), "exit status 3"), (sys.exit, "exit status 0")])
def test_code_that_ends_the_process_is_a_finding_and_the_other_checks_go_on(end, text):
    @user_op("test_check_kernels.ends", infer=lambda x: x, gradient="none")
    def ends(xp, x):
        if np.ndim(x) == 2 and np.shape(x)[0] > 3:
            end()
        return np.asarray(x) * 2
    found = failed(ends)
    assert list(found) == ["other sizes"] and found["other sizes"].startswith(f"the process ended: {text}")
    assert not text.startswith("SIG") or __file__ in found["other sizes"]


@pytest.mark.slow
@apart
def test_a_check_that_does_not_end_is_a_finding(monkeypatch):
    from dl4py.samediff.graph import child_process as module
    monkeypatch.setattr(module, "LIMIT", 60)

    @user_op("test_check_kernels.hangs", infer=lambda x: x, gradient="none")
    def hangs(xp, x):
        while np.ndim(x) == 2 and np.shape(x)[0] > 3:
            time.sleep(1)
        return np.asarray(x) * 2
    assert failed(hangs) == {"other sizes": "did not come back within 60 seconds"}


def elements(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * 2


def row_sums(x, y):
    for i in range(x.shape[0]):
        y[i] = 0
        for j in range(x.shape[1]):
            y[i] += x[i, j]


def rows_of_matrix(x):
    if len(x.shape) != 2:
        raise ShapeError(f"a matrix is needed, got shape {x.shape}")
    return x.with_shape(x.shape[:1])


def outer_and_sum(x, w, y, total):
    total[()] = 0
    for j in range(w.shape[0]):
        total[()] += w[j]
        for i in range(x.shape[0]):
            y[i, j] = x[i] * w[j]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kernel", "code", "infer", "inputs"), [
    (elements, lambda xp, x: x * 2, lambda x: x, [X]),
    (row_sums, lambda xp, x: x.sum(axis=1), rows_of_matrix, [X]),
    (outer_and_sum, lambda xp, x, w: (x[:, None] * w, w.sum()), lambda x, w: (x.with_shape((x.shape[0], w.shape[0])), x.with_shape(())),
     [X[0], X[:, 0]])])
def test_right_kernels_pass(kernel, code, infer, inputs):
    op = user_op(f"test_check_kernels.right_{kernel.__name__}", infer=infer, numba=kernel)(code)
    report = check_op(op, inputs, gradient=False)
    assert report.passed, str(report)
    tried = 2 + len(other_sizes(inputs) + larger(inputs))
    assert {c.name: c.detail for c in report.checks}["kernel stays in its arrays"] == f"{tried} shapes and types"


def test_a_kernel_without_an_input_that_may_be_left_out():
    def kernel(x, w, y):
        for i in range(x.shape[0] + 1):
            y[i] = x[i]
    op = user_op("test_check_kernels.optional", infer=lambda x, w=None: x, numba=kernel)(lambda xp, x, w=None: x * 1)
    assert "for inputs of shapes (4,), -:" in failed(op, X[0], None, gradient=False)["kernel stays in its arrays"]


@needs_compiler
def test_how_many_shapes_and_types_a_cuda_text_was_tried_on():
    report = check_op(doubled("counted", cuda=text("if (i < n) y[i] = x[i] * 2;")), [X[0]], gradient=False)
    found = {c.name: c.detail for c in report.checks}["CUDA text stays in its arrays"]
    assert found == f"{3 + len(other_sizes([X[0]]) + larger([X[0]]))} shapes and types"


def test_checks_leave_the_filters_of_warnings_alone():
    before = list(warnings.filters)
    op = doubled("filters")
    for options in ({}, {"order": 0}):
        assert check_op(op, [X], **options).passed
    assert of_sizes(op.op_class(), [[X], [X[:0]]]) == "2, 0 of them refused" and warnings.filters == before
