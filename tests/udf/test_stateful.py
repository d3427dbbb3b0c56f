"""Ops with random numbers, as functions and classes, in graphs and on arrays."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import RegistrationError
from dl4py.udf import UserOp, user_op


@user_op("test_stateful.jitter", stateful=True)
def jitter(xp, x, *, context, scale: float = 1.0):
    return x + (scale * context.random().normal(size=np.shape(x))).astype(x.dtype)


@user_op("test_stateful.noise")
class Noise(UserOp):
    stateful = True

    def compute(self, xp, x, *, context):
        return x + context.random().normal(size=np.shape(x)) if context.training else x * 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_arrays_each_call_draws_and_none_is_training(dtype):
    x = np.zeros((2, 3), dtype)
    first, second = jitter(x, scale=2.0), jitter(x, scale=2.0)
    assert first.shape == (2, 3) and first.dtype == dtype and not np.array_equal(first, second)
    np.testing.assert_array_equal(Noise()(x), x)


def test_in_graphs_each_run_draws_and_seeds_repeat():
    def values():
        sd = SameDiff.create()
        sd.seed = 3
        jitter("y", sd.placeholder("x", DataType.FLOAT, -1), scale=0.5)
        return [sd.output_single({"x": np.zeros(4)}, "y") for _ in range(2)]
    (a, b), (c, d) = values(), values()
    assert not np.array_equal(a, b)
    np.testing.assert_array_equal([a, b], [c, d])


def test_context_and_stateful_go_together():
    with pytest.raises(RegistrationError, match=r"test_stateful.a.*keyword.*context"):
        user_op("test_stateful.a", stateful=True)(lambda xp, x: x)
    with pytest.raises(RegistrationError, match=r"test_stateful.b.*stateful=True"):
        user_op("test_stateful.b")(lambda xp, x, *, context: x)
    with pytest.raises(RegistrationError, match=r"test_stateful.c.*context"):
        @user_op("test_stateful.c", stateful=True)
        class Wrong(UserOp):
            def compute(self, xp, x):
                return x


def test_the_decorator_makes_a_class_stateful():
    @user_op("test_stateful.d", stateful=True)
    class Drawn(UserOp):
        def compute(self, xp, x, *, context):
            return x + context.random().normal()
    assert Drawn.stateful and Drawn()(np.zeros(2)).shape == (2,)
