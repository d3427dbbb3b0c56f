"""Shape rules by trial: they promise a size only where it depends on no unknown size and no value."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import ShapeError
from dl4py.udf import UserDefinedCustomOp, user_defined_op, user_op
from dl4py.udf.code.shape_probing import trial_specs

_numbers = itertools.count()


def op_of(code):
    """A user op whose code runs on arrays only."""
    return user_op(f"test_stand_in.op{next(_numbers)}")(code)


def given(sd, spec):
    """A variable: an array is stored, sizes (a type first, if it is no DOUBLE) are those of a placeholder."""
    if isinstance(spec, np.ndarray):
        return sd.var(sd.tables.names.unique("w"), spec)
    dtype, sizes = (spec[0], spec[1:]) if spec and isinstance(spec[0], DataType) else (DataType.DOUBLE, spec)
    return sd.placeholder(sd.tables.names.unique("x"), dtype, *sizes)


def shape_of(code, *specs):
    sd = SameDiff.create()
    return op_of(code)(*(given(sd, s) for s in specs)).spec.shape


def product(xp, x, w):
    return np.asarray(x) @ np.asarray(w)


def sum_product(xp, x, y, w):
    return (np.asarray(x) + np.asarray(y)) @ np.asarray(w)


@pytest.mark.parametrize(("code", "specs", "shape"), [
    (product, [(-1, -1), np.ones((3, 4))], (-1, 4)),                    # one stand-in size only lets the code run
    (product, [(-1, -1), np.ones((5, 2))], (-1, 2)),                    # none that is tried by itself does
    (product, [(-1, -1), np.ones((300, 3))], (-1, 3)),
    (product, [(-1, -1), np.ones((3, 3))], (-1, 3)),
    (product, [(-1, -1, -1), np.ones((7, 2))], (-1, -1, 2)),
    (sum_product, [(-1, -1), (-1, -1), np.ones((3, 4))], (-1, 4)),      # two unknown sizes that agree
    (lambda xp, x: np.asarray(x)[::4], [(-1,)], (-1,)),                 # equal for the smallest sizes
    (lambda xp, x: np.asarray(x)[:5], [(-1,)], (-1,)),
    (lambda xp, x: np.asarray(x)[:, :2], [(-1, 3)], (-1, 2)),
    (lambda xp, x: np.asarray(x).reshape(-1, 4), [(-1,)], (-1, 4)),
    (lambda xp, x: np.asarray(x)[np.arange(len(x) // 16 * 16)], [(-1, 5)], (-1, 5)),
    (lambda xp, x: np.asarray(x) + np.arange(6), [(-1,)], (6,)),        # 1 is broadcast, 6 is the only other size
    (lambda xp, x: np.asarray(x) + np.arange(6), [(-1, -1)], (-1, 6)),
    (lambda xp, x: np.sort(np.asarray(x))[-2:], [(-1,)], (-1,)),
    (lambda xp, x, y: np.asarray(x) + np.arange(6) + np.asarray(y), [(-1,), (6,)], (6,)),
    (lambda xp, x: np.median(np.asarray(x), axis=1), [(-1, -1, 3)], (-1, 3)),
    (lambda xp, x: np.median(np.asarray(x)), [(-1, -1, 3)], ()),
    (lambda xp, x: np.median(np.asarray(x), axis=0), [(4, 3)], (3,)),
])
def test_unknown_sizes(code, specs, shape):
    assert shape_of(code, *specs) == shape


INT = DataType.INT


@pytest.mark.parametrize(("code", "specs", "shape"), [
    (lambda xp, x, n: np.zeros(int(n)), [(2,), (INT,)], (-1,)),
    (lambda xp, n, x: np.repeat(np.asarray(x), int(n), axis=0), [(INT,), (2, 3)], (-1, 3)),
    (lambda xp, a, b: np.arange(int(a), int(b)), [(INT,), (INT,)], (-1,)),
    (lambda xp, x: np.unique(np.asarray(x)), [(INT, 6)], (-1,)),
    (lambda xp, x: np.bincount(np.asarray(x)), [(INT, 6)], (-1,)),
    (lambda xp, x: np.asarray(x)[np.asarray(x) > 0], [(6,)], (-1,)),
    (lambda xp, x: np.nonzero(np.asarray(x))[0], [(DataType.BOOL, 6)], (-1,)),
    (lambda xp, x, i: np.asarray(x)[np.asarray(i)], [(3, 7), (INT, 4)], (4, 7)),
])
def test_sizes_that_depend_on_values(code, specs, shape):
    assert shape_of(code, *specs) == shape


def test_the_rule_is_that_of_the_constant_at_hand():
    repeated = op_of(lambda xp, x, n: np.repeat(np.asarray(x), int(np.asarray(n)), axis=0))
    for n in (2, 3, 2):
        sd = SameDiff.create()
        y = repeated(sd.var("x", np.ones((2, 3))), sd.constant(np.array(n)))
        assert y.spec.shape == (2 * n, 3) and y.eval().shape == (2 * n, 3)


@pytest.mark.parametrize("executor", ["plan", "reference"])
def test_what_was_promised_runs(executor, rng, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    sd, w = SameDiff.create(), rng.normal(size=(3, 4))
    y = op_of(product)("y", sd.placeholder("x", DataType.DOUBLE, -1, -1), sd.var("w", w))
    for rows in (5, 1, 0, 3):
        x = rng.normal(size=(rows, 3))
        np.testing.assert_allclose(sd.output_single({"x": x}, y), x @ w)


@user_defined_op
class Blocks(UserDefinedCustomOp):
    def op_name(self):
        return "test_stand_in_blocks"

    def calculate_output_shape(self, oc):
        x, w = oc.input_array(0).shape, oc.input_array(1).shape
        if x[1] != w[0]:
            raise ValueError(f"{x[1]} columns do not fit {w[0]} rows")
        return [(x[0] // 4, w[1])]

    def exec(self, inputs, outputs):
        outputs[0][...] = (inputs[0] @ inputs[1])[:len(outputs[0])]


def test_shape_rules_in_java_form_are_varied_as_well():
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.DOUBLE, -1, -1), sd.var("w", np.ones((3, 2)))
    (y,) = sd.do_udf(Blocks(sd, [x, w]))
    assert y.spec.shape == (-1, 2)
    assert sd.output_single({"x": np.ones((9, 3))}, y).shape == (2, 2)
    with pytest.raises(ShapeError, match=r"calculate_output_shape of op 'test_stand_in_blocks'.*4 columns do not fit 3.*"
                                         "test_shape_probing.py"):
        sd.do_udf(Blocks(sd, [sd.placeholder("z", DataType.DOUBLE, -1, 4), w]))


def test_an_input_of_unknown_rank_is_tried_with_every_rank():
    sd = SameDiff.create()
    x = sd.call("base", "reshape", sd.placeholder("x", DataType.DOUBLE, 6), sd.placeholder("s", DataType.LONG, -1))
    assert x.spec.shape is None
    y = op_of(lambda xp, x: np.asarray(x) @ np.asarray(x).T + np.ones((2, 2)))(x)
    assert y.spec.shape is None
    out = sd.output({"x": np.arange(6.0), "s": np.array([2, 3])}, y.name())[y.name()]
    np.testing.assert_allclose(out, np.arange(6.0).reshape(2, 3) @ np.arange(6.0).reshape(2, 3).T + 1)


# Stand-ins

def stand_ins(*specs):
    """What the code is given, run for run."""
    seen = []
    trial_specs("acme.f", lambda xp, *arrays: (seen.append(arrays), np.zeros(2))[1], specs)
    return seen


def test_whole_numbers_that_stand_in():
    """Equal ones, one for each input, zeros, twice those for each input, and different ones in an array."""
    seen = stand_ins(TensorSpec((4,), DataType.LONG), TensorSpec((), INT), None, TensorSpec((2, 2), DataType.UBYTE))
    assert [[None if a is None else (a.dtype.name, a.tolist()) for a in run] for run in seen] == [
        [("int64", [a] * 4), ("int32", b), None, ("uint8", [[c] * 2] * 2)] for a, b, c in ((1, 1, 1), (1, 2, 4), (0, 0, 0), (2, 4, 8))] + [
        [("int64", [0, 1, 2, 0]), ("int32", 0), None, ("uint8", [[0, 1], [2, 0]])]]


@pytest.mark.parametrize("dtype", [DataType.DOUBLE, DataType.FLOAT, DataType.HALF])
def test_floating_numbers_that_stand_in(dtype):
    """Positive ones, ones, zeros, ones of either sign; the same whenever it is asked."""
    spec = TensorSpec((30, 20), dtype)
    positive, ones, zeros, signed, again = (run[0] for run in stand_ins(spec))
    assert all(a.dtype == dtype.numpy and a.shape == (30, 20) for a in (positive, ones, zeros, signed))
    assert (ones == 1).all() and (zeros == 0).all() and np.array_equal(positive, again)
    assert 0.09 < positive.min() < 0.15 and 0.95 < positive.max() <= 1 and -1 <= signed.min() < -0.95 and 0.95 < signed.max() <= 1
    np.testing.assert_array_equal(stand_ins(spec)[0][0], positive)
    assert positive[0, 0] != stand_ins(TensorSpec((600,), dtype))[0][0][0]


def test_texts_truth_values_and_constants_that_stand_in():
    constant = np.arange(3.0)
    seen = stand_ins(TensorSpec((2,), DataType.UTF8), TensorSpec((3,), DataType.DOUBLE, constant), TensorSpec((2,), DataType.BOOL))
    assert len(seen) == 5
    for text, value, truth in seen:
        assert text.tolist() == ["text", "text"] and np.array_equal(value, constant) and not np.shares_memory(value, constant)
        assert truth.dtype == bool and truth.shape == (2,)
    assert [t.tolist() for *_, t in seen] == [[True, True], [True, True], [False, False], [True, True], [False, True]]


@pytest.mark.parametrize(("result", "text"), [
    ((), "it returned no result"), (None, "it returned None"), ((np.ones(2), None), "it returned None")])
def test_code_without_a_result(result, text):
    with pytest.raises(ShapeError, match=text):
        trial_specs("acme.f", lambda xp, x: result, [TensorSpec((2,), DataType.FLOAT)])


def test_the_first_failure_is_told_with_the_inputs():
    def code(xp, x, y, z):
        raise ValueError(f"not for {len(x)}")
    with pytest.raises(ShapeError, match=r"'acme.f' fails on stand-in arrays for \(FLOAT\(-1,\), -, INT\(2,\)\): ValueError: not for 2\. "):
        trial_specs("acme.f", code, [TensorSpec((-1,), DataType.FLOAT), None, TensorSpec((2,), INT)])


def test_results_of_changing_number():
    with pytest.raises(ShapeError, match="'acme.f' returns 1 outputs for some inputs and 2 for others"):
        trial_specs("acme.f", lambda xp, n: (n,) * (1 + int(n.flat[0] > 1)), [TensorSpec((2,), INT)])


@pytest.mark.parametrize("code", [lambda xp, x: [x], lambda xp, x: (x,)])
def test_one_result_in_a_list_is_several(code):
    assert trial_specs("acme.f", code, [TensorSpec((2,), INT)]) == (TensorSpec((2,), INT),)
    assert trial_specs("acme.f", lambda xp, x: x, [TensorSpec((2,), INT)]) == TensorSpec((2,), INT)


def test_nothing_is_tried_any_more_once_every_size_is_unknown():
    seen = []
    found = trial_specs("acme.f", lambda xp, x: (seen.append(1), np.zeros(len(seen)))[1], [TensorSpec((3,), INT)])
    assert found.shape == (-1,) and len(seen) == 2


@pytest.mark.parametrize(("unknown", "found"), [(5, (2,)), (6, (2,)), (7, (-1,))])
def test_a_size_that_only_a_known_input_explains(unknown, found):
    """Where no unknown size can be another alone, one that an input has is taken for its own, as long as there are few."""
    def code(xp, x, y):
        if set(x.shape) != {2}:
            raise ValueError("other sizes")
        return np.zeros(y.shape)
    assert trial_specs("acme.f", code, [TensorSpec((-1,) * unknown, DataType.FLOAT), TensorSpec((2,), INT)]).shape == found


def test_code_that_fails_by_nodes_and_on_arrays_tells_of_arrays():
    """What it says of variables is no error of this library: that of the trial is told, which says what to do."""
    def code(xp, x):
        raise ValueError("not so")
    op = user_op("test_shape_probing.fails")(code).op_class()
    with pytest.raises(ShapeError, match="cannot be derived: the code of 'test_shape_probing.fails' fails on stand-in arrays"):
        op.infer(TensorSpec((2,), DataType.FLOAT))
