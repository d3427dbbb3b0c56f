"""Array code run on graph variables gives the values and types of NumPy, and gradients."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import ShapeError
from dl4py.samediff.expressions.arrays import xp as numpy_namespace
from dl4py.samediff.families.array_code.graph_namespace import NotInGraphError, on_graph

CODE = {
    "arithmetic": lambda xp, x: (2 - x) / (1 + x * x) ** 1.5 - x % 3 + x // 2 - -abs(x),
    "comparison": lambda xp, x: ((x > 0) & (x != 1)) | ~(x <= -1),
    "functions": lambda xp, x: xp.log1p(xp.exp(-x)) + xp.erf(x) + xp.clip(x, -1, None) + xp.maximum(x, 0.5),
    "numpy": lambda xp, x: np.tanh(x) + np.where(x > 0, x, 0.0) + np.sum(x, axis=0),
    "where": lambda xp, x: xp.where(x > 0, 1.0, 0.0),
    "constant": lambda xp, x: x ** 0,
    "sum": lambda xp, x: x.sum(axis=-1, keepdims=True),
    "mean": lambda xp, x: xp.mean(x, axis=(0, 1)),
    "over no axes": lambda xp, x: x.sum(axis=()) + xp.max(x, axis=(), keepdims=True) + (x > 1).any(axis=()),
    "extremes": lambda xp, x: x.max(axis=0) - x.min(),
    "std": lambda xp, x: x.std(axis=0) + x.var(ddof=1),
    "prod": lambda xp, x: xp.prod(x, axis=1),
    "argmax": lambda xp, x: x.argmax(axis=1),
    "any": lambda xp, x: (x > 1).any(axis=0),
    "cumsum": lambda xp, x: x.cumsum(axis=1),
    "cumsum of a type": lambda xp, x: xp.cumsum(x, axis=0, dtype=np.float32),
    "stretched": lambda xp, x: xp.broadcast_arrays(x[:, None], x)[0] * x,
    "rolled": lambda xp, x: xp.roll(x, 1, axis=1) + xp.roll(x, -5, axis=-1) + xp.roll(x, 8, axis=1),
    "diagonals": lambda xp, x: xp.concatenate([xp.diagonal(x), xp.diagonal(x, 2), xp.diagonal(x, -1), xp.diagonal(x, 9)]),
    "diagonal of axes": lambda xp, x: (xp.diagonal(x.reshape(2, x.shape[0], -1), 1, 2, 0)
                                       + xp.diagonal(x.reshape(2, x.shape[0], -1), -1, 0, 2)),
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
    "einsum": lambda xp, x: xp.einsum("ij,kj->ik", x, x) + xp.einsum("ij,ij->", x, x),
    "several sizes": lambda xp, x: x.reshape(x.shape[0], 1, x.shape[1]).transpose(2, 0, 1).reshape(x.shape[0] * x.shape[1]),
    "sizes and a rest": lambda xp, x: x.reshape(x.shape[1] // 2, x.shape[0], -1),
    "broadcast": lambda xp, x: xp.broadcast_to(x[:, :1], (x.shape[0], x.shape[1] + 1)) * xp.broadcast_to(x[:, :1], (2, x.shape[0], 1)),
    "squeeze": lambda xp, x: x.sum(axis=1, keepdims=True).squeeze(1),
}

#: What needs to know all sizes.
STATIC = {"stretched", "diagonals", "diagonal of axes"}


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
        _, _, y, value = on(CODE[name], kind, (3, 4) if name in STATIC else (-1, 4), x)
        assert value.shape == expected.shape and y.spec.accepts(expected.shape)
        assert value.dtype == expected.dtype and y.dtype.numpy == expected.dtype
        np.testing.assert_allclose(value, expected, rtol=1e-12 if kind is DataType.DOUBLE else 1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [n for n in CODE if n not in ("comparison", "argmax", "any", "types", "cumsum of a type")])
def test_gradients_are_those_of_central_differences(name, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    a, v, h = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 1e-6
    sd, _, y, value = on(CODE[name], DataType.DOUBLE, (3, 4) if name in STATIC else (-1, 4), a)
    weights = rng.normal(size=value.shape)
    sd.set_loss_variables(sd.sum("loss", y * sd.constant(weights)))
    f = [np.sum(weights * CODE[name](numpy_namespace, a + s * v)) for s in (h, -h)]
    found = np.vdot(sd.calculate_gradients({"x": a}, "x")["x"], v)
    np.testing.assert_allclose(found, (f[0] - f[1]) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["einsum", "several sizes", "sizes and a rest", "broadcast", "ravel", "sizes", "transpose"])
@pytest.mark.parametrize("sizes", [(-1, -1), (3, -1)])
def test_open_sizes_may_be_several(name, sizes, rng):
    a = rng.normal(size=(3, 4))
    sd, _, y, value = on(CODE[name], DataType.DOUBLE, sizes, a)
    np.testing.assert_allclose(value, CODE[name](numpy_namespace, a), rtol=1e-12)
    sd.set_loss_variables(sd.sum("loss", y * y))
    fixed, _, z, _ = on(CODE[name], DataType.DOUBLE, (3, 4), a)
    fixed.set_loss_variables(fixed.sum("loss", z * z))
    np.testing.assert_allclose(sd.calculate_gradients({"x": a}, "x")["x"], fixed.calculate_gradients({"x": a}, "x")["x"], rtol=1e-12)


def test_attention_as_everybody_writes_it_has_known_sizes_where_they_are(rng):
    def split(xp, x):
        b, t, _ = x.shape
        return x.reshape(b, t, 2, 3).transpose(0, 2, 1, 3)
    a = rng.normal(size=(4, 5, 6))
    _, _, y, value = on(split, DataType.DOUBLE, (-1, -1, 6), a)
    assert y.spec.shape == (-1, 2, -1, 3)
    np.testing.assert_array_equal(value, split(np, a))


def test_sizes_that_do_not_go_together_are_refused(rng):
    def wrong(xp, x):
        return x.reshape(x.shape[0], 2)
    with pytest.raises(ShapeError, match=r"12 elements.*\(3, 2\)"):
        on(wrong, DataType.DOUBLE, (-1, -1), rng.normal(size=(3, 4)))


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
