"""Arrays without elements: every op with an axis of size 0, where its shapes allow one."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import Conv2DConfig, DataType, SameDiff
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.ir.op import OPS
from tests.samediff.ops.every.test_every_op import is_call, own
from tests.samediff.ops.rows.op_table import ROWS, Row


def emptied(row: Row) -> Iterator[list[Any]]:
    """The inputs, all axes of one size without elements: for each size that there is."""
    arrays = row.arrays()
    for n in sorted({n for a in arrays if a is not None for n in a.shape}):
        yield [None if a is None else a[tuple(slice(0 if size == n else None) for size in a.shape)] for a in arrays]


def graph(row: Row, arrays: list[Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """The op on placeholders of open sizes, whole numbers as constants."""
    sd, feeds, given = SameDiff(), {}, []
    for i, a in enumerate(arrays):
        if a is not None and a.dtype.kind == "f":
            feeds[f"x{i}"] = a
            given.append(sd.placeholder(f"x{i}", DataType.of(a), *[n or -1 for n in a.shape]))
        else:
            given.append(None if a is None else sd.constant(f"x{i}", a))
    made = sd.add_op(row.op(), given)
    return sd, list(made) if isinstance(made, (list, tuple)) else [made], feeds


def computed(row: Row, arrays: list[Any], gradient: bool) -> Any:
    """The results, or the gradients of the sum of their squares; the type of the error where there are none."""
    with np.errstate(all="ignore"):
        try:
            sd, made, feeds = graph(row, arrays)
            floating = [v for v in made if v.dtype.is_floating]
            if not gradient:
                return list(sd.output(feeds, *(v.name() for v in made)).values())
            if not floating or not feeds:
                return []
            sum((v * v).sum() for v in floating).rename("the_loss")
            sd.set_loss_variables("the_loss")
            return list(sd.calculate_gradients(feeds, *feeds).values())
        except DL4PyError as error:
            return type(error)


def equal(found: Any, wanted: Any) -> bool:
    if isinstance(found, type) or isinstance(wanted, type):
        return found is wanted
    return len(found) == len(wanted) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(map(np.asarray, found), map(np.asarray, wanted)))


CASES = {f"{r.op_id}-{i}": r for i, r in enumerate(ROWS) if own(r.op_id) and not is_call(r)}


@pytest.mark.sampled(33)
@pytest.mark.parametrize("row", CASES.values(), ids=CASES)
def test_both_executors_do_the_same(row, monkeypatch):
    """Equal results, or errors of one type; never another error than those of dl4py."""
    for arrays in emptied(row):
        for gradient in (False, True):
            found = []
            for where in ("plan", "reference"):
                monkeypatch.setenv("DL4PY_EXECUTOR", where)
                found.append(computed(row, arrays, gradient))
            assert equal(*found), [None if a is None else a.shape for a in arrays]


def zeros(*shape: int) -> Any:
    return np.zeros(shape)


#: Of a graph and variables, with the shapes of these: the result.
IDENTITIES: dict[str, tuple[Any, list[Any], Any]] = {
    "sum of nothing": (lambda sd, x: sd.sum(x, 1), [zeros(2, 0)], [0, 0]),
    "product of nothing": (lambda sd, x: sd.prod(x, 1), [zeros(2, 0)], [1, 1]),
    "logsumexp of nothing": (lambda sd, x: sd.math.log_sum_exp(x, 1), [zeros(2, 0)], [-np.inf, -np.inf]),
    "ismax": (lambda sd, x: sd.math.is_max(x, 1), [zeros(0, 3)], []),
    "ismax of nothing": (lambda sd, x: sd.math.is_max(x, 1), [zeros(2, 0)], [[], []]),
    "argmax of no rows": (lambda sd, x: sd.argmax(x, 1), [zeros(0, 3)], []),
    "softmax of nothing": (lambda sd, x: sd.nn.softmax(x), [zeros(2, 0)], [[], []]),
    "log softmax of nothing": (lambda sd, x: sd.nn.log_softmax(x), [zeros(2, 0)], [[], []]),
    "clip by average norm": (lambda sd, x: sd.math.clip_by_avg_norm(x, 1.0, 1), [zeros(0, 3)], []),
    "cumsum": (lambda sd, x: sd.cumsum(x, True, False, 0), [zeros(0)], []),
    "attention without queries": (lambda sd, q, k, v: sd.nn.dot_product_attention(q, k, v, None, True),
                                  [zeros(2, 3, 0), zeros(2, 3, 4), zeros(2, 5, 4)], np.zeros((2, 5, 0)).tolist()),
    "attention without examples": (lambda sd, q, k, v: sd.nn.dot_product_attention(q, k, v, None, True),
                                   [zeros(0, 3, 2), zeros(0, 3, 4), zeros(0, 5, 4)], []),
    "attention without keys": (lambda sd, q, k, v: sd.nn.dot_product_attention(q, k, v, None, True),
                               [zeros(1, 3, 2), zeros(1, 3, 0), zeros(1, 2, 0)], [[[0, 0], [0, 0]]]),
    "cross entropy without classes": (lambda sd, z, y: sd.loss.softmax_cross_entropy(y, z, None), [zeros(2, 0), zeros(2, 0)], 0),
    "a convolution of no images": (lambda sd, x, w: sd.cnn.conv2d(x, w, Conv2DConfig(kH=2, kW=2)),
                                   [zeros(0, 2, 4, 4), np.ones((2, 2, 2, 3))], []),
    "gru without steps": (lambda sd, *xs: sd.add_op(OPS["gru"](), list(xs)),
                          [zeros(0, 2, 2), zeros(2, 3), zeros(2, 9), zeros(3, 9), zeros(9)], []),
}


@pytest.mark.parametrize("where", ["plan", "reference"])
@pytest.mark.parametrize("name", IDENTITIES)
def test_results_of_nothing(name, where, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", where)
    build, arrays, wanted = IDENTITIES[name]
    sd, feeds = SameDiff(), {f"x{i}": a for i, a in enumerate(arrays)}
    made = build(sd, *(sd.placeholder(n, DataType.DOUBLE, *[-1] * a.ndim) for n, a in feeds.items()))
    assert sd.output_single(feeds, made.name()).tolist() == wanted
    if made.dtype.is_floating:
        (made * made).sum().rename("the_loss")
        sd.set_loss_variables("the_loss")
        with np.errstate(all="ignore"):
            gradients = sd.calculate_gradients(feeds, *feeds)
        assert {n: g.shape for n, g in gradients.items()} == {n: a.shape for n, a in feeds.items()}


@pytest.mark.parametrize("where", ["plan", "reference"])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "amax"])
def test_extremes_of_nothing_do_not_exist(name, where, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", where)
    sd = SameDiff()
    y = getattr(sd.base if hasattr(sd.base, name) else sd.math, name)(sd.placeholder("x", DataType.FLOAT, -1, -1), 1)
    with pytest.raises(DL4PyError):
        y.eval({"x": np.zeros((2, 0), np.float32)})


@pytest.mark.parametrize("where", ["plan", "reference"])
def test_sequences_without_steps(where, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", where)
    sd = SameDiff()
    h, c = sd.add_op(OPS["sru"](), [sd.constant(a) for a in (zeros(2, 3, 0), zeros(9, 3), zeros(6), zeros(2, 3))])
    assert h.eval().shape == c.eval().shape == (2, 3, 0)
    x, c, y, w, b = (sd.constant(a) for a in (zeros(0, 2, 2), zeros(2, 3), zeros(2, 3), zeros(5, 12), zeros(12)))
    given = [None, x, c, y, w, None, None, None, b]
    assert [y.eval().shape for y in sd.add_op(OPS["lstmBlock"](), given)] == [(0, 2, 3)] * 7
