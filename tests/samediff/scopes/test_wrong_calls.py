"""Wrong calls: the same typed errors step by step, in scopes and compiled, which are NumPy's kinds too and name call and line."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

from dl4py import GraphScope, INDArray, Nd4j, compiled
from dl4py.samediff.errors import AxisError, DataTypeError, DL4PyError, GraphError, LinearAlgebraError, OutOfRangeError, ShapeError

A = np.arange(6, dtype=np.float32).reshape(2, 3)

#: Calls that NumPy refuses too, with our class.
OF_NUMPY = {
    "matmul": (lambda a: a @ a, ShapeError), "np.dot": (lambda a: np.dot(a, a), ShapeError), "dot": (lambda a: a.dot(a), ShapeError),
    "add": (lambda a: a + a[:, :2], ShapeError), "add from outside": (lambda a: a + np.ones(4, np.float32), ShapeError),
    "in place": (lambda a: (a * 1).__iadd__(a[:, :2]), ShapeError),
    "concatenate": (lambda a: np.concatenate([a, a[:, :2]]), ShapeError),
    "concatenate along": (lambda a: np.concatenate([a, a], axis=5), AxisError),
    "stack": (lambda a: np.stack([a, a[:1]]), ShapeError), "vstack": (lambda a: np.vstack([a, a[:, :1]]), ShapeError),
    "np.reshape": (lambda a: np.reshape(a, (4, 2)), ShapeError), "reshape": (lambda a: a.reshape(-1, 4), ShapeError),
    "position": (lambda a: a[5], OutOfRangeError), "second position": (lambda a: a[0, 7], OutOfRangeError),
    "too many positions": (lambda a: a[0, 1, 2], OutOfRangeError), "list of positions": (lambda a: a[[0, 9]], OutOfRangeError),
    "array of positions": (lambda a: a[np.array([0, 9])], OutOfRangeError), "text": (lambda a: a["x"], OutOfRangeError),
    "put": (lambda a: (a * 1).__setitem__((9, 0), 1), OutOfRangeError),
    "put values": (lambda a: (a * 1).__setitem__(0, np.ones(7)), ShapeError),
    "broadcast_to": (lambda a: np.broadcast_to(a, (5, 3)), ShapeError), "where": (lambda a: np.where(a > 0, a, a[:, :2]), ShapeError),
    "sum": (lambda a: np.sum(a, axis=4), AxisError), "mean of two": (lambda a: np.mean(a, axis=(0, 9)), AxisError),
    "twice": (lambda a: np.sum(a, axis=(0, 0)), ShapeError), "cumsum": (lambda a: np.cumsum(a, axis=3), AxisError),
    "median": (lambda a: np.median(a, axis=3), AxisError), "sort": (lambda a: np.sort(a, axis=4), AxisError),
    "transpose": (lambda a: np.transpose(a, (0, 1, 2)), ShapeError), "swapaxes": (lambda a: np.swapaxes(a, 0, 4), AxisError),
    "moveaxis": (lambda a: np.moveaxis(a, 0, 4), AxisError), "squeeze": (lambda a: np.squeeze(a, 0), ShapeError),
    "take": (lambda a: np.take(a, 9, axis=0), OutOfRangeError), "split": (lambda a: np.split(a, 4), ShapeError),
    "einsum": (lambda a: np.einsum("ij,jk->ik", a, a), ShapeError), "inv": (lambda a: np.linalg.inv(a), LinearAlgebraError),
    "singular": (lambda a: np.linalg.inv(a[:, :2] * 0), LinearAlgebraError),
    "searchsorted": (lambda a: np.searchsorted(a, 1.0), ShapeError),
    "type": (lambda a: a.astype("nope"), DataTypeError), "option": (lambda a: a.argsort(axes=0), DataTypeError),
    "axis with a fraction": (lambda a: np.cumsum(a, axis=1.5), DataTypeError),
    "axis True": (lambda a: np.argsort(a, axis=True), DataTypeError),
    "list of axes": (lambda a: np.sum(a, axis=[0]), DataTypeError), "axis by name": (lambda a: np.mean(a, axis="x"), DataTypeError),
    "axis of a number": (lambda a: np.sum(np.sum(a), axis=4), AxisError), "count": (lambda a: np.tile(a, 1.5), DataTypeError),
    "shape by name": (lambda a: np.reshape(a, "x"), DataTypeError), "ranks": (lambda a: np.concatenate([a[0], a[0, 0]]), ShapeError),
    "new axis twice": (lambda a: np.expand_dims(a, (0, 0)), ShapeError), "convolve": (lambda a: np.convolve(a, a[0]), ShapeError),
    "two ellipses": (lambda a: (a * 1).__setitem__((..., ...), 1), OutOfRangeError),
    "bins": (lambda a: np.histogram(a, 1.5), DataTypeError),
    "bits": (lambda a: a & 1, DataTypeError), "text as a number": (lambda a: a + "x", DataTypeError),
    "median of a number": (lambda a: np.median(np.sum(a), axis=0), AxisError),
    "quantile of a number": (lambda a: np.quantile(np.sum(a), 0.5, axis=(0,)), AxisError),
    "gradient twice": (lambda a: np.gradient(a, axis=(0, 0)), ShapeError), "partition": (lambda a: np.partition(a, 99), ShapeError),
    "partitions": (lambda a: np.partition(a, [0, 99]), ShapeError), "argpartition": (lambda a: a.argpartition(50), ShapeError),
    "place of a partition": (lambda a: np.partition(a, 1.5), DataTypeError), "differences": (lambda a: np.diff(a, n=-1), ShapeError),
    "bounds": (lambda a: np.digitize(a, [3, 1, 2]), ShapeError), "choices": (lambda a: np.choose(a, [a, a]), DataTypeError),
    "truth": (lambda a: 1 if (INDArray.of(a) > 0) else 2, ShapeError),
}

OF_DL4J = {
    "matmul": (lambda a: Nd4j.matmul(a, a), ShapeError), "concat": (lambda a: Nd4j.concat(0, a, a[:, :2]), ShapeError),
    "sum": (lambda a: Nd4j.sum(a, 6), AxisError), "permute": (lambda a: a.permute(0, 5), AxisError),
    "getRow": (lambda a: a.getRow(8), OutOfRangeError), "addRowVector": (lambda a: a.addRowVector(INDArray.of(np.ones(7))), ShapeError),
    "option": (lambda a: Nd4j.nn.softmax(a, dimensio=1), GraphError), "number": (lambda a: Nd4j.nn.relu(a, "x"), GraphError),
}


def in_scope(call, a):
    with GraphScope():
        made = call(a)
    return made


WAYS = {"eager": lambda call: call(INDArray.of(A)), "scope": lambda call: in_scope(call, INDArray.of(A)),
        "compiled": lambda call: compiled(call)(INDArray.of(A)), "compiled for plain arrays": lambda call: compiled(call)(A),
        "open": lambda call: compiled(call, open_batch=True)(INDArray.of(A))}


def error_of(act):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act()
        except Exception as error:
            return error
    return None


def check(error, wanted):
    assert isinstance(error, DL4PyError) and isinstance(error, wanted), repr(error)
    assert "test_wrong_calls.py:" in "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.sampled(24)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OF_NUMPY)
def test_what_numpy_refuses(name, way):
    call, kind = OF_NUMPY[name]
    theirs = error_of(lambda: call(A))
    error = error_of(lambda: WAYS[way](call))
    if name == "truth" and way != "eager":          # before that, its values are not known
        kind = GraphError
    check(error, (kind, type(theirs)) if way == "open" else kind)
    if name != "truth":
        assert isinstance(error, type(theirs)) or type(theirs).__module__.startswith("numpy._core"), (error, theirs)


@pytest.mark.parametrize("name", ["gradient twice", "differences", "bounds"])
def test_open_sizes_hide_no_wrong_call(name):
    call, kind = OF_NUMPY[name]
    with pytest.raises(kind):
        compiled(call, open_batch=True)(A)


def test_open_sizes_may_be_larger():
    """What a few rows would not allow, many do."""
    many = np.random.default_rng(1).permutation(40).astype(float)
    with pytest.warns(UserWarning, match="traced anew for each size"):
        np.testing.assert_array_equal(compiled(lambda x: np.partition(x, 20)[20], open_batch=True)(many), 20)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("way", [w for w in WAYS if "plain" not in w])
@pytest.mark.parametrize("name", OF_DL4J)
def test_what_nd4j_refuses(name, way):
    call, kind = OF_DL4J[name]
    check(error_of(lambda: WAYS[way](call)), kind)


def test_errors_of_users_stay_their_own():
    def own(a):
        if a.shape[0] == 2:
            raise ValueError("two rows")
        return a

    def inside(a):
        return np.apply_along_axis(lambda row: {}["nothing"], 1, a)
    for way in WAYS.values():
        assert type(error_of(lambda: way(own))) is ValueError       # noqa: B023  # called at once
        assert type(error_of(lambda: way(inside))) is KeyError      # noqa: B023


def test_what_is_not_recorded_says_so():
    """NumPy takes the call: nothing is wrong with it."""
    with pytest.raises(GraphError, match="np.unique has no graph node.*depends on values"), GraphScope():
        np.unique(INDArray.of(A) * 1)
