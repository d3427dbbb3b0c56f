"""Code of user ops that assigns to parts of arrays: values, and gradients at known and at open sizes."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError
from dl4py.udf import user_op

X = np.random.default_rng(0).normal(size=(3, 4))


def edges(xp, x):
    y = x.copy()
    y[:, 0] = 0
    y[:, -1] = 0
    return y


def new_array(xp, x):
    y = xp.zeros((x.shape[0], x.shape[1] * 2), dtype=x.dtype)
    y[:, ::2] = x
    return y


def halves(xp, x):
    y, half = xp.empty_like(x), x.shape[1] // 2
    y[:, :half] = x[:, ::2] - x[:, 1::2]
    y[:, half:] = x[:, ::2] + x[:, 1::2]
    return y


def operators(xp, x):
    z = x * 2
    z += x
    z[x > 0] = 0
    z *= x
    z[1] @= x.T @ x
    return z


def views(xp, x):
    z = x * 1
    v = z[:, 1]
    v += x[:, 0]
    z[0] *= 3
    w = z.T
    w[2] = 7 * x[:, 3]
    return z + v[:, None]


def view_of_a_copy(xp, x):
    y = x * 1
    y.T.reshape(-1)[...] = 0            # a copy, of which y hears nothing
    y.reshape(-1)[1] = 5
    return y


def steps(xp, x):
    y, h = xp.zeros((x.shape[1], x.shape[0])), xp.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = 0.5 * h + x[:, t]
        y[t] = h
    return y


def single_elements(xp, x):
    y = xp.zeros(x.shape[1])
    for i in range(x.shape[1]):
        y[i] = x[:, i].sum()
    return y


def added_at(xp, x):
    y = xp.zeros(4)
    np.add.at(y, [0, 1, 1, 3], x[0])
    return y


def functions(xp, x):
    y = x.copy()
    np.fill_diagonal(y, x[:, 0].sum())
    np.copyto(y, 1.0, where=x > 1)
    return xp.multiply(y, x, out=xp.empty_like(y)) + y.clip(0, 1)


def known_places(xp, x):
    y = x.ravel().copy()
    y.reshape(x.shape)[1] = 2 * x[0]
    y[[0, 3]] += 1
    return y


def computed_places(xp, x):
    y = xp.zeros_like(x)
    y[xp.arange(x.shape[0]), xp.argmax(x, axis=1)] = x[:, 0]
    np.put_along_axis(y, xp.argmin(x, axis=1)[:, None], 3.0, axis=1)
    return y * x


def other_names(xp, x):
    y = x * 1
    z = y
    z += 1
    kept = y.copy()
    y -= x
    return kept * x + z


def numbers(xp, x):
    a = x.sum()
    b = a
    a += 1
    return a * b * x


def parts(xp, x):
    y = xp.exp(x)
    left, _ = xp.split(y, 2, axis=1)
    left *= 2
    y.sort(axis=1)
    y[0].fill(x[0, 0])
    return y


def conversions(xp, x):
    y = x.astype(x.dtype)
    y[1, 2] = x[0, 0] * x[0, 1]
    y[..., None][0] = 3
    xp.asarray(y)[2] = x[1]
    return y


def computed_rows(xp, x):
    found = x[xp.argsort(x[:, 0])]      # no view of x: places of a graph are not known
    found[0] *= 2
    return found + x[xp.argmin(x[:, 1:], axis=0)].sum(axis=0)


def row_sums_at(xp, x):
    places = xp.argmax(x, axis=1)
    total = xp.zeros_like(x)
    np.add.at(total, places % 3, x[places % 3] - x)
    return total


WRITTEN = [edges, new_array, halves, operators, views, view_of_a_copy, steps, single_elements, added_at, functions, known_places,
           computed_places, computed_rows, row_sums_at, other_names, numbers, parts, conversions]


@pytest.fixture(scope="module")
def ops():
    return {code: user_op(f"assigning.{code.__name__}")(code) for code in WRITTEN}


@pytest.mark.sampled(54)
@pytest.mark.parametrize("sizes", [(3, 4), (-1, 4), (-1, -1)], ids=str)
@pytest.mark.parametrize("code", WRITTEN, ids=lambda code: code.__name__)
def test_values_and_gradients(ops, code, sizes):
    wanted = code(np, X.copy())
    weights = np.random.default_rng(1).normal(size=wanted.shape)
    sd = SameDiff.create()
    y = ops[code]("y", sd.placeholder("x", DataType.DOUBLE, *sizes))
    sd.set_loss_variables(sd.sum("loss", y * sd.constant(weights)))
    assert np.allclose(sd.output_single({"x": X}, "y"), wanted)
    found, differences = sd.calculate_gradients({"x": X}, "x")["x"], np.zeros_like(X)
    for k in np.ndindex(*X.shape):
        step = np.zeros_like(X)
        step[k] = 1e-6
        differences[k] = ((code(np, X + step) - code(np, X - step)) * weights).sum() / 2e-6
    assert np.allclose(found, differences, 1e-5, 1e-6)


def of_numpy(xp, x):
    y = np.zeros((3, 4))
    y[0] = x[0]
    return y


def element_of_numpy(xp, x):
    y = np.zeros(3)
    y[0] = x[0].sum()
    return y


def of_the_input(xp, x):
    x[0] = 1
    return x * 2


def of_a_view_of_the_input(xp, x):
    h = x[:, 0]
    h += x[:, 1]
    return h


def chosen(xp, x):
    y = x * 1
    y[x > 0] = x[x > 0] ** 2
    return y


@pytest.mark.parametrize(("code", "says"), [
    (of_numpy, r"those of xp.zeros"), (element_of_numpy, "a Python number of an array"), (of_the_input, r"x = x.copy\(\)"),
    (of_a_view_of_the_input, r"changes its input in place"), (chosen, "truth values")], ids=lambda v: getattr(v, "__name__", ""))
def test_what_has_no_node(code, says):
    sd = SameDiff.create()
    y = user_op(f"assigning.{code.__name__}")(code)("y", sd.placeholder("x", DataType.DOUBLE, 3, 4))
    sd.set_loss_variables(sd.sum("loss", y))
    with pytest.raises(GradientError, match=says):
        sd.calculate_gradients({"x": X}, "x")


def test_elementwise_code_that_changes_an_array_under_two_names():
    @user_op("assigning.elementwise")
    def elementwise(xp, x):
        y = x * 2
        z = y
        kept = y.copy()
        z += 1
        return y * kept
    sd = SameDiff.create()
    elementwise("y", sd.placeholder("x", DataType.DOUBLE, 3, 4))
    assert np.allclose(sd.output_single({"x": X}, "y"), (2 * X + 1) * 2 * X)
