"""Python's operators on variables: Python's meaning, for numbers, arrays and variables alike."""
from __future__ import annotations

import operator

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import DataTypeError

INTS = np.array([7, -7, 6, -1], np.int32)


@pytest.mark.parametrize("function", [operator.floordiv, operator.mod])
@pytest.mark.parametrize("divisor", [2, -2, 3])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_quotient_and_remainder_are_those_of_python(function, divisor, dtype):
    sd = SameDiff.create()
    a = INTS.astype(dtype)
    v = sd.constant(a)
    want = [function(x, divisor) for x in a.tolist()]
    for other in (divisor, np.full(4, divisor, dtype), sd.constant(np.full(4, divisor, dtype))):
        found = function(v, other).eval()
        assert found.tolist() == want and found.dtype == dtype
    whole = np.array([3, -4, 5, 8], dtype)
    assert function(divisor, sd.constant(whole)).eval().tolist() == [function(divisor, x) for x in whole.tolist()]


def test_the_ops_keep_their_own_meaning():
    sd = SameDiff.create()
    v, two = sd.constant(INTS), sd.constant(np.full(4, 2, np.int32))
    assert sd.math.floor_div(v, two).eval().tolist() == [3, -3, 3, 0]
    assert sd.math.mod(v, two).eval().tolist() == [1, -1, 0, -1]


def test_a_number_to_the_power_of_a_variable_and_its_gradient():
    sd = SameDiff.create()
    v = sd.var("v", np.array([1.0, 2.0, -1.0]))
    y = 2 ** v
    np.testing.assert_allclose(y.eval(), [2, 4, 0.5])
    (g,) = sd.gradients(y, v)
    np.testing.assert_allclose(g.eval(), np.log(2) * np.array([2, 4, 0.5]))
    with pytest.raises(DataTypeError, match="2.5 has a fraction"):
        2.5 ** sd.constant(np.array([2, 3], np.int32))


@pytest.mark.parametrize("build", [lambda u: u - 300, lambda u: u * -1, lambda u: u > 256, lambda u: u % 300, lambda u: 300 ** u,
                                   lambda u: u.floor_mod(300), lambda u: u ** 300])
def test_numbers_beyond_the_type_are_refused_while_building(build):
    sd = SameDiff.create()
    u = sd.placeholder("u", DataType.UBYTE, 2)
    with pytest.raises(DataTypeError, match=r"beyond the range of uint8 \(0 to 255\)"):
        build(u)
    assert sd.variable_names() == ["u"]


def test_the_array_of_a_constant_is_read_only():
    sd = SameDiff.create()
    c, v = sd.constant("c", np.ones(2, np.float32)), sd.var("v", np.zeros(2, np.float32))
    y = sd.math.exp(c) + v
    y.eval()
    with pytest.raises(ValueError, match="read-only"):
        c.get_arr()[...] = 0
    c.set_array(np.zeros(2))
    assert y.eval().tolist() == [1, 1]
    v.get_arr()[...] = 1
    assert y.eval().tolist() == [2, 2]


X, WHOLE, TRUTH = np.array([[1.5, -2.25], [3.0, 4.75]]), np.array([5, 7, -3]), np.array([True, False, True])
#: Operators and built-in functions of Python, as NumPy has them: what is called with a variable of each kind, or with its array.
AS_NUMPY = {
    "divmod": lambda x, k, b: [*divmod(x, 2), *divmod(k, 4)], "divmod from the right": lambda x, k, b: divmod(9, k),
    "round": lambda x, k, b: [round(x) if hasattr(x, "sd") else np.round(x)], "round to a digit": lambda x, k, b: [np.round(x, 1)],
    "xor": lambda x, k, b: [k ^ 3, 3 ^ k, b ^ True], "shift": lambda x, k, b: [k << 2, k >> 1, 1 << abs(k), 1000 >> abs(k)],
}


@pytest.mark.parametrize("name", AS_NUMPY)
def test_operators_as_numpy_has_them(name):
    sd = SameDiff.create()
    for found, wanted in zip(AS_NUMPY[name](sd.var("x", X), sd.constant("k", WHOLE), sd.constant("b", TRUTH)),
                             AS_NUMPY[name](X, WHOLE, TRUTH), strict=True):
        np.testing.assert_array_equal(found.eval(), wanted)
        assert found.eval().dtype == wanted.dtype
