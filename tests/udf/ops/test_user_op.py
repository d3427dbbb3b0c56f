"""Ops from functions: inputs, attributes, shapes, gradients, calls."""
from __future__ import annotations

import enum

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import GradientError, GraphError, MissingOpError, RegistrationError, ShapeError
from dl4py.udf import check_op, user_op
from dl4py.udf.code.derived import way


class Kind(enum.Enum):
    SOFT = 1
    HARD = 2


@user_op("test_fn.swish", version=3)
def swish(xp, x, *, beta: float = 1.0):
    """Smooth relu."""
    return x / (1 + xp.exp(-beta * x))


@user_op("test_fn.normed")
def normed(xp, x, gain=None, bias=None, *, eps: float = 1e-5, axes: tuple[int, ...] = (-1,)):
    centred = x - x.mean(axis=axes, keepdims=True)
    y = centred / np.sqrt((centred ** 2).mean(axis=axes, keepdims=True) + eps)
    y = y if gain is None else y * gain
    return y if bias is None else y + bias


@user_op("test_fn.inverse")
def inverse(xp, x):
    return np.linalg.inv(np.asarray(x))


@user_op("test_fn.mixed")
def mixed(xp, *xs, scale: int = 2):
    return sum(xs[1:], xs[0]) * scale, xp.concatenate(xs, axis=0).sum(axis=1)


@user_op("test_fn.options")
def options(xp, x, *, kind: Kind = Kind.SOFT, to: DataType = DataType.FLOAT, label: str = "a", flag: bool = False, rest: int | None = None):
    return x * (1 if kind is Kind.SOFT else 2)


def graph(shape=(-1, 4), dtype=DataType.FLOAT):
    sd = SameDiff.create()
    return sd, sd.placeholder("x", dtype, *shape)


def test_every_way_of_calling_adds_the_same_op(rng):
    sd, x = graph()
    ways = [swish("y", x, beta=2.0), sd.test_fn.swish(x, beta=2.0), sd.op("test_fn.swish", "named", x, beta=2.0),
            sd.call_op("test_fn.swish", x, beta=2), swish(x, beta=2.0, name="other"), swish.op_class(beta=2.0)("again", x)]
    names = [v.name() for v in ways]
    assert [names[i] for i in (0, 2, 4, 5)] == ["y", "named", "other", "again"]
    assert len({sd.producer(v.name()).op for v in ways}) == 1
    a = rng.normal(size=(3, 4)).astype(np.float32)
    expected = a / (1 + np.exp(-2 * a))
    for value in sd.output({"x": a}, *ways).values():
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(swish(a, beta=2.0), expected, rtol=1e-6)
    assert swish(a).dtype == np.float32 and swish([1.0, 2.0]).dtype == np.float32


def test_several_inputs_in_a_list_or_one_after_the_other(rng):
    sd, x = graph()
    a = rng.normal(size=(3, 4)).astype(np.float32)
    constant = np.ones((3, 4), np.float32)
    for inputs in ([x, x], [x, constant], [constant, x]):
        wanted = None
        for found in (mixed(*inputs), mixed(inputs), mixed(tuple(inputs), scale=2), sd.test_fn.mixed(inputs), mixed.op_class()(inputs),
                      mixed.op_class()(*inputs)):
            assert [type(v).__name__ for v in found] == ["SDVariable", "SDVariable"]
            _, rows = sd.output({"x": a}, *found).values()
            wanted = rows if wanted is None else wanted
            np.testing.assert_array_equal(rows, wanted)


def test_the_decorated_function_keeps_its_name_and_text():
    assert swish.__name__ == "swish" and swish.__doc__ == "Smooth relu." and swish.id == "test_fn.swish" and swish.version == 3
    assert swish.op_class().version == 3


def test_shapes_are_derived_with_unknown_sizes():
    _, x = graph()
    assert swish(x).spec == TensorSpec((-1, 4), DataType.FLOAT)
    assert normed(x).spec == TensorSpec((-1, 4), DataType.FLOAT)
    total, rows = mixed(x, x, x)
    assert total.get_shape() == (-1, 4) and rows.get_shape() == (-1,)
    _, m = graph((-1, -1))
    assert inverse(m).get_shape() == (-1, -1)
    assert inverse(graph((3, 3))[1]).get_shape() == (3, 3)


def test_the_best_way_is_found():
    spec = TensorSpec((-1, 3), DataType.DOUBLE)
    assert way(swish.op_class(), [spec]) == "elementwise"
    assert way(normed.op_class(), [spec]) == "nodes"
    assert way(inverse.op_class(), [TensorSpec((3, 3), DataType.DOUBLE)]) == "trial"


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_optional_inputs_and_second_derivatives(rng, inputs):
    arrays = [rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)][:inputs]
    check_op(normed, arrays, {"eps": 1e-3}).raise_if_failed()


def test_an_optional_input_in_the_middle_can_be_left_out(rng):
    sd, x = graph(dtype=DataType.DOUBLE)
    a, bias = rng.normal(size=(2, 4)), np.arange(4.0)
    y = normed(x, None, sd.constant(bias))
    np.testing.assert_allclose(sd.output_single({"x": a}, y), normed(a) + bias)


@pytest.mark.slow
def test_several_outputs_any_number_of_inputs(rng):
    a = rng.normal(size=(2, 3))
    check_op(mixed, [a, a + 1, a * 2], {"scale": 3}).raise_if_failed()
    total, rows = mixed(a, a, scale=1)
    np.testing.assert_allclose(total, 2 * a)
    assert rows.shape == (4,)


def test_gradients_with_unknown_sizes_equal_those_with_known_ones(rng):
    a = rng.normal(size=(3, 4))
    found = []
    for shape in ((-1, 4), (3, 4)):
        sd, x = graph(shape, DataType.DOUBLE)
        y = normed(swish(x, beta=0.5))
        sd.set_loss_variables(sd.sum("loss", y * y * y))
        found.append(sd.calculate_gradients({"x": a}, "x")["x"])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_code_that_cannot_be_followed_has_no_gradient():
    sd, x = graph((3, 3))
    with pytest.raises(GradientError, match=r"test_fn.inverse.*Write one: grad"):
        sd.gradients(inverse(x), x)


def test_a_written_gradient_is_used_and_counted(rng):
    @user_op("test_fn.with_grad", grad=lambda inputs, outputs, output_grads, k: [output_grads[0] * k * 10])
    def with_grad(xp, x, *, k: float = 2.0):
        return x * k

    sd, x = graph()
    (g,) = sd.gradients(with_grad(x, k=3.0), x)
    np.testing.assert_allclose(sd.output_single({"x": np.ones((1, 4))}, g), 30)

    @user_op("test_fn.short_grad", grad=lambda inputs, outputs, output_grads: [output_grads[0]])
    def short_grad(xp, x, y):
        return x + y

    with pytest.raises(GradientError, match="1 gradients for 2 inputs"):
        sd.gradients(short_grad(x, x), x)


def test_attributes_are_typed_and_converted():
    op = options.op_class(kind="hard", to="DOUBLE", rest=3)
    assert op.kind is Kind.HARD and op.to is DataType.DOUBLE and op.rest == 3 and options.op_class().rest is None
    assert normed.op_class(axes=[0, 1]).axes == (0, 1) and type(swish.op_class(beta=2).beta) is float


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: swish(x, betta=1.0), "did you mean 'beta'"),
    (lambda x: swish(x, beta="big"), "beta must be float, got str 'big'"),
    (lambda x: swish(np.zeros(2), bta=1.0), "did you mean 'beta'"),
    (lambda x: swish.op_class(betta=1.0), "did you mean 'beta'"),
    (lambda x: swish.op_class(beta=None), "beta must be float"),
    (lambda x: swish(), "x is missing"),
    (lambda x: options(x, flag=1), "flag must be bool"),
    (lambda x: options(x, kind="medium"), "kind must be Kind"),
])
def test_wrong_calls_say_what_is_wrong(call, text):
    with pytest.raises(GraphError, match=text):
        call(graph()[1])


def test_wrong_inputs_fail_where_the_node_is_made():
    @user_op("test_fn.product")
    def product(xp, a, b):
        return xp.matmul(a, b)

    sd = SameDiff.create()
    with pytest.raises(ShapeError, match=r"test_fn.product.*test_user_op.py"):
        product(sd.placeholder("a", DataType.FLOAT, 2, 3), sd.placeholder("b", DataType.FLOAT, 4, 5))
    assert not sd.nodes()


def test_an_unknown_id_suggests_near_ones():
    sd, x = graph()
    with pytest.raises(MissingOpError, match=r"did you mean 'test_fn.swish'"):
        sd.op("test_fn.swisch", x)
    with pytest.raises(AttributeError, match="did you mean 'swish'"):
        sd.test_fn.swisch(x)


@pytest.mark.parametrize(("declare", "text"), [
    (lambda: user_op("swish"), "acme.swish"),
    (lambda: user_op("math.swish"), "namespace of dl4py"),
    (lambda: user_op("test_fn.v", version=0), "positive int"),
    (lambda: user_op("test_fn.bad1")(lambda: 0), "xp"),
    (lambda: user_op("test_fn.bad2")(lambda xp, x, k=2: 0), r"Put attributes after \*"),
    (lambda: user_op("test_fn.bad3")(lambda xp, x, **kw: 0), "name each attribute"),
    (lambda: user_op("test_fn.bad4")(lambda xp, x, *, k: 0), "needs a type"),
    (lambda: user_op("test_fn.bad5")(lambda xp, x, *, id=1: 0), "own members"),
    (lambda: user_op("test_fn.bad6")(lambda xp, x, *, k=len: 0), "cannot be saved"),
    (lambda: user_op("test_fn.bad7", cuda=7)(lambda xp, x: x), "source text"),
    (lambda: user_op("test_fn.bad8", numba="x = 1")(lambda xp, x: x), "one function"),
    (lambda: user_op("test_fn.bad9")(int), "derive from UserOp"),
])
def test_declarations_that_cannot_work_are_refused(declare, text):
    with pytest.raises(RegistrationError, match=text):
        declare()


def test_saved_and_loaded(tmp_path, rng):
    sd, x = graph()
    y = options("y", normed(swish(x, beta=2.0), axes=(0,)), kind=Kind.HARD, to=DataType.DOUBLE, label="b", flag=True)
    sd.save(tmp_path / "g.fb")
    loaded = SameDiff.load(tmp_path / "g.fb")
    assert [n.op for n in loaded.nodes()] == [n.op for n in sd.nodes()]
    a = rng.normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_array_equal(loaded.output_single({"x": a}, "y"), sd.output_single({"x": a}, y))


def test_the_slope_of_elementwise_code_is_one_node():
    @user_op("test_fn.root")
    def root(xp, x, y):
        return xp.where(x > 0, xp.sqrt(x) * y, 0 * x)
    sd = SameDiff.create()
    x, y = sd.var("x", np.array([0.0, 4.0])), sd.var("y", np.array([3.0, 5.0]))
    gradients = sd.gradients(root(x, y), [x, y])
    assert [n.op.id for n in sd.nodes()] == ["test_fn.root", "ones_as", "partial", "partial"]
    assert [g.eval().tolist() for g in gradients] == [[0, 1.25], [0, 2]]
