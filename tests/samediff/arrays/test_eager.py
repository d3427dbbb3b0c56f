"""The ops of graphs on arrays: what a graph computes, in the same ways of calling."""
from __future__ import annotations

import threading

import numpy as np
import pytest

from dl4py.samediff import DataType, EagerOps, INDArray, SameDiff
from dl4py.samediff.arrays import computing, repeated
from dl4py.samediff.errors import DataTypeError, GraphError, ShapeError, UnknownNameError
from dl4py.samediff.ir.op import METHODS, OPS
from tests.samediff.ops.rows.op_table import ROWS, Row

ops = EagerOps()
A = INDArray.of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def in_a_graph(row: Row):
    """The results of an op in a graph, as a list, and whether there are several."""
    sd = SameDiff()
    made = row.op().place(sd, [None if a is None else sd.constant(a) for a in row.arrays()], None)
    variables = made if isinstance(made, (list, tuple)) else [made]
    return [v.eval() for v in variables], made is not variables


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", ROWS, ids=[f"{r.op_id}-{i}" for i, r in enumerate(ROWS)])
def test_an_op_gives_what_it_gives_in_a_graph(row, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")
    op, arrays = row.op(), [None if a is None else np.asarray(a) for a in row.arrays()]
    before = [None if a is None else a.copy() for a in arrays]
    found = computing.apply(op, *arrays)
    again = computing.apply(op, *arrays)
    expected, single = in_a_graph(row)
    assert isinstance(found, tuple) is not single
    for f, g, e in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, again)], expected, strict=True):
        assert type(f) is INDArray and f.dtype == np.asarray(e).dtype and np.shape(f) == np.shape(e)
        if not op.stateful and op.at_inference() is op:
            np.testing.assert_array_equal(np.asarray(f), e)
            np.testing.assert_array_equal(np.asarray(g), e)
        assert not any(np.shares_memory(f, a) for a in arrays if a is not None)
    for a, b in zip(arrays, before):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("call", [
    lambda: ops.math.add(A, A), lambda: ops.math.add("sum", A, A), lambda: ops.math.add(A, y=A), lambda: ops.add(A, A),
    lambda: ops.call("math", "add", A, A), lambda: ops.op("add", A, A), lambda: ops.math().add(A, A), lambda: ops.math.add(A, A.tolist()),
    lambda: ops.math.add(None, A, A), lambda: ops.math.add(A, A, name="sum"), lambda: ops.math.mul(A, 2),
    lambda: ops.math.mul(A, np.float64(2)),
])
def test_ways_to_call(call):
    found = call()
    assert type(found) is INDArray and found.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(found), 2 * np.asarray(A))


def test_java_spelling():
    assert ops.math.logSumExp(A, 1).tolist() == ops.math.log_sum_exp(A, 1).tolist()
    assert ops.expandDims(A, 0).shape == (1, 2, 3)


def test_several_results_are_a_tuple():
    assert [x.tolist() for x in ops.unstack(A, 0)] == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", [r for r in ROWS if r.op_id in ("softmax", "conv2d", "reduce_sum", "tanh")])
def test_long_work_is_done_by_a_plan(row, monkeypatch):
    monkeypatch.setattr(computing, "MANY", 1)
    monkeypatch.setattr(computing, "_known", {})
    expected, _ = in_a_graph(row)
    np.testing.assert_allclose(np.asarray(computing.apply(row.op(), *row.arrays())), expected[0])


def test_shapes_that_depend_on_values_are_worked_out_each_time():
    assert [ops.reshape(A, INDArray.of(shape)).shape for shape in ([3, 2], [6, 1], [1, 6])] == [(3, 2), (6, 1), (1, 6)]


def test_random_numbers_follow_the_seed():
    drawn = []
    for seed in (1, 1, 2):
        ops.seed = seed
        drawn.append([ops.random.uniform(0.0, 1.0, DataType.FLOAT, 4).tolist() for _ in range(2)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][0] != drawn[0][1]


def test_threads_may_share_the_ops():
    found = []
    threads = [threading.Thread(target=lambda: found.append(ops.nn.softmax(A).sum(axis=1).tolist())) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 4


def add_other_shapes():
    return ops.math.add(A, np.zeros((4, 5)))       # this line is named


@pytest.mark.parametrize(("call", "error", "text"), [
    (add_other_shapes, ShapeError, r"^add: shapes \(2, 3\) and \(4, 5\).*inputs: FLOAT\(2, 3\), DOUBLE\(4, 5\).*this line is named"),
    (lambda: ops.nn.softmax(INDArray.of([1, 2])), DataTypeError, "softmax.*floating.*inputs: INT"),
    (lambda: ops.math.add(A), GraphError, r"math.add cannot be called with.*Ways to call it"),
    (lambda: ops.math.ad(A, A), UnknownNameError, "did you mean 'add'"),
    (lambda: ops.concatt(0, A), UnknownNameError, "did you mean 'concat'"),
    (lambda: ops.math.add(A, SameDiff().constant(1.0)), GraphError, "variable of a graph.*eval"),
    (lambda: ops.gather(A, INDArray.of([7]), 0), ShapeError, "gather"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        call()



def ways(row: Row):
    """The methods that offer the op of a row."""
    return [(namespace, method) for (namespace, method), classes in METHODS.items() if OPS[row.op_id] in classes]


def outcome(namespace: str, method: str, arrays) -> list[str]:
    """What a call gives, bit by bit; the error where it gives none."""
    try:
        found = ops.call(namespace, method, *arrays)
    except Exception as error:
        return [type(error).__name__, str(error)]
    results = found if isinstance(found, (tuple, list)) else [found]
    return [f"{type(r).__name__} {r.dtype}{r.shape} {np.asarray(r).tobytes().hex()}" for r in results]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_repeated_calls_give_what_first_calls_give(part, monkeypatch):
    seen = 0
    for row in ROWS[part::4]:
        if OPS[row.op_id].stateful or row.op_id in ("if", "while", "scan"):
            continue
        arrays = [a if a is None else INDArray.of(a) for a in row.arrays()]
        others = [a if a is None or a.dtype.kind != "f" else a * -0.5 for a in arrays]
        for way in ways(row):
            monkeypatch.setattr(repeated, "_known", {})
            alone = outcome(*way, others)
            monkeypatch.setattr(repeated, "_known", {})
            first = outcome(*way, arrays)
            seen += bool(repeated._known)
            assert outcome(*way, arrays) == first, (row.op_id, way)
            assert outcome(*way, others) == alone, (row.op_id, way)
    assert seen > 60
