"""The parts that checks of ops are made of: examples that follow from others, fenced memory, comparisons, reports of child processes."""
from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
import time

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.spec import TensorSpec, may_equal
from dl4py.samediff.base.user_code.check_report import CheckFailure, CheckReport
from dl4py.samediff.errors import GraphError, MissingOpError, ShapeError
from dl4py.samediff.graph import child_process
from dl4py.samediff.graph.child_process import possible, run_apart
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, check_op, user_op
from dl4py.udf.checks import runs
from dl4py.udf.checks.examples import more_rows, other_ranks, other_sizes, variants
from dl4py.udf.checks.guard_zones import GuardedArray
from dl4py.udf.checks.kernels import on_cpu
from dl4py.udf.code.shape_probing import trial_specs, vary_sizes

X, Y, K = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array([10.0, 20.0], np.float32), np.array([1, 2, 3])


@pytest.fixture
def made():
    """An op class of code, forgotten afterwards."""
    names = []

    def op(code, **body):
        names.append(f"test_parts.op{len(names)}")
        return user_op(names[-1])(type("Made", (UserOp,), {"compute": code, **body}))()
    yield op
    for name in names:
        OPS.remove(name)


# Examples

def test_examples_in_other_types_and_shapes():
    found = dict(variants([X, None, K], ["float", "double"], [[(4,), (), (2, 2)]], 3))
    assert list(found) == ["float32", "float64", "shapes (4,), (), (2, 2)"]
    assert [[None if a is None else a.dtype.name for a in f] for f in found.values()] == [
        ["float32", None, "int64"], ["float64", None, "int64"], ["float32", None, "int64"]]
    drawn = found["shapes (4,), (), (2, 2)"]
    assert drawn[0].shape == (4,) and set(drawn[0]) <= set(X.reshape(-1))
    assert drawn[2].shape == (2, 2) and set(drawn[2].reshape(-1)) <= {1, 2, 3}
    assert [n for n, _ in variants([K], ["float", "double"], [], 3)] == ["as given"]
    again = dict(variants([X, None, K], [], [[(4,), (), (2, 2)]], 3))
    np.testing.assert_array_equal(again["shapes (4,), (), (2, 2)"][0], drawn[0])


def test_examples_of_other_sizes():
    twice = more_rows([X, None, Y, K, np.float32(3)])
    assert [None if a is None else a.shape for a in twice] == [(4, 3), None, (4,), (3,), ()]
    np.testing.assert_array_equal(twice[0], [*X, *X])
    assert more_rows([np.float32(1), None]) == more_rows([None]) == [] and [a.shape for a in more_rows([np.float32(1), X])] == [(), (4, 3)]
    shapes = [tuple(a.shape for a in e) for e in other_sizes([X, Y])]
    assert len(set(shapes)) == len(shapes) and set(shapes) == {
        ((4, 3), (4,)), ((2, 6), (2,)), ((4, 3), (2,)), ((2, 3), (4,)), ((1, 3), (1,)), ((2, 2), (2,)), ((1, 3), (2,)), ((2, 3), (1,)),
        ((2, 1), (2,)),
        ((0, 3), (0,)), ((2, 0), (2,)), ((0, 3), (2,)), ((2, 3), (0,))}
    assert other_sizes([np.float32(1)]) == []
    (grown,) = [e[0] for e in other_sizes([X]) if e[0].shape == (2, 6)]
    np.testing.assert_array_equal(grown, np.hstack([X, X]))


def test_examples_of_other_numbers_of_axes():
    shapes = [[None if a is None else a.shape for a in e] for _, e in other_ranks([X, None, Y])]
    assert shapes == [[(4, 2, 3), None, (4, 2)], [(4, 2, 3), None, (2,)], [(3,), None, ()]]
    assert [[a.shape for a in e] for _, e in other_ranks([np.float32(1)])] == [[(2,)], [(2,)]]


def refuse(text):
    raise ShapeError(text)


@pytest.mark.parametrize("rule, fails", [
    (lambda x: x.with_shape((x.shape[0],)), True), (lambda x: x.with_shape(x.shape[:-1]), False),
    (lambda x: x.with_shape((x.shape[0],)) if len(x.shape) == 2 else refuse("a matrix"), False)])
def test_rules_for_other_numbers_of_axes(made, rule, fails):
    op = made(lambda self, xp, x: np.asarray(x).sum(-1), infer=lambda self, x: rule(x))
    if not fails:
        runs.of_ranks(op, other_ranks([X]))
        return
    with pytest.raises(CheckFailure, match=r"with one more axis in front, which the code takes.* Count axes from the end"):
        runs.of_ranks(op, other_ranks([X]))


def test_sizes_that_a_rule_refuses(made):
    def rule(self, x, y):
        return x if may_equal(x.shape, y.shape) else refuse("one shape")
    op = made(lambda self, xp, x, y: np.asarray(x) + y, infer=rule)
    assert runs.of_sizes(op, [[X, X], [X, X[:1]]]) == "2, 1 of them refused"


# Memory

@pytest.mark.parametrize("byte", [255, 0x5A])
def test_fences(byte):
    fence = GuardedArray(X, byte)
    np.testing.assert_array_equal(fence.array, X)
    assert fence.array.ctypes.data % 64 == 0 and fence.array.flags.c_contiguous
    fence.check("it writes", "input 0")
    memory = fence.array.base
    while memory.base is not None and isinstance(memory.base, np.ndarray):
        memory = memory.base
    start = fence.array.ctypes.data - memory.ctypes.data
    for at, where in ((start - 1, "before"), (start + X.nbytes, "behind"), (0, "before"), (memory.nbytes - 1, "behind")):
        kept, memory[at] = memory[at], 7
        with pytest.raises(CheckFailure, match=f"it writes {where} input 0: 1 bytes"):
            fence.check("it writes", "input 0")
        memory[at] = kept
    fence.array[...] = 3
    fence.check("it writes", "input 0")
    unset = GuardedArray.unset((2, 3), np.dtype(np.float32), byte)
    assert (unset.array.view(np.uint8) == byte).all() and unset.array.shape == (2, 3)
    unset.check("it", "x")


def test_fences_begin_where_vectors_do_wherever_memory_lies():
    kept = [GuardedArray(np.zeros(n, np.uint8)) for n in range(1, 60, 3)]
    kept += [GuardedArray.unset((n,), np.dtype(np.int8), 255) for n in range(1, 60, 3)]
    assert {k.array.ctypes.data % 64 for k in kept} == {0}
    assert min(n for k in kept for n in (k._before.size, k._behind.size)) >= 1 << 14


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kernel, text", [
    (lambda x, out: None, "in 2 of 2 elements of output 0"),
    ("def f(x, out):\n    for i in range(x.shape[0]):\n        out[i] = 2 * x[i]\n        x[i] = 0", "the kernel changes its input x"),
    ("def f(x, out):\n    for i in range(x.shape[0]):\n        out[i] = 3 * x[i]", "the kernel and compute, for inputs FLOAT"),
    ("def f(x, out):\n    for i in range(x.shape[0]):\n        out[i] += 2 * x[i]", r"= and not \+="),
    ("def f(x, out):\n    for i in range(x.shape[0] + 1):\n        out[i] = 2 * x[i]",
     r"an index beside its array, for inputs of shapes \(2,\)"),
    ("def f(x, out):\n    for i in range(x.shape[0]):\n        out[i] = 2 * x[i]", None)])
def test_kernels_in_this_process(made, kernel, text):
    from dl4py.udf.code.kernels import check_kernel
    function = check_kernel("test_parts", "def f(x, out):\n    pass" if callable(kernel) else kernel)
    op = made(lambda self, xp, x: 2 * xp.asarray(x), numba_kernel=staticmethod(function))
    examples = [[Y], [np.arange(4.0)], ["no array"]]
    if text is None:
        assert on_cpu(op, examples[:2]) == "2 shapes and types"
        assert on_cpu(op, []) == "not run: there is no kernel for these inputs"
        return
    with pytest.raises(CheckFailure, match=text):
        on_cpu(op, examples[:2])


# Comparisons

def test_agreement():
    assert runs.agree([X, K], [X.astype(np.float64), K], "it") == 0.0
    assert runs.agree([X + np.float32(1e-6)], [X], "it") == pytest.approx(1e-6, rel=0.2)
    assert runs.agree([np.array(["a"], object)], [np.array(["b"], object)], "it") == runs.agree([X[:0]], [X[:0]], "it") == 0.0
    assert runs.agree([np.array([np.nan, np.inf, 1])], [np.array([np.nan, np.inf, 1])], "it") == 0.0
    for got, wanted, text in [
            (X, X[:1], r"output 0 of it: shapes \(2, 3\) and \(1, 3\)"), (X + 1, X, "output 0 of it: largest difference 1"),
            (np.array([np.nan, 1]), np.array([0.0, 1]), "NaN in one of them"), (K + 1, K, "largest difference 1"),
            (np.array([np.inf]), np.array([-np.inf]), "largest difference"),
            (np.float64([1 + 1e-8]), np.float64([1]), "largest difference 1e-08")]:
        with pytest.raises(CheckFailure, match=text):
            runs.agree([got], [wanted], "it")
        with pytest.raises(CheckFailure, match="output 1 of it"):
            runs.agree([X, got], [X, wanted], "it")


def test_inputs_that_are_written(made):
    def writes(self, xp, x, y):
        y *= 2
        return x + y[:, None]
    with pytest.raises(CheckFailure, match="compute changes its input y; work on a copy"):
        runs.keeps_inputs(made(writes), [X, Y])

    def sometimes(self, xp, *xs):
        xs[1][xs[1] > 100] = 0
        return xs[0] * 1
    with pytest.raises(CheckFailure, match="writes to an input, for some values"):
        runs.keeps_inputs(made(sometimes), [X, Y])

    def changes(self, xp, *xs):
        xs[1][...] = 0
        return xs[0] * 1
    with pytest.raises(CheckFailure, match="changes its input number 1"):
        runs.keeps_inputs(made(changes), [X, Y])

    def fails(self, xp, x):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        runs.keeps_inputs(made(fails), [X])
    assert runs.keeps_inputs(made(lambda self, xp, x: x * 1), [X]) is None


def test_calls_that_depend_on_each_other(made):
    assert runs.repeated(made(lambda self, xp, x: xp.asarray(x) * 1), [X]).endswith(" calls")
    room = np.zeros_like(X)

    def kept(self, xp, x):
        room[...] = x
        return room
    with pytest.raises(CheckFailure, match="lies in memory that the op keeps"):
        runs.repeated(made(kept), [X])

    def both(self, xp, x):
        a = np.asarray(x) * 1
        return a, a[:1]
    with pytest.raises(CheckFailure, match="output 1 lies in the memory of an earlier output"):
        runs.repeated(made(both), [X])
    calls = []

    def third(self, xp, x):
        calls.append(1)
        return np.asarray(x) + (len(calls) > 3)           # of at least four
    with pytest.raises(CheckFailure, match="with the same inputs gives another result"):
        runs.repeated(made(third, infer=lambda self, x: x), [X])


def test_what_a_graph_is_given_of_equal_and_of_strided_inputs(made, monkeypatch):
    op, fed, run = made(lambda self, xp, x, y: x * 2 + y), [], runs.run

    def heard(sd, feeds, *more):
        fed.append({n: np.shape(a) for n, a in feeds.items()})
        return run(sd, feeds, *more)
    monkeypatch.setattr(runs, "run", heard)
    scalar, other = np.array(2.0), X + 1
    for arrays, options, names in (
            ([X, X], {"shared": True}, {"input0": (2, 3)}), ([X, X], {}, {"input0": (2, 3), "input1": (2, 3)}),
            ([X, other], {"shared": True}, {"input0": (2, 3), "input1": (2, 3)}),
            ([X, scalar], {"strided": True}, {"input0": (3, 4), "input1": ()}),
            ([scalar, X], {"strided": True, "shared": True}, {"input0": (), "input1": (3, 4)})):
        runs.plan_rewrite(op, arrays, **options)
        assert fed.pop() == names
    assert runs.strided(op, [X, scalar]).startswith("largest difference")


def test_views_twins_types_and_sizes(made):
    right = made(lambda self, xp, x, y: x * 2 + y)
    for check in (runs.strided, runs.shared):
        assert check(right, [X, X + 1]).startswith("largest difference")
    assert runs.shared(right, [X, K]) == "no two inputs of one shape and type"
    assert runs.of_types(right, [X, X], [DataType.HALF, DataType.DOUBLE]) == "HALF ok, DOUBLE ok"
    assert runs.of_sizes(right, [[X, X], [X, Y], [Y, Y]]) == "3, 1 of them refused"
    assert runs.takes(right, [X, X]) and not runs.takes(right, [X, Y])

    def by_memory(self, xp, x, y):
        return np.asarray(x).ravel("K")[:2] + np.asarray(y).ravel("K")[:2]
    with pytest.raises(CheckFailure, match="compute on strided and on contiguous inputs"):
        runs.strided(made(by_memory, infer=lambda self, x, y: TensorSpec((2,), x.dtype)), [X, X])

    def by_identity(self, xp, x, y):
        return np.asarray(x) * (2 if x is y else 3)
    with pytest.raises(CheckFailure, match="one array twice"):
        runs.shared(made(by_identity, infer=lambda self, x, y: x), [X, X + 1])

    def singly(self, xp, x):
        if x.dtype == np.float16:
            raise ValueError("no halves")
        return np.asarray(x) * 1
    assert runs.of_types(made(singly, infer=lambda self, x: x), [X], [DataType.HALF, DataType.DOUBLE]) == "HALF refused, DOUBLE ok"
    wrong = made(lambda self, xp, x: np.asarray(x) * 1, infer=lambda self, x: TensorSpec((2, 3), x.dtype))
    with pytest.raises(CheckFailure, match=r"for inputs FLOAT\(4, 3\): "):
        runs.of_sizes(wrong, [[X], more_rows([X])])


@pytest.mark.parametrize("infer, text", [
    (lambda self, x: (x, x), "returned 1 outputs, its shape rule says 2"),
    (lambda self, x: TensorSpec((9, 9), x.dtype), r"its shape rule says \(9, 9\)"),
    (lambda self, x: TensorSpec((2, -1 if -1 in x.shape else 3), DataType.LONG), "infer says LONG, compute gives float32"),
    (lambda self, x: TensorSpec((2, 3), x.dtype) if x.shape == (2, 3) else TensorSpec((7, 7), x.dtype), "for inputs of unknown sizes"),
    (lambda self, x: TensorSpec((-1, 8), x.dtype) if x.shape == (-1, 3) else x, "some unknown"),
    (lambda self, x: x, None)])
def test_rules_of_shapes(made, infer, text):
    op = made(lambda self, xp, x: np.asarray(x) * 1, infer=infer)
    if text is None:
        assert runs.shape_rule(op, [X]) == "(2, 3)"
        return
    with pytest.raises((CheckFailure, GraphError), match=text):
        runs.shape_rule(op, [X])


# Child processes

@pytest.mark.skipif(not possible(), reason="no copies of processes here")
def test_checks_in_children(capsys):
    def fails():
        raise CheckFailure("found")
    checks = [("first", lambda: "text"), ("second", fails), ("exits", lambda: os._exit(3)), ("third", lambda: None),
              ("killed", lambda: os.kill(os.getpid(), signal.SIGTERM)), ("last", lambda: "end")]
    report = CheckReport("x")
    run_apart(report, checks)
    assert [(c.name, c.passed) for c in report.checks] == [
        ("first", True), ("second", False), ("exits", False), ("third", True), ("killed", False), ("last", True)]
    details = {c.name: str(c.detail) for c in report.checks}
    assert details["first"] == "text" and "found" in details["second"] and details["exits"] == "the process ended: exit status 3"
    assert details["killed"].startswith("the process ended: SIGTERM, ") and details["last"] == "end"
    assert possible() == (sys.platform == "linux")


@pytest.mark.skipif(not possible(), reason="no copies of processes here")
@pytest.mark.parametrize("end", ["fails", "exits"])
def test_checks_of_one_child(end):
    """What one check leaves in the process, as compiled code, the next one finds; a decisive one that fails is the last."""
    made = []

    def fails():
        raise CheckFailure("found")
    checks = [("makes", lambda: made.append(1)), ("finds", lambda: str(len(made))),
              ("decides", fails if end == "fails" else lambda: os._exit(3)), ("last", lambda: None)]
    for decisive, names in (({"decides"}, ["makes", "finds", "decides"]), ({"finds"}, ["makes", "finds", "decides", "last"])):
        report = CheckReport("x")
        run_apart(report, checks, decisive)
        assert [c.name for c in report.checks] == names and report.checks[1].detail == "1" and not made


@pytest.mark.skipif(not possible(), reason="no copies of processes here")
def test_a_child_that_takes_too_long_is_ended(monkeypatch):
    """One that ends by itself is not."""
    ended, kill = [], os.kill
    monkeypatch.setattr(child_process, "LIMIT", 1)
    monkeypatch.setattr(os, "kill", lambda process, number: ended.append(number) or kill(process, number))
    slow, quick = CheckReport("x"), CheckReport("y")
    run_apart(slow, [("waits", lambda: time.sleep(600)), ("last", lambda: None)])
    monkeypatch.undo()
    run_apart(quick, [("ends", lambda: os._exit(0)), ("last", lambda: None)])
    assert ended == [signal.SIGKILL]
    assert [str(c.detail) for c in slow.checks] == ["did not come back within 1 seconds"]
    assert [c.name for c in quick.checks] == ["ends", "last"] and quick.checks[0].detail == "the process ended: exit status 0"


@pytest.mark.skipif(not possible(), reason="no copies of processes here")
def test_a_child_ends_with_its_parent():
    """Two generations: the one between is killed while the last one waits."""
    there, own = os.pipe()

    def waits():
        os.write(own, b"begun")
        time.sleep(600)
    process = os.fork()
    if process == 0:
        run_apart(CheckReport("x"), [("waits", waits)])
        os._exit(0)
    os.close(own)
    assert os.read(there, 5) == b"begun"
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    assert select.select([there], [], [], 300)[0] and os.read(there, 1) == b""         # nobody holds the other end any more
    os.close(there)


@pytest.mark.skipif(not possible(), reason="no copies of processes here")
def test_the_line_is_that_of_the_thread_that_failed():
    def waits():
        time.sleep(60)

    def fails():
        threading.Thread(target=waits, daemon=True).start()
        time.sleep(0.05)
        ctypes.string_at(0)
    report = CheckReport("x")
    run_apart(report, [("fails", fails)])
    assert report.checks[0].detail.endswith(": ctypes.string_at(0)"), report


# Options

@pytest.mark.parametrize("options, text", [
    ({"order": 3}, "order must be 0, 1 or 2"), ({"order": True}, "order"), ({"seed": -1}, "seed must be an int from 0"),
    ({"seed": 1.5}, "seed"),
    ({"tolerance": 0}, "tolerance must be a positive"), ({"tolerance": "a"}, "tolerance"), ({"dtypes": "float"}, "dtypes must be a list"),
    ({"dtypes": 3}, "dtypes must be a list"), ({"shapes": "ab"}, "shapes must be a list"), ({"shapes": [3]}, "shapes must hold a list"),
    ({"shapes": [[3]]}, "as a shape"), ({"attributes": [1]}, "attributes must be a dict")])
def test_options_that_are_none(options, text):
    with pytest.raises((GraphError, ValueError), match=text):
        check_op("tanh", [X], **options)


def test_the_first_wrong_option_is_told():
    wrong = {"order": 9, "seed": -1, "tolerance": -1.0, "dtypes": 3, "shapes": 3}
    for name in list(wrong):
        with pytest.raises(GraphError, match=f"check_op: {name} must be"):
            check_op("tanh", [X], **wrong)
        del wrong[name]


@pytest.mark.parametrize("op", [3, None, int, UserOp])
def test_what_is_no_op(op):
    with pytest.raises(GraphError, match="check_op takes a decorated function"):
        check_op(op, [X])
    with pytest.raises(MissingOpError):
        check_op("no_such_op", [X])


# Shapes by trial

@pytest.mark.parametrize("code, shapes, wanted", [
    (lambda x: x, [(-1, 3)], [(-1, 3)]), (lambda x: x.T, [(-1, 3)], [(3, -1)]), (lambda x: x.sum(0), [(-1, 3)], [(3,)]),
    (lambda x: x.sum(1), [(-1, 3)], [(-1,)]), (lambda x: x.reshape(-1), [(-1, 3)], [(-1,)]), (lambda x: x[:-1], [(-1, 3)], [(-1, 3)]),
    (lambda x: (x, x.sum()), [(-1, 3)], [(-1, 3), ()]), (lambda x, y: x @ y, [(-1, 4), (4, -1)], [(-1, -1)]),
    (lambda x, y: x + y, [(-1, 1), (1, 5)], [(-1, 5)]), (lambda x, y: np.concatenate([x, y]), [(-1, 2), (3, 2)], [(-1, 2)]),
    (lambda x: x[x > 0.5], [(4,)], [(-1,)]), (lambda x: x.reshape(-1, 4), [(-1,)], [(-1, 4)]),
    (lambda x: np.zeros((2, 5)), [(-1,)], [(2, 5)]),
    (lambda x: x, [None], [None]), (lambda x: np.zeros(x.shape[-1:] * 2), [(-1, 3)], [(3, 3)])])
def test_shapes_by_trial(code, shapes, wanted):
    specs = [TensorSpec(s, DataType.FLOAT) for s in shapes]
    found = trial_specs("acme.f", lambda xp, *arrays: code(*arrays), specs)
    assert [s.shape for s in (found if isinstance(found, tuple) else [found])] == wanted
    assert isinstance(found, tuple) == (len(wanted) > 1)
    if None not in shapes:
        _, by_rule = vary_sizes(specs, lambda tried: tuple(np.shape(r) for r in (lambda r: r if isinstance(r, tuple) else (r,))(
            code(*[np.linspace(0, 1, int(np.prod(s.shape))).reshape(s.shape) for s in tried]))))
        assert all(a is None or len(a) == len(w) for a, w in zip(by_rule, wanted))
