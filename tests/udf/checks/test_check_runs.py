"""check_op runs an op several times, on other sizes, layouts and types, in and outside training."""
from __future__ import annotations

import time

import numpy as np
import pytest

from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.ir.op import Kernel
from dl4py.udf import UserOp, check_op, user_op

X = np.linspace(-1, 1, 12).reshape(3, 4)


@pytest.fixture(autouse=True)
def briefly():
    """Some of these need many calls."""


def registered(function, infer=lambda x: x):
    return user_op(f"test_check_runs.{function.__name__}", infer=infer, grad=lambda i, o, g: [g[0] * 2])(function)


def failed(op, *inputs, **options):
    return {c.name: c.detail for c in check_op(op, inputs or [X], **options).failures}


def test_results_in_memory_that_the_op_keeps():
    kept = {}

    def kept_buffer(xp, x):
        x = np.asarray(x)
        result = kept.setdefault((x.shape, x.dtype), np.empty_like(x))
        result[...] = x * 2
        return result
    assert "memory that the op keeps" in failed(registered(kept_buffer))["calls do not depend on each other"]


def test_outputs_in_one_memory():
    @user_op("test_check_runs.twins", infer=lambda x: (x, x), grad=lambda i, o, g: [g[0] + g[1]])
    def twins(xp, x):
        result = np.asarray(x) * 1
        return result, result
    assert "output 1 lies in the memory" in failed(twins)["calls do not depend on each other"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("calls", [2, 20, 150])
def test_state_that_acts_after_some_calls(calls):
    seen = []

    def counting(xp, x):
        seen.append(1)
        return np.asarray(x) * (2 if len(seen) < calls + 30 else 3)
    assert "another result" in failed(registered(counting))["calls do not depend on each other"]


def test_small_noise_is_found():
    def noisy(xp, x):
        return np.asarray(x) * 2 + 1e-9 * np.random.normal()
    assert "random" in failed(registered(noisy))["calls do not depend on each other"]


def test_writing_to_an_input_for_values_that_no_example_has():
    def clipped(xp, x):
        x[x > 1e6] = 0
        return x * 2
    assert "writes to an input" in failed(registered(clipped))["inputs stay unchanged"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", [lambda x: x.with_shape((x.shape[0], 4)), lambda x: x.with_shape((3, x.shape[1])),
                                  lambda x: x.with_shape((x.shape[0], 4 if x.shape[1] == -1 else x.shape[1]))])
def test_shape_rules_that_hold_for_the_example_only(rule):
    def example_only(xp, x):
        return np.asarray(x) * 2
    assert failed(registered(example_only, rule)).keys() & {"other sizes"}


def test_an_empty_batch():
    def no_rows(xp, x):
        x = np.asarray(x)
        return x * 2 if len(x) else np.zeros((1, x.shape[1]), x.dtype)
    assert "(0, 4)" in failed(registered(no_rows))["other sizes"]


def test_strided_inputs():
    def flat_memory(xp, x):
        x = np.asarray(x)
        return np.ndarray(x.shape, x.dtype, x if x.flags.c_contiguous else x.base, 0) * 2
    assert "strided" in failed(registered(flat_memory))["strided inputs"]


@pytest.mark.plans
def test_strided_inputs_of_kernels():
    @user_op("test_check_runs.flat_kernel")
    class FlatKernel(UserOp):
        def compute(self, xp, x):
            return x * 2

        def cpu(self, x):
            def kernel(x, y):
                y[...] = np.ndarray(x.shape, x.dtype, x if x.flags.c_contiguous else x.base, 0) * 2
            return Kernel(kernel)
    assert list(failed(FlatKernel())) == ["strided inputs"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("other", [X[0], X[0].astype(np.float32), X.astype(np.float32), X > 0])
def test_inputs_of_other_shapes_and_types_are_not_one_array(other):
    def times(xp, x, y):
        return x * xp.where(y > 0, 1, 2)
    report = check_op(user_op("test_check_runs.times")(times), [X, other])
    assert {c.name: c.detail for c in report.checks}["one array as several inputs"] == "no two inputs of one shape and type"


def test_inputs_that_are_one_array():
    @user_op("test_check_runs.identity_matters", infer=lambda x, y: x, grad=lambda i, o, g: [g[0], g[0]])
    def identity_matters(xp, x, y):
        return np.asarray(x) * 0 if x is y else np.asarray(x) + np.asarray(y)
    assert "one array twice" in failed(identity_matters, X, X + 1)["one array as several inputs"]


def test_half_precision():
    def rounded(xp, x):
        x = np.asarray(x)
        return x * 2 if x.dtype.itemsize > 2 else x[:1]
    assert "HALF" in failed(registered(rounded))["half precision"]

    def refuses(xp, x):
        if np.asarray(x).dtype.itemsize == 2:
            raise TypeError("float32 or float64")
        return np.asarray(x) * 2
    report = check_op(registered(refuses), [X])
    assert report.passed and "HALF refused, BFLOAT16 refused" in str(report)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("wrong", ["generator", "gradient", None])
def test_ops_with_random_numbers(wrong):
    @user_op(f"test_check_runs.random_{wrong}")
    class Random(UserOp):
        stateful = True

        def compute(self, xp, x, *, context):
            noise = np.random.normal(size=np.shape(x)) if wrong == "generator" else context.random().normal(size=np.shape(x))
            return x + noise.astype(x.dtype)

        def grad(self, inputs, outputs, output_grads):
            return [output_grads[0] * (7 if wrong == "gradient" else 1)]
    found = failed(Random())
    assert {"generator": "calls do not depend on each other", "gradient": "gradient", None: None}[wrong] in {*found, None}
    assert bool(found) == bool(wrong)


def test_a_gradient_that_is_a_little_wrong():
    @user_op("test_check_runs.nearly", grad=lambda i, o, g: [g[0] * i[0] * (2 + 2e-5)])
    def nearly(xp, x):
        return x * x
    assert "gradient" in failed(nearly)


def test_a_rule_that_reads_a_size_which_may_be_unknown():
    @user_op("test_check_runs.unknown", infer=lambda x: TensorSpec((x.shape[0] * 2, *x.shape[1:]), x.dtype), grad=lambda i, o, g: [None])
    def unknown(xp, x):
        return np.concatenate([np.asarray(x)] * 2)
    assert failed(unknown)


def test_writing_for_values_that_the_example_does_not_have():
    @user_op("test_runs.clipped")
    def clipped(xp, x):
        x = np.asarray(x)
        if (x > 5).any():
            x[x > 5] = 5
        return x * 1
    assert "writes to an input, for some values" in str(check_op(clipped, [np.linspace(-1, 1, 6)]))


def test_threads_that_disturb_each_other():
    held = []

    @user_op("test_runs.held")
    def through_a_list(xp, x):
        held[:] = [np.array(x)]
        time.sleep(0.001)
        return held[0] * 2
    assert "several threads disturb each other" in str(check_op(through_a_list, [np.linspace(-1, 1, 6)]))


def test_values_in_16_bits_are_about_those_of_wider_types():
    @user_op("test_runs.tripled")
    def tripled(xp, x):
        return np.asarray(x) * (3 if x.dtype == np.float16 else 2)
    assert "of HALF inputs is up to" in str(check_op(tripled, [np.linspace(-1, 1, 6)]))
