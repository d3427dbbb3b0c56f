"""Sizes that are not known while a function is compiled with ``open_batch``: numbers, shapes and results."""
import warnings

import numpy as np
import pytest

from dl4py import Nd4j, compiled

FUNCTIONS = {
    "a quotient": lambda x: x.sum(0) / x.shape[0],
    "a factor": lambda x: x.shape[0] * x,
    "a number of a size": lambda x: (1 / x.shape[0]) * x + (x.shape[0] - 0.5),
    "a power": lambda x: x.shape[0] ** x,
    "functions of NumPy": lambda x: np.sqrt(x.shape[0]) * x + np.maximum(x.shape[0], 3) + np.multiply(1 / x.shape[0], x),
    "the number of elements": lambda x: np.abs(x).sum() / x.size + np.add(x.size, x),
    "the length": lambda x: x.sum() / x.length(),
    "size of a dimension": lambda x: x / (x.size(0) + x.size(1)),
    "arguments of methods": lambda x: x.mul(x.shape[0]).rsub(x.rows()).div(x.shape[0]),
    "an op": lambda x: Nd4j.math.mul(x.shape[0], x),
    "what is square": lambda x: x.isSquare() * x,
    "a comparison": lambda x: x.shape[0] < x,
    "a choice": lambda x: np.where(x > 1, x.shape[0], x),
    "rows made flat": lambda x: x[:, :, None].reshape(x.shape[0], -1) * 2,
    "a shape as a tuple": lambda x: np.reshape(x.reshape((x.shape[0], 3, 1)), (3 * x.shape[0],)),
    "a shape to stretch to": lambda x: np.broadcast_to(x.sum(1, keepdims=True), (x.shape[0], 4)),
    "results": lambda x: {"rows": x.shape[0], "twice": (2 * x.shape[0], [x.size]), "half": x.shape[0] / 2},
    "a loop": lambda x: Nd4j.while_loop((0, x), lambda v: v[0] < x.shape[0], lambda v: (v[0] + 1, v[1] * 2))[1],
}


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (tuple, list)) else [np.asarray(value)]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("what", FUNCTIONS)
def test_sizes_are_numbers(what, dtype):
    call = compiled(FUNCTIONS[what], open_batch=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")          # it is compiled
        for rows in (2, 3):
            x = Nd4j.create_from_array(np.arange(3.0 * rows, dtype=dtype).reshape(rows, 3))
            for found, wanted in zip(leaves(call(x)), leaves(FUNCTIONS[what](x)), strict=True):
                assert found.shape == wanted.shape and (found.dtype == wanted.dtype or not found.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_gradients_of_means():
    def loss(x):
        return (x ** 2).sum() / x.size
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(compiled(loss, open_batch=True).gradient()(x), x / 3)


def test_code_that_needs_a_number_runs_step_by_step():
    call = compiled(lambda x: x[:len(x) // 2], open_batch=True)
    with pytest.warns(UserWarning, match="a size of .* is not known"):
        assert call(np.ones((4, 2))).shape == (2, 2)
