"""Shape rules by trial: they promise a size only where it depends on no unknown size and no value."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError
from dl4py.udf import UserDefinedCustomOp, user_defined_op, user_op

_numbers = itertools.count()


def op_of(code):
    """A user op whose code runs on arrays only."""
    return user_op(f"test_stand_in.op{next(_numbers)}")(code)


def given(sd, spec):
    """A variable: an array is stored, sizes (a type first, if it is no DOUBLE) are those of a placeholder."""
    if isinstance(spec, np.ndarray):
        return sd.var(sd._names.unique("w"), spec)
    dtype, sizes = (spec[0], spec[1:]) if spec and isinstance(spec[0], DataType) else (DataType.DOUBLE, spec)
    return sd.placeholder(sd._names.unique("x"), dtype, *sizes)


def shape_of(code, *specs):
    sd = SameDiff.create()
    return op_of(code)(*(given(sd, s) for s in specs)).spec.shape


def product(xp, x, w):
    return np.asarray(x) @ np.asarray(w)


def sum_product(xp, x, y, w):
    return (np.asarray(x) + np.asarray(y)) @ np.asarray(w)


@pytest.mark.parametrize(("code", "specs", "shape"), [
    (product, [(-1, -1), np.ones((3, 4))], (-1, 4)),                    # one stand-in size only lets the code run
    (product, [(-1, -1), np.ones((5, 2))], (-1, 2)),                    # none that is tried by itself does
    (product, [(-1, -1), np.ones((300, 3))], (-1, 3)),
    (product, [(-1, -1), np.ones((3, 3))], (-1, 3)),
    (product, [(-1, -1, -1), np.ones((7, 2))], (-1, -1, 2)),
    (sum_product, [(-1, -1), (-1, -1), np.ones((3, 4))], (-1, 4)),      # two unknown sizes that agree
    (lambda xp, x: np.asarray(x)[::4], [(-1,)], (-1,)),                 # equal for the smallest sizes
    (lambda xp, x: np.asarray(x)[:5], [(-1,)], (-1,)),
    (lambda xp, x: np.asarray(x)[:, :2], [(-1, 3)], (-1, 2)),
    (lambda xp, x: np.asarray(x).reshape(-1, 4), [(-1,)], (-1, 4)),
    (lambda xp, x: np.asarray(x)[np.arange(len(x) // 16 * 16)], [(-1, 5)], (-1, 5)),
    (lambda xp, x: np.median(np.asarray(x), axis=1), [(-1, -1, 3)], (-1, 3)),
    (lambda xp, x: np.median(np.asarray(x)), [(-1, -1, 3)], ()),
    (lambda xp, x: np.median(np.asarray(x), axis=0), [(4, 3)], (3,)),
])
def test_unknown_sizes(code, specs, shape):
    assert shape_of(code, *specs) == shape


INT = DataType.INT


@pytest.mark.parametrize(("code", "specs", "shape"), [
    (lambda xp, x, n: np.zeros(int(n)), [(2,), (INT,)], (-1,)),
    (lambda xp, n, x: np.repeat(np.asarray(x), int(n), axis=0), [(INT,), (2, 3)], (-1, 3)),
    (lambda xp, a, b: np.arange(int(a), int(b)), [(INT,), (INT,)], (-1,)),
    (lambda xp, x: np.unique(np.asarray(x)), [(INT, 6)], (-1,)),
    (lambda xp, x: np.bincount(np.asarray(x)), [(INT, 6)], (-1,)),
    (lambda xp, x: np.asarray(x)[np.asarray(x) > 0], [(6,)], (-1,)),
    (lambda xp, x: np.nonzero(np.asarray(x))[0], [(DataType.BOOL, 6)], (-1,)),
    (lambda xp, x, i: np.asarray(x)[np.asarray(i)], [(3, 7), (INT, 4)], (4, 7)),
])
def test_sizes_that_depend_on_values(code, specs, shape):
    assert shape_of(code, *specs) == shape


def test_the_rule_is_that_of_the_constant_at_hand():
    repeated = op_of(lambda xp, x, n: np.repeat(np.asarray(x), int(np.asarray(n)), axis=0))
    for n in (2, 3, 2):
        sd = SameDiff.create()
        y = repeated(sd.var("x", np.ones((2, 3))), sd.constant(np.array(n)))
        assert y.spec.shape == (2 * n, 3) and y.eval().shape == (2 * n, 3)


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_what_was_promised_runs(executor, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd, w = SameDiff.create(), rng.normal(size=(3, 4))
    y = op_of(product)("y", sd.placeholder("x", DataType.DOUBLE, -1, -1), sd.var("w", w))
    for rows in (5, 1, 0, 3):
        x = rng.normal(size=(rows, 3))
        np.testing.assert_allclose(sd.output_single({"x": x}, y), x @ w)


@user_defined_op
class Blocks(UserDefinedCustomOp):
    def op_name(self):
        return "test_stand_in_blocks"

    def calculate_output_shape(self, oc):
        x, w = oc.input_array(0).shape, oc.input_array(1).shape
        if x[1] != w[0]:
            raise ValueError(f"{x[1]} columns do not fit {w[0]} rows")
        return [(x[0] // 4, w[1])]

    def exec(self, inputs, outputs):
        outputs[0][...] = (inputs[0] @ inputs[1])[:len(outputs[0])]


def test_shape_rules_in_java_form_are_varied_as_well():
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.DOUBLE, -1, -1), sd.var("w", np.ones((3, 2)))
    (y,) = sd.do_udf(Blocks(sd, [x, w]))
    assert y.spec.shape == (-1, 2)
    assert sd.output_single({"x": np.ones((9, 3))}, y).shape == (2, 2)
    with pytest.raises(ShapeError, match=r"calculate_output_shape of op 'test_stand_in_blocks'.*4 columns do not fit 3.*test_stand_in.py"):
        sd.do_udf(Blocks(sd, [sd.placeholder("z", DataType.DOUBLE, -1, 4), w]))
