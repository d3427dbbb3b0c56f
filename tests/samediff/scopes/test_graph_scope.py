"""Graph scopes: what is recorded, what is refused, what is computed at the end."""
from __future__ import annotations

import contextlib
import gc
import io
import threading
from unittest import mock

import numpy as np
import pytest

from dl4py import EagerOps, GraphScope, INDArray, LazyINDArray, Nd4j, NDArrayIndex
from dl4py.samediff.arrays.recording import state
from dl4py.samediff.errors import GraphScopeError, ShapeError
from dl4py.samediff.plans.plan import Plan

A = INDArray.of(np.arange(6, dtype=np.float32).reshape(2, 3))
ops = EagerOps()

CALLS = {
    "op": lambda a: ops.nn.relu(a - 2, 0),
    "Nd4j": lambda a: Nd4j.matmul(a, a.transpose()),
    "method": lambda a: a.mmul(a.transpose()).add(1),
    "operators": lambda a: (a + 1) @ a.T / 2,
    "ufunc": lambda a: np.exp(a) - np.maximum(a, 2),
    "function": lambda a: np.concatenate([a, a[::-1]], axis=0).sum(axis=1),
    "parts": lambda a: a[1:, ::2] * a[0, 1],
    "method of NumPy": lambda a: a.reshape(3, 2).mean(axis=0, keepdims=True),
    "in place on what is recorded": lambda a: (a * 2).addi(1),
    "where": lambda a: np.where(a > 2, a, 0.0) + Nd4j.where(a > 2, a, a)[0],
    "a number with a first element": lambda a: np.max(np.min(a * 2), axis=0, initial=1) + np.sum(np.max(a * 2), axis=-1, initial=3),
    "conjugate of a truth value": lambda a: np.all(a + 1 > 0).conjugate(),
    "as many values in another shape": lambda a: np.ravel(a * 1).put([NDArrayIndex.point(0)], np.ravel(a)[1:2]),
    "einsum": lambda a: np.einsum("ij,kj->ik", a, a),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_recorded_is_what_is_computed_eagerly(name):
    wanted = CALLS[name](A)
    with GraphScope():
        found = CALLS[name](A)
        assert isinstance(found, LazyINDArray) and found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)


def test_arrays_are_real_after_the_end():
    with GraphScope():
        b = A + 1
        assert not isinstance(b, np.ndarray)
    assert isinstance(b, INDArray) and b.getDouble(0) == 1 and float(b[0, 0]) == 1 and (b * 2).tolist() == ((A + 1) * 2).tolist()
    assert b.sumNumber() == 21 and len(b) == 2 and np.asarray(b).flags.writeable


def test_begin_end_and_close_by_hand():
    scope = Nd4j.graphScope()
    scope.begin()
    b = A * 2
    scope.end()
    c = A * 3
    assert b.tolist() == (A * 2).tolist() and isinstance(c, np.ndarray)
    scope.close()
    with pytest.raises(GraphScopeError, match="not recording"):
        scope.end()


@pytest.mark.parametrize("read", [
    lambda b: float(b.sum()), lambda b: int(b[0, 0]), lambda b: bool(b.any()), lambda b: list(b), lambda b: np.asarray(b),
    lambda b: b.getDouble(0), lambda b: b.tolist(), lambda b: b.sumNumber(), lambda b: [1, 2, 3][b[0, 0]], lambda b: b.toString(),
    lambda b: b.data, lambda b: 1 if b[0, 0] > 0 else 2, lambda b: f"{b.sum():.2f}", lambda b: np.save(io.BytesIO(), b),
    lambda b: b == 1 and b,
], ids=range(15))
def test_values_are_refused_before_the_end(read):
    with pytest.raises(GraphScopeError, match=r"test_graph_scope.py:\d+.*end"), GraphScope():
        b = A + 1
        read(b)
    assert state.recorder is None


def test_scopes_do_not_nest():
    with GraphScope():
        b = A + 1
        with pytest.raises(GraphScopeError, match="nested"), GraphScope():
            pass
        c = b * 2
    assert c.tolist() == ((A + 1) * 2).tolist()


def test_an_exception_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError), GraphScope():
        b = A + 1
        raise ZeroDivisionError
    assert state.recorder is None and isinstance(A + 1, np.ndarray)
    with pytest.raises(GraphScopeError, match="left by an error"):
        np.asarray(b)


def test_errors_of_ops_are_those_of_graphs_and_the_scope_goes_on():
    with GraphScope():
        b = A + 1
        with pytest.raises(ShapeError):
            ops.mmul(b, b)
        c = b.sum()
    assert c == 21


@pytest.mark.plans
def test_what_nobody_holds_is_not_computed():
    asked = []
    run = Plan.run
    with mock.patch.object(Plan, "run", lambda self, *args: asked.append(len(self.outputs)) or run(self, *args)), GraphScope():
        kept = A + 1
        dropped = np.exp(A)
        del dropped
        gc.collect()
    assert asked == [1] and kept.tolist() == (A + 1).tolist()


def test_a_scope_that_repeats_uses_its_plan():
    def once(a):
        with GraphScope():
            return np.tanh(a) @ a.T
    once(A)
    with mock.patch("dl4py.samediff.scopes.graph_scope.plan_for", side_effect=AssertionError):
        np.testing.assert_allclose(np.asarray(once(A * 2)), np.tanh(A * 2) @ (A * 2).T, rtol=1e-6)
    assert once(INDArray.of(np.ones((3, 3)))).shape == (3, 3)


def test_threads_have_scopes_of_their_own():
    found, wrong = {}, []

    def work(k):
        for _ in range(20):
            with GraphScope():
                b = A + k
                eager = state.recorder
            if b.tolist() != (A + k).tolist() or eager is None:
                wrong.append(k)
        found[k] = b
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    with GraphScope():
        mine = A * 10
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not wrong and len(found) == 8 and mine.tolist() == (A * 10).tolist()


def test_seeds_repeat_random_numbers():
    def drawn(seed):
        with GraphScope(seed=seed):
            return ops.random.normal(0.0, 1.0, "FLOAT", 4)
    assert drawn(3).tolist() == drawn(3).tolist() != drawn(4).tolist()


def test_arrays_that_others_look_at_are_not_changed():
    b = INDArray.of(np.ones(3, np.float32))
    with pytest.raises(GraphScopeError), GraphScope():
        b.addi(A[0] * 2)
    assert b.tolist() == [1, 1, 1]


@pytest.mark.parametrize("use", [lambda x: x.sum(), lambda x: x.add(1), np.asarray, lambda x: x + 1, lambda x: x.sumNumber()])
def test_arrays_of_a_scope_that_failed_say_so(use):
    with pytest.raises(KeyError), GraphScope():
        made = np.exp(A)
        raise KeyError
    with pytest.raises(GraphScopeError, match="left by an error") as raised:
        use(made)
    assert not str(raised.value).startswith("expected")


def test_a_closed_scope_does_not_begin_again():
    scope = Nd4j.graphScope()
    for _ in range(2):                      # after end() it may
        scope.begin()
        b = A * 2
        scope.end()
        assert b.tolist() == (A * 2).tolist()
    scope.close()
    scope.close()
    for begin in (scope.begin, scope.__enter__):
        with pytest.raises(GraphScopeError, match=r"closed, which is final \(at .*test_graph_scope.py:\d+.*Nd4j.graphScope"):
            begin()
    assert state.recorder is None
    with GraphScope() as other:
        pass
    with pytest.raises(GraphScopeError, match="closed"), other:
        pass


def test_a_scope_that_an_error_left_records_no_longer():
    def work():
        scope = Nd4j.graphScope()
        scope.begin()
        made.append(A + 1)
        raise KeyError
    made = []
    with pytest.warns(ResourceWarning, match=r"begun at .*test_graph_scope.py:\d+.*without end"):
        with contextlib.suppress(KeyError):
            work()
        gc.collect()
        assert state.recorder is None
    assert isinstance(A + 1, np.ndarray)
    with pytest.raises(GraphScopeError, match=r"begun at .*test_graph_scope.py:\d+: scope.begin\(\)"):
        made[0].sumNumber()


def test_errors_say_where_the_scope_that_still_records_was_begun():
    scope = Nd4j.graphScope()
    scope.begin()
    try:
        with pytest.raises(GraphScopeError, match=r"(?s)nested.*begun at .*: scope.begin\(\).*scope.end\(\)"):
            Nd4j.graphScope().begin()
        with pytest.raises(GraphScopeError, match=r"begun at .*: scope.begin\(\)"):
            float((A + 1).sum())
    finally:
        scope.close()
    assert isinstance(A + 1, np.ndarray)


def test_a_scope_is_ended_by_its_own_thread_and_closed_by_any():
    scope, wrong = GraphScope(), []

    def other():
        for call in (scope.end, scope.begin):
            try:
                call()
            except GraphScopeError as error:
                wrong.append(str(error))
        scope.close()
    scope.begin()
    b = A + 1
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(wrong) == 2 and all("another thread" in text for text in wrong)
    assert state.recorder is None and isinstance(A + 1, np.ndarray)
    with pytest.raises(GraphScopeError, match="close"):
        np.asarray(b)
