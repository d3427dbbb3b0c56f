"""Folds of expressions over all elements, on the emulator."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.cuda.code.operators import NoText
from dl4py.samediff.cuda.code.reduce import reduce_launches, reduce_workspace
from dl4py.samediff.expressions import expression as ex
from dl4py.samediff.plans.layout import OutputReduction
from tests.samediff.cuda.support import DRIVERS, needs_compiler

pytestmark = needs_compiler

rng = np.random.default_rng(3)
EMPTY = {"sum": 0.0, "max": -np.inf, "min": np.inf, "prod": 1.0, "mean": np.nan}


def normal(*shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def check(f, arrays, *kinds):
    exprs, reductions = ex.trace(f, [a.dtype for a in arrays]), [OutputReduction(k) for k in kinds]
    first = None
    for driver in DRIVERS:
        outs = [np.zeros(1, e.dtype) for e in exprs]
        work = [np.full(s.shape, 77, s.dtype.numpy) for s in reduce_workspace(exprs, arrays, reductions)]
        launches = reduce_launches(exprs, arrays, outs, reductions, work)
        driver.prepare(launches)()
        first = first or outs
        for value, out, other, kind in zip(ex.evaluate(exprs, np, arrays), outs, first, kinds):
            wide = np.asarray(value).astype(np.float64)
            want = getattr(wide, kind)() if wide.size else EMPTY[kind]
            np.testing.assert_allclose(out[0].astype(np.float64), want, rtol=2e-3 if out.dtype.itemsize == 2 else 1e-5, err_msg=kind)
            np.testing.assert_array_equal(out, other)       # whatever the order of threads
    return len(launches)


@pytest.mark.parametrize("n", [0, 1, 31, 33, 1025, 8193, 40000])
def test_sizes(n):
    phases = check(lambda xp, x, s: ((x * s) * (x * s), x, x, abs(x)), [normal(n), normal(1)], "sum", "max", "min", "mean")
    assert phases == (2 if n > 8192 else 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int8", "uint64"])
def test_types(dtype):
    x = rng.integers(0, 3, 100).astype(dtype)
    check(lambda xp, x: (x, x, x), [x], "sum", "max", "min")


def test_views_and_products():
    check(lambda xp, x, y: (x * y,), [normal(33, 7).T, normal(33)], "sum")
    check(lambda xp, x: (1 + x * 0.01,), [normal(1000)[::2]], "prod")


def test_not_a_number_is_kept():
    x = normal(500)
    x[77] = np.nan
    check(lambda xp, x: (x, x, x), [x], "sum", "max", "min")


def test_truth_values_are_not_folded():
    with pytest.raises(NoText):
        check(lambda xp, x: (x > 0,), [normal(4)], "max")
