"""Where checks of runs begin to complain: of each a wrong op that it finds, and right ones that it leaves alone."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, user_op
from dl4py.udf.checks import kernels, runs

X, K = np.array([0.25, -0.5, 1.0]), np.array([1, 2, 3])


@pytest.fixture
def made():
    """An op class of code that runs on arrays alone, forgotten afterwards."""
    names = []

    def op(code, infer=lambda self, *xs: xs[0], **body):
        names.append(f"test_edges.op{len(names)}")
        written = lambda self, xp, *xs: code(*map(np.asarray, xs))      # noqa: E731
        return user_op(names[-1])(type("Made", (UserOp,), {"compute": written, "infer": infer, **body}))()
    yield op
    for name in names:
        OPS.remove(name)


def writing(where):
    def code(x, *more):
        if where(x).any():
            x[...] = 7
        return np.zeros_like(x)
    return code


def refusing(where):
    def code(x, *more):
        if where(x).any():
            raise ValueError("refused")
        return x * 2
    return code


def views(x):
    return np.array([not x.flags.writeable])


@pytest.mark.parametrize(("where", "text"), [
    (lambda x: x > 0.9, "compute changes its input"), (lambda x: x > 9, "for some values"),
    (lambda x: (x > 0.4) & (x < 0.6), "for some values"), (lambda x: x == 0, "for some values"), (views, "for some values"),
    (lambda x: x > 11, None)])
def test_inputs_are_kept_for_the_examples_ten_times_them_their_negatives_and_zero(made, where, text):
    given = [X.copy(), None, K.copy()]
    if text is None:
        assert runs.keeps_inputs(made(writing(where)), given[:1]) is None
    else:
        with pytest.raises(CheckFailure, match=text):
            runs.keeps_inputs(made(writing(where)), given[:1])
    runs.keeps_inputs(made(lambda *xs: xs[0] * 1, inputs="*xs"), given)
    assert given[0].flags.writeable and given[2].flags.writeable and (given[0] == X).all()


@pytest.mark.parametrize(("where", "passes"), [
    (lambda x: x > 9, True), (lambda x: x == 0, True), (lambda x: (x > 0.4) & (x < 0.6), True), (views, False), (lambda x: x > 0.9, False)])
def test_values_that_no_example_has_may_be_refused(made, where, passes):
    op = made(refusing(where))
    if passes:
        assert runs.keeps_inputs(op, [X]) is None
        return
    with pytest.raises(ValueError, match="refused"):
        runs.keeps_inputs(op, [X])


@pytest.mark.parametrize(("largest", "threads"), [(9.0, 4), (3.5, 3), (2.5, 2), (1.5, 1)])
def test_threads_run_what_is_taken(made, largest, threads):
    assert runs.in_threads(made(refusing(lambda x: abs(x) > largest)), [X]) == f"{threads} threads"


def test_threads_are_silent_about_what_overflows(made):
    """Warnings are errors here, those of other threads too; the values stay as they are."""
    assert runs.in_threads(made(lambda x: np.exp(500 * x) - np.exp(500 * x)), [X]) == "4 threads"


@pytest.mark.parametrize(("repeats", "seconds", "calls"), [(7, 100, 7), (7, 0.0, 3), (2, 100, 2), (2, 0, 2)])
def test_so_many_calls(made, repeats, seconds, calls, monkeypatch):
    monkeypatch.setattr(runs, "_REPEATS", repeats)
    monkeypatch.setattr(runs, "_SECONDS", seconds)
    seen = []
    op = made(lambda x: (seen.append(x.copy()), x * 2)[1])
    assert runs.repeated(op, [X]) == f"{calls} calls" and len(seen) == calls + 1
    others = [x for x in seen if not np.array_equal(x, X)]
    np.testing.assert_array_equal(others, [X[::-1]])


def test_other_values_may_be_refused_between_equal_calls(made, monkeypatch):
    monkeypatch.setattr(runs, "_REPEATS", 3)
    assert runs.repeated(made(refusing(lambda x: x[0] == 1)), [X]) == "3 calls"
    assert runs.repeated(made(lambda x: x * 2), [np.float64(3)]) == "3 calls"


def changing(*results):
    """The results one after the other, the last again and again."""
    left = list(results)
    return lambda *xs: left.pop(0) if len(left) > 1 else left[0]


EPS = np.finfo(np.float32).eps
ONES = np.ones(3, np.float32)


@pytest.mark.parametrize(("second", "same"), [
    (ONES, True), (ONES + 4 * EPS, True), (ONES + 20 * EPS, False), (np.float32([1, np.nan, 1]), False), (np.ones(2, np.float32), False)])
def test_equal_calls_are_equal_but_for_the_last_bits(made, second, same, monkeypatch):
    monkeypatch.setattr(runs, "_REPEATS", 3)
    op = made(changing(ONES.copy(), ONES * 5, second), infer=lambda self, x: TensorSpec((-1,), DataType.FLOAT))
    if same:
        assert runs.repeated(op, [X]) == "3 calls"
        return
    with pytest.raises(CheckFailure, match="call 2 with the same inputs gives another result"):
        runs.repeated(op, [X])


@pytest.mark.parametrize(("first", "second", "same"), [
    (K, K + 0, True), (K, K + [0, 0, 1], False), (10**9 * K, 10**9 * K + 1, False), (X * np.nan, X * np.nan, True),
    (np.float64([1e-310]), np.float64([0]), True), (np.float64([1e-300]), np.float64([0]), False)])
def test_whole_numbers_nan_and_the_smallest(made, first, second, same, monkeypatch):
    monkeypatch.setattr(runs, "_REPEATS", 3)
    spec = TensorSpec(first.shape, DataType.of(first))
    op = made(changing(first, first + 5, second.copy()), infer=lambda self, x: spec)
    if same:
        assert runs.repeated(op, [X]) == "3 calls"
        return
    with pytest.raises(CheckFailure, match="another result"):
        runs.repeated(op, [X])


@pytest.mark.parametrize(("factor", "found"), [(1.025, False), (1.04, True), (0.975, False), (0.96, True), (-1.0, True), (np.inf, False)])
@pytest.mark.parametrize("several", [False, True])
def test_sixteen_bits_may_be_some_roundings_off(made, factor, found, several):
    def code(x):
        y = x * x.dtype.type(factor) if x.dtype.itemsize == 2 else x * 1
        return (x * 1, y) if several else y
    op = made(code, infer=lambda self, x: (x, x) if several else x)
    if not found:
        assert runs.of_types(op, [X], [DataType.HALF]) == "HALF ok"
        return
    with pytest.raises(CheckFailure, match=rf"output {int(several)} of HALF inputs is up to {factor:.3g}\d* where float64 gives 1 "):
        runs.of_types(op, [X], [DataType.HALF])


def test_sixteen_bits_where_wider_types_are_infinite_or_of_another_shape(made):
    wide = made(lambda x: x * 1 if x.dtype.itemsize == 2 else x / 0)
    assert runs.of_types(wide, [X], [DataType.HALF]) == "HALF ok"
    sized = made(lambda x: x[:2] if x.dtype.itemsize == 2 else x * 9, infer=lambda self, x: TensorSpec((-1,), x.dtype))
    assert runs.of_types(sized, [X], [DataType.HALF]) == "HALF ok"
    drawn = made(lambda x: x * 1, stateful=True, compute=lambda self, xp, x, *, context: x * (9 if x.dtype.itemsize == 2 else 1))
    assert runs.of_types(drawn, [X], [DataType.HALF]) == "HALF ok"


@pytest.mark.parametrize(("dtype", "tolerance"), [
    ("float16", 2e-2), ("bfloat16", 1e-1), ("float32", 1e-5), ("float64", 1e-9), ("int64", 0)])
def test_how_near_results_are(dtype, tolerance):
    kind = DataType.of(dtype).numpy
    for base in (100, 0):
        limit = tolerance * base + tolerance / 10
        for off, right in ((0.9 * limit, True), (1.1 * limit or 1, False)):
            for sign in (1, -1):
                wanted, got = np.array([base, 1]).astype(kind), np.array([base + sign * off, 1]).astype(kind)
                if right:
                    assert runs.agree([got], [wanted], "it") == pytest.approx(off, rel=0.05)
                else:
                    with pytest.raises(CheckFailure, match="output 0 of it: largest difference"):
                        runs.agree([got], [wanted], "it")


def test_what_is_compared_is_of_the_type_that_was_found():
    assert runs.agree([np.float32([0.1])], [np.float64([0.1])], "it") == 0
    found, wanted = [np.float64([3]), np.float64([1 + 1e-10, 5])], [np.float64([3]), np.float64([1, 5])]
    assert runs.agree(found, wanted, "it") == pytest.approx(1e-10, rel=1e-3)
    assert runs.agree([np.zeros((0, 3))], [np.zeros((0, 3))], "it") == 0
    with pytest.raises(CheckFailure, match=r"shapes \(0, 3\) and \(0, 2\)"):
        runs.agree([np.zeros((0, 3))], [np.zeros((0, 2))], "it")


def test_inputs_that_an_op_takes(made):
    kept = X.copy()
    assert runs.takes(made(writing(lambda x: x > 0.9)), [kept]) and (kept == X).all()
    assert runs.takes(made(lambda x, *more: x / 0, inputs="x y?"), [X, None])
    assert not runs.takes(made(refusing(lambda x: x > 0.9)), [X])
    drawn = made(None, stateful=True, compute=lambda self, xp, x, *, context: x + context.random().random(x.shape))
    assert runs.takes(drawn, [X]) and runs.takes(OPS["dropout"](0.5), [X]) and not runs.takes(OPS["matmul"](), [X, K[:2]])


# Kernels of gradients

@pytest.mark.parametrize(("sizes", "text"), [
    ([], "not run: there is no kernel for these inputs"), ([3], "1 shapes and types"), ([3, 2], "2 shapes and types"),
    ([3, 0, 2], "2 shapes and types"), ([0], "not run: there is no kernel for these inputs")])
def test_kernels_of_gradients_run_for_examples_that_are_not_empty(made, sizes, text):
    seen = []
    op = made(lambda x: x * 2, numba_gradient=lambda x, y, g, out: None)
    run = kernels._of_gradient(lambda gradient, examples: seen.append(examples[0][0].size) or "1 shapes and types")
    assert run(op, [[np.arange(float(n))] for n in sizes]) == text and seen == [n for n in sizes if n]


def test_why_kernels_of_gradients_are_not_run(made):
    op = made(refusing(lambda x: x > 2), numba_gradient=lambda x, y, g, out: None)
    run = kernels._of_gradient(lambda gradient, examples: "not run: no compiler")
    assert run(op, [[X], [X + 5]]) == "not run: no compiler" and run(op, [[X + 5]]).startswith("not run: there is no kernel")
