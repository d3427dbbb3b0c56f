"""Values, types and errors of the base, math and bitwise ops."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import Conditions, Conv1DConfig, DataType, SameDiff
from dl4py.samediff.errors import DataTypeError, ShapeError
from dl4py.samediff.ir.op import OPS
from tests.helpers.randomgraphs import agree


@pytest.fixture
def sd() -> SameDiff:
    return SameDiff.create()


def test_unknown_sizes_stay_unknown_until_run(sd):
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    y = sd.concat(0, x, x)[1:].reshape(-1, 1)
    assert y.get_shape() == (-1, 1)
    assert y.eval({"x": np.ones((2, 3))}).shape == (9, 1)


def test_shape_of_a_static_array_is_known_early(sd):
    x = sd.var("x", np.ones((2, 6), np.float32))
    like = sd.var("like", np.ones((3, 4), np.float32))
    assert x.reshape(like.shape()).get_shape() == (3, 4)


def test_integer_division_truncates(sd):
    x = sd.constant(np.array([-7, 7], np.int32))
    assert sd.math.floor_div(x, sd.constant(np.array([2, 2], np.int32))).eval().tolist() == [-3, 3]


def test_conditions(sd):
    x = sd.constant(np.array([[0.2, 3.0], [np.nan, -4.0]]))
    assert sd.match_condition_count(x, Conditions.is_nan()).eval() == 1
    assert sd.replace_where(x, 0.0, Conditions.absGreaterThan(3.5)).eval()[1, 1] == 0
    assert sd.math.first_index(x, Conditions.less_than(0.0), 1).eval().tolist() == [-1, 1]


@pytest.mark.parametrize("condition", [Conditions.eps_equals(2.0, 0.25), Conditions.less_than(0.25)])
def test_conditions_come_back_from_files(sd, condition, tmp_path):
    sd.placeholder("x", DataType.DOUBLE, 4)
    sd.math.match_condition("found", sd.variable("x"), condition)
    sd.save(tmp_path / "graph.fb")
    x = np.array([1.9, 2.2, 2.3, 0.2])
    np.testing.assert_array_equal(SameDiff.load(tmp_path / "graph.fb").output_single({"x": x}, "found"), condition.test(np, x))


def test_log_sum_exp_is_stable_per_slice(sd):
    x = sd.constant(np.array([[1000.0, 1000.0], [-1000.0, -1000.0]]))
    np.testing.assert_allclose(sd.math.log_sum_exp(x, 1).eval(), [1000 + np.log(2), -1000 + np.log(2)])


def test_rotation_works_on_the_bit_pattern(sd):
    x = sd.constant(np.array([-2], np.int8))
    assert sd.bitwise.left_shift_cyclic(x, sd.constant(np.array([1], np.int8))).eval().tolist() == [-3]


def test_repeated_indices_accumulate(sd):
    table = sd.var("t", np.zeros((5, 2)))
    sd.gather(table, sd.constant(np.array([1, 1, 4])), 0).sum().mark_as_loss()
    assert sd.calculate_gradients(None, "t")["t"][:, 0].tolist() == [0, 2, 0, 0, 1]


def test_rounding_has_zero_gradient(sd):
    x = sd.var("x", np.array([0.4, 1.6]))
    sd.math.floor(x).sum().mark_as_loss()
    assert sd.calculate_gradients(None, "x")["x"].tolist() == [0, 0]


@pytest.mark.parametrize("call, error", [
    (lambda sd, x: x.reshape(4, 2), ShapeError),
    (lambda sd, x: x.sum(2), ShapeError),
    (lambda sd, x: x.permute(0, 0), ShapeError),
    (lambda sd, x: sd.concat(0, x, sd.constant(np.ones((2, 2)))), ShapeError),
    (lambda sd, x: x.mmul(x), ShapeError),
    (lambda sd, x: x[5], ShapeError),
    (lambda sd, x: sd.gather(x, sd.constant(np.array([7])), 0), ShapeError),
    (lambda sd, x: sd.split(x, 2, 1), ShapeError),
    (lambda sd, x: sd.slice(x, [0, 2], [2, 2]), ShapeError),
    (lambda sd, x: sd.math.exp(sd.constant(3)), DataTypeError),
    (lambda sd, x: sd.math.and_(x, x), DataTypeError),
    (lambda sd, x: sd.bitwise.left_shift(x, x), DataTypeError),
    (lambda sd, x: sd.gather(x, x, 0), DataTypeError),
])
def test_bad_input_leaves_the_graph_as_it_was(sd, call, error):
    x = sd.var("x", np.ones((2, 3)))
    with pytest.raises(error):
        call(sd, x)
    assert not sd.nodes()


def test_integer_powers_take_the_exponent_in_the_type_of_x(sd):
    x = sd.constant(np.array([2, 3, -2, -1, 1]))
    for fraction in (2.7, 0.5):
        with pytest.raises(DataTypeError, match="has a fraction"):
            sd.math.pow(x, fraction)
    np.testing.assert_array_equal(sd.math.pow(x, -1.0).eval(), [0, 0, 0, -1, 1])
    np.testing.assert_array_equal(sd.math.pow(x, sd.constant(np.array([-1, 2, 3, -3, -5]))).eval(), [0, 9, -8, -1, 1])
    np.testing.assert_array_equal(sd.math.pow(x, sd.constant(np.array([0.5, 2.9, 3, 2.2, -5]))).eval(), [1, 9, -8, 1, 1])


REFUSED = {
    "shape of floats": lambda sd, f, i: sd.fill(f, DataType.FLOAT, 1.0),
    "sizes of floats": lambda sd, f, i: sd.tile(sd.constant(np.ones((2, 2))), f),
    "axes of floats": lambda sd, f, i: sd.permute(sd.constant(np.ones((2, 2))), f),
    "integer predictions": lambda sd, f, i: sd.loss.mean_squared_error(i, i, None),
    "replacement of another type": lambda sd, f, i: sd.replace_where(f, i, Conditions.greater_than(0)),
    "diagonal of another type": lambda sd, f, i: sd.math.set_diag(sd.constant(np.ones((2, 2))), i),
    "upstream of another type": lambda sd, f, i: sd.nn.softmax_derivative(f, sd.constant(np.ones(2, np.float32))),
    "integer slopes": lambda sd, f, i: sd.nn.sigmoid_derivative(i, i),
    "integer activations": lambda sd, f, i: sd.nn.crelu(i),
    "integer contraction": lambda sd, f, i: sd.tensor_mmul(i, i, [0], [0]),
    "integer images": lambda sd, f, i: sd.cnn.conv1d(sd.constant(np.ones((1, 2, 3), int)), sd.constant(np.ones((2, 2, 2), int)), None,
                                                     Conv1DConfig(k=2)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_types_that_dl4j_refuses(sd, what):
    with pytest.raises(DataTypeError):
        REFUSED[what](sd, sd.constant(np.array([1.0, 2.0])), sd.constant(np.array([1, 0])))


def test_strided_slices_need_numbers_for_the_same_axes(sd):
    x = sd.constant(np.arange(5))
    for begin, end, strides in ([], [-4], [-1]), ([0, 0], [1], [1, 1]), ([], [], []):
        with pytest.raises(ShapeError, match="as many numbers each"):
            sd.strided_slice(x, begin, end, strides)


def test_embeddings_are_rows():
    sd, lookup = SameDiff.create(), OPS["embedding_lookup"]
    table, indices = sd.constant(np.eye(4, 3)), sd.constant(np.array([2, 0], np.int32))
    assert sd.add_op(lookup(), [table, indices]).get_shape() == (2, 3)
    for op, inputs in ((lookup(axis=1), [table, indices]), (lookup(indices=(1,)), [table])):
        with pytest.raises(ShapeError, match="takes the rows"):
            sd.add_op(op, inputs)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_shifts_by_any_count(sd, dtype):
    """Processors do what they like with counts that are negative or too large; both executors do what NumPy does."""
    kind, limits = DataType.of(dtype), np.iinfo(dtype)
    x, y = sd.placeholder("x", kind, -1, 1), sd.placeholder("y", kind, -1)
    names = [getattr(sd.bitwise, n)(n, x, y).name() for n in ("left_shift", "right_shift", "left_shift_cyclic", "right_shift_cyclic")]
    counts = [0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100] + [-1, -5, -99] * (limits.min < 0)
    feeds = {"x": np.array([limits.min, limits.max, 0, 1, 5], dtype).reshape(-1, 1), "y": np.array(counts, dtype)}
    found = agree(sd, feeds, *names)
    np.testing.assert_array_equal(found["left_shift"], feeds["x"] << feeds["y"])
    np.testing.assert_array_equal(found["right_shift"], feeds["x"] >> feeds["y"])
