"""Array code run on graph variables gives the values and types of NumPy, and gradients."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.expressions.arrays import xp as numpy_namespace
from dl4py.samediff.families.graph_namespace import NotInGraphError, on_graph

CODE = {
    "arithmetic": lambda xp, x: (2 - x) / (1 + x * x) ** 1.5 - x % 3 + x // 2 - -abs(x),
    "comparison": lambda xp, x: ((x > 0) & (x != 1)) | ~(x <= -1),
    "functions": lambda xp, x: xp.log1p(xp.exp(-x)) + xp.erf(x) + xp.clip(x, -1, None) + xp.maximum(x, 0.5),
    "numpy": lambda xp, x: np.tanh(x) + np.where(x > 0, x, 0.0) + np.sum(x, axis=0),
    "where": lambda xp, x: xp.where(x > 0, 1.0, 0.0),
    "constant": lambda xp, x: x ** 0,
    "sum": lambda xp, x: x.sum(axis=-1, keepdims=True),
    "mean": lambda xp, x: xp.mean(x, axis=(0, 1)),
    "extremes": lambda xp, x: x.max(axis=0) - x.min(),
    "std": lambda xp, x: x.std(axis=0) + x.var(ddof=1),
    "prod": lambda xp, x: xp.prod(x, axis=1),
    "argmax": lambda xp, x: x.argmax(axis=1),
    "any": lambda xp, x: (x > 1).any(axis=0),
    "cumsum": lambda xp, x: x.cumsum(axis=1),
    "matmul": lambda xp, x: x @ x.T,
    "dot": lambda xp, x: xp.dot(x, np.arange(4.0)),
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=((0,), (0,))),
    "reshape": lambda xp, x: x.reshape(x.shape[0], 2, -1),
    "ravel": lambda xp, x: x.ravel(),
    "sizes": lambda xp, x: x.sum() / x.shape[0] + x.size * 1.0,
    "transpose": lambda xp, x: xp.swapaxes(x, 0, 1) + xp.moveaxis(x, 0, 1),
    "expand": lambda xp, x: x[:, None] * xp.expand_dims(x, 0),
    "index": lambda xp, x: x[..., 1:3] + x[0, -1],
    "take": lambda xp, x: xp.take(x, [2, 0], axis=1) + x[:, :2] + x[[0, 1, 2]][:, :2],
    "concatenate": lambda xp, x: xp.concatenate([x, x * 2], axis=1),
    "stack": lambda xp, x: xp.stack([x, xp.ones_like(x)], axis=-1),
    "tile": lambda xp, x: xp.tile(x, 2) + xp.repeat(x, 2, axis=1),
    "like": lambda xp, x: xp.zeros_like(x) + xp.full_like(x, 3.0) * x,
    "types": lambda xp, x: x.astype(np.float32) * 2.0 + (x > 0),
    "constants": lambda xp, x: x * np.arange(4) + xp.arange(4.0) + xp.eye(4)[1],
    "squeeze": lambda xp, x: x.sum(axis=1, keepdims=True).squeeze(1),
}


def on(code, dtype, sizes, a):
    sd = SameDiff.create()
    x = sd.placeholder("x", dtype, *sizes)
    (y,) = on_graph(sd, code, [x])
    return sd, x, y, sd.output_single({"x": a}, y)


@pytest.mark.parametrize("name", CODE)
def test_values_shapes_and_types_are_those_of_numpy(name, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    a = rng.normal(size=(3, 4))
    for kind in (DataType.DOUBLE, DataType.FLOAT):
        x = a.astype(kind.numpy)
        if name in ("dot",) and kind is DataType.FLOAT:
            continue
        expected = np.asarray(CODE[name](numpy_namespace, x))
        _, _, y, value = on(CODE[name], kind, (-1, 4), x)
        assert value.shape == expected.shape and y.spec.accepts(expected.shape)
        assert value.dtype == expected.dtype and y.dtype.numpy == expected.dtype
        np.testing.assert_allclose(value, expected, rtol=1e-12 if kind is DataType.DOUBLE else 1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [n for n in CODE if n not in ("comparison", "argmax", "any", "types")])
def test_gradients_are_those_of_central_differences(name, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    a, v, h = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 1e-6
    sd, _, y, value = on(CODE[name], DataType.DOUBLE, (-1, 4), a)
    weights = rng.normal(size=value.shape)
    sd.set_loss_variables(sd.sum("loss", y * sd.constant(weights)))
    f = [np.sum(weights * CODE[name](numpy_namespace, a + s * v)) for s in (h, -h)]
    found = np.vdot(sd.calculate_gradients({"x": a}, "x")["x"], v)
    np.testing.assert_allclose(found, (f[0] - f[1]) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("code", [
    lambda xp, x: x if x > 0 else -x,
    lambda xp, x: float(x.sum()),
    lambda xp, x: xp.linalg.inv(x),
    lambda xp, x: xp.sort(x),
    lambda xp, x: x[x > 0],
    lambda xp, x: np.add.reduce(x),
    lambda xp, x: xp.zeros(x.shape) + x,
    lambda xp, x: "text",
    lambda xp, x: x.tolist(),
    lambda xp, x: list(x),
])
def test_code_that_needs_values_is_refused(code):
    with pytest.raises(NotInGraphError):
        on(code, DataType.DOUBLE, (-1, 4), None)
