"""Changes in place while a scope records: what looks at the same memory, and arrays that are made on the way."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py import DataType, EagerOps, GraphScope, INDArray, Nd4j, Transforms, compiled
from dl4py.samediff.errors import DataTypeError, GraphScopeError, ShapeError

A = INDArray.of(np.arange(16, dtype=np.float64).reshape(4, 4))
ops = EagerOps()

#: Functions whose results look at the memory of ``x`` in NumPy.
VIEWS = """np.flip(x) | np.fliplr(x) | np.flipud(x) | np.rot90(x) | np.rollaxis(x, 1) | np.split(x, 2)[0] | np.hsplit(x, 2)[1]
np.vsplit(x, 2)[0] | np.array_split(x, 3)[1] | np.einsum("ii->i", x) | x.conj() | x.T | x[1:] | x[1, ::2] | x[:, None, 1:3]
np.diagonal(x) | x.diagonal() | np.swapaxes(x, 0, 1) | np.squeeze(x[None]) | x.T[1:, ::-1] | np.moveaxis(x[None], 0, 2) | x[1:][:2].T
np.flip(x)[1:]"""


@pytest.mark.parametrize("text", [t.strip() for line in VIEWS.splitlines() for t in line.split(" | ")])
def test_what_looks_at_an_array_sees_its_changes(text):
    look = eval(f"lambda x: {text}", {"np": np})

    def work(a):
        x = a * 1
        part, other = look(x), x[::2]
        x += 1
        seen = part * 1
        x[1] *= 3
        x[1:3, 1] -= other[0, :2]
        other *= 2
        return x, part, other, seen
    wanted = work(np.asarray(A))
    with GraphScope():
        found = work(A)
    for arrays in (found, compiled(work)(A), compiled(work)(np.asarray(A))):
        for made, right in zip(arrays, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(made), right)


def test_a_change_through_a_part_is_seen_in_the_whole():
    def work(a):
        x = a * 1
        row, corner = x[1], x[1:, 1:]
        row += 10
        corner[0] = 7
        corner.T[1:] *= 2
        return x, row, corner
    with GraphScope():
        found = work(A)
    for made, right in zip(found, work(np.asarray(A))):
        np.testing.assert_array_equal(np.asarray(made), right)


@pytest.mark.parametrize("take", ["y.assign({})", "y[...] = {}", "np.copyto(y, {})", "y[:] = {}", "np.add({}, 0, out=y)"])
@pytest.mark.parametrize("value", ["v", "v.T", "b", "b.T", "v[::-1]", "y[:, ::-1]"])
def test_what_was_taken_is_a_copy(take, value):
    def work(a, b):
        y, v = a * 1, a + 5
        look = v.T
        exec(take.format(value))
        y += 1
        v *= 2
        y[0] = 7
        return y, v, look
    b = INDArray.of(np.arange(16.0).reshape(4, 4) / 3)
    wanted = work(A, b)
    with GraphScope():
        found = work(A, b)
    for arrays in (found, compiled(work)(A, b)):
        for made, right in zip(arrays, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(made), right)
        assert not np.may_share_memory(np.asarray(arrays[0]), np.asarray(arrays[1]))
    assert b.tolist() == (np.arange(16.0).reshape(4, 4) / 3).tolist()


@pytest.mark.parametrize("text", ["np.ravel(x)", "x.reshape(2, 8)", "np.dsplit(x[None], 1)[0]", "x.T.ravel()"])
def test_an_array_that_may_be_looked_at_is_not_changed_unnoticed(text):
    """Whether NumPy copies depends on orders in memory."""
    with GraphScope():
        x = A * 1
        part = eval(f"lambda x: {text}")(x)
        with pytest.raises(GraphScopeError, match="looks at the same memory"):
            x.addi(1)
        assert part is not None


def test_gradients_go_through_changes_of_parts():
    def loss(x):
        y = x * 1
        y[0] *= 3
        y[:, 1] += y[:, 0]
        return (y ** 2).sum()

    def pure(x):
        y = np.concatenate([x[:1] * 3, x[1:]])
        return (np.stack([y[:, 0], y[:, 1] + y[:, 0], y[:, 2], y[:, 3]], axis=1) ** 2).sum()
    x = np.asarray(A) / 7
    np.testing.assert_allclose(compiled(loss).gradient()(x), compiled(pure).gradient()(x))


CHANGES = {
    "a factory": lambda a: Nd4j.zeros(DataType.DOUBLE, 4, 4).addi(a * 2),
    "a copy": lambda a: a.copy().muli(a * 2),
    "a duplicate": lambda a: a.dup().subi(np.tanh(a)),
    "another type": lambda a: a.astype(np.float32).addi(a * 2),
    "flat": lambda a: a.flatten().addi(np.ravel(a) * 2),
    "a function of Transforms": lambda a: _changed(a, lambda x: Transforms.tanh(x, False)),
    "a power": lambda a: _changed(a, lambda x: Transforms.pow(x, 2, False)),
    "reversed": lambda a: _changed(a, Nd4j.reverse),
    "sorted": lambda a: _changed(-a, lambda x: Nd4j.sort(x, 0, True)),
    "its own axes": lambda a: _changed(a, lambda x: x[1:].dup().transposei()),
    "a row": lambda a: _changed(a, lambda x: x.putRow(1, x[0].dup() * 2)),
    "a column": lambda a: _changed(a, lambda x: x.putColumn(1, x[0] * 2)),
    "elements": lambda a: _changed(a, lambda x: x.put([0, 1], 7).putScalar(3, 4)),
    "averages": lambda a: _changed(a, lambda x: Nd4j.averageAndPropagate([x, a * 2])),
    "a unit vector": lambda a: _changed(a[0], Transforms.unitVec),
    "a vector of zeros": lambda a: _changed(a[0] * 0, Transforms.unitVec),
    "no NaN": lambda a: _changed(a / a, Nd4j.clearNans),
}


def _changed(a, change):
    made = a * 1
    change(made)
    return made


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_made_while_recording_can_be_changed(name):
    with np.errstate(all="ignore"):
        wanted = CHANGES[name](A)
        with GraphScope():
            found = CHANGES[name](A)
        again = compiled(CHANGES[name])(A)
    for made in (found, again):
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(np.asarray(made), np.asarray(wanted), rtol=1e-6)


def test_transposei_of_what_is_recorded_turns_it_alone():
    with GraphScope():
        x = A[:3] * 1
        y = x.T
        assert x.transposei() is x and x.shape == (4, 3) and y.shape == (4, 3)
    assert x.tolist() == A[:3].T.tolist()


def test_arrays_that_are_made_keep_their_values_until_they_change():
    with GraphScope():
        x, n = Nd4j.ones(2, 2), Nd4j.scalar(3)
        assert x.sum(axis=0).shape == (2,) and float(n) == 3 and np.asarray(x).tolist() == [[1, 1], [1, 1]]
        assert [float(v) for v in np.asarray(A.copy())[0]] == [0, 1, 2, 3]
        x.addi(A[:2, :2])
        with pytest.raises(GraphScopeError, match="needs the values"):
            np.asarray(x)
    assert x.tolist() == [[1, 2], [5, 6]]


def test_dropout_drops_in_scopes_and_compiled_functions_as_step_by_step():
    ones = INDArray.of(np.ones((1, 400), np.float32))
    dropped = compiled(lambda x: ops.nn.dropout_inverted(x, 0.5), seed=3)
    with GraphScope(seed=3):
        recorded = ops.nn.dropout_inverted(ones, 0.5)
    for found in (ops.nn.dropout_inverted(ones, 0.5), recorded, dropped(ones), dropped(ones)):
        assert np.unique(found).tolist() == [0, 2] and 120 < np.count_nonzero(found) < 280
    value, slope = compiled(lambda x: ops.nn.dropout_inverted(x, 0.5).sum(), seed=3).value_and_gradient()(ones)
    assert value == slope.sum() and np.unique(slope).tolist() == [0, 2]


#: Functions of Nd4j and methods that are recorded.
CALLS = """Nd4j.tear(a, 1)[2] | Nd4j.meshgrid(a[0], a[1])[1] | Nd4j.diag(a) | Nd4j.diag(a[0]) | Nd4j.triu(a, 1)
Nd4j.sortRows(-a, 1, True) | Nd4j.sortColumns(-a, 0, True) | Nd4j.sortWithIndices(-a, 1, True)[0] | Nd4j.create(a)
Nd4j.scalar(a.sum()) | a.median(0) | a.percentile(30) | Transforms.allEuclideanDistances(a, a * 2, 1)
Transforms.mpow(a, 1) | a.unsafeDuplication() | A.dot(a) | A.take(a[0].astype(int) % 3) | INDArray.of(a)
divmod(a, 3)[0] | divmod(7, 1 + a)[1] | a.real | a.imag | a[np.array([True, False, True, False])]
a.compress([False, True], 0) | np.transpose(a, range(2)) | a.repmat(2, 1) | a[0].repmat(2, 1)
np.linalg.slogdet(a + np.eye(4))[1]"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [t.strip() for line in CALLS.splitlines() for t in line.split(" | ")])
def test_calls_that_are_recorded(text):
    call = eval(f"lambda a: {text}", globals())
    wanted = call(A * 1)
    with GraphScope():
        found = call(A * 1)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)


@pytest.mark.parametrize("ufunc, start, places, value", [
    (np.subtract, [True, True, False], [0], 1), (np.add, [True, False, False], [0, 0, 2], True), (np.multiply, [True, True], [0], 0),
    (np.maximum, [False, True], [0], True), (np.add, [-3, 2], [0], 1.7), (np.multiply, [3, 4], [0], 1.7),
    (np.add, np.array([3, 4], np.uint8), [0, 0], 1), (np.subtract, [1.5, 2.0], [1, 1], 1)])
def test_functions_at_positions_compute_in_the_type_of_numpy(ufunc, start, places, value):
    wanted = np.array(start)
    ufunc.at(wanted, places, value)
    with GraphScope():
        found = INDArray.of(np.array(start)).dup()
        ufunc.at(found, places, value)
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("start, value", [([True, False], 1), ([1, 2], 0.5)])
def test_a_position_that_comes_twice_is_refused_where_results_are_cut_off_each_time(start, value):
    with GraphScope():
        found = INDArray.of(np.array(start)).dup()
        with pytest.raises(GraphScopeError, match="may come twice"):
            np.subtract.at(found, [0, 0], value)


@pytest.mark.parametrize("op", ["scatter_sub", "scatter_div", "scatter_nd_sub"])
def test_truth_values_are_not_subtracted(op):
    x = INDArray.of(np.array([True, False]))
    places = INDArray.of(np.array([[0]] if "nd" in op else [0]))
    with pytest.raises(DataTypeError, match=op):
        ops.op(op, x, places, x[:1])


def test_values_of_another_shape_are_assigned_as_without_a_scope():
    def work(x):
        row, column, none = x[:1] * 2, x[:, :1] * 3, x[:0] * 1
        return row.assign(column), column.dup().assign(x[1]), none.assign(x[:, :0])
    wanted = work(A)
    with GraphScope():
        found = work(A)
    for a, b, c in zip(found, compiled(work)(A), wanted, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, c)
    with pytest.raises(ShapeError, match=r"assign: values of shape \(3,\) .*test_in_place"), GraphScope():
        (A * 1).assign(INDArray.of(np.ones(3)))
