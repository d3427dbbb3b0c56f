"""The op that stands for a gradient written as array code or a kernel: what it hands over, in which form results come back."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import GradientError
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.op import OPS
from dl4py.udf import user_op
from dl4py.udf.code.gradient_op import UserGradient, gradient_example

FLOAT = DataType.FLOAT


@pytest.fixture
def made():
    """An op of these options, forgotten afterwards."""
    names = []

    def op(code, **options):
        names.append(f"test_gradient_op.op{len(names)}")
        return user_op(names[-1], **options)(code).op_class()
    yield op
    for name in names:
        OPS.remove(name)


def opaque(xp, x):
    return np.asarray(x) * 2


FITTED = [  # shape of the gradient and of the input, axes that are summed
    ((3, 4), (3, 4), ()), ((3, 4), (4,), (0,)), ((3, 4), (1, 4), (0,)), ((3, 4), (3, 1), (1,)), ((3, 4), (1, 1), (0, 1)),
    ((3, 4), (), (0, 1)),
    ((2, 3, 4), (3, 1), (0, 2)), ((2, 3, 4), (1, 4), (0, 1)), ((1, 4), (1, 4), ()), ((1, 1), (1, 1), ()), ((), (), ()), ((3,), (), (0,)),
    ((0, 4), (4,), (0,)), ((2, 1, 4), (1, 4), (0,))]


@pytest.mark.parametrize(("given", "wanted", "axes"), FITTED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_summed_over_the_axes_along_which_inputs_were_stretched(made, given, wanted, axes, dtype):
    value, x = np.arange(float(np.prod(given))).reshape(given) + 1, np.ones(wanted, dtype)
    op = made(opaque, grad=lambda xp, i, o, g: [value])
    (found,) = UserGradient(op, 1, (0,)).compute(xp, x, x, x)
    assert found.shape == wanted and found.dtype == dtype
    np.testing.assert_array_equal(found, value.sum(axis=axes).reshape(wanted).astype(dtype))


@pytest.mark.parametrize(("given", "wanted"), [
    ((2,), (3,)), ((4,), (3, 4)), ((1,), (3,)), ((3, 4), (4, 3)), ((3, 4), (3,)), ((2, 3), (1, 4))])
def test_gradients_of_other_shapes(made, given, wanted):
    op = made(opaque, grad=lambda xp, i, o, g: [np.zeros(given)])
    x = np.ones(wanted)
    with pytest.raises(GradientError, match="the gradient has shape .*; expected .*, the shape of the input"):
        UserGradient(op, 1, (0,)).compute(xp, x, x, x)


def test_no_gradient_is_zeros_in_the_type_of_the_input(made):
    op = made(lambda xp, x, y: np.asarray(x) * np.asarray(y), grad=lambda xp, i, o, g: [None, g[0]])
    x, y = np.ones((2, 3), np.float32), np.ones((2, 3), np.float64)
    zero, one = UserGradient(op, 2, (0, 1)).compute(xp, x, y, y, y)
    assert zero.dtype == np.float32 and zero.shape == (2, 3) and not zero.any() and one.dtype == np.float64
    assert len(UserGradient(op, 2, (1,)).compute(xp, x, y, y, y)) == 1
    assert UserGradient(op, 2, (0, 1)).infer(*(TensorSpec(s, FLOAT) for s in ((2, 3), (4,), (5,), (5,)))) == (
        TensorSpec((2, 3), FLOAT), TensorSpec((4,), FLOAT))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("inputs", [1, 2, 3])
@pytest.mark.parametrize(("outputs", "saved"), [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2)])
def test_inputs_outputs_and_gradients_are_handed_over_apart(made, inputs, outputs, saved):
    """In plain calls, in nodes, and in checks."""
    seen = []

    def grad(xp, xs, ys, gs):
        seen.append([len(xs), len(ys), len(gs)])
        return [sum(g * (k + 1) for k, g in enumerate(gs)) * ys[-1] for _ in xs]

    def code(xp, *xs):
        return tuple(sum(xs[1:], xs[0]) * (k + 2) for k in range(outputs)) if outputs > 1 else sum(xs[1:], xs[0]) * 2
    op = made(code, grad=grad, saved=saved)
    arrays = [np.full(3, 1.0 + k) for k in range(inputs)]
    results = [np.sum(arrays, axis=0) * (k + 2) for k in range(outputs)]
    gradient, given = gradient_example(op, arrays, results)
    assert len(given) == inputs + 2 * outputs - saved and gradient.places == tuple(range(inputs)) and gradient.count == inputs
    wanted = sum(g * (k + 1) for k, g in enumerate(given[inputs + outputs:])) * results[-1]
    for found in gradient.compute(xp, *given):
        np.testing.assert_allclose(found, wanted)
    sd = SameDiff.create()
    variables = [sd.var(f"x{k}", a) for k, a in enumerate(arrays)]
    made_of = op(*variables)
    total = sum(v.sum() * (k + 3) for k, v in enumerate(made_of)) if isinstance(made_of, (list, tuple)) else made_of.sum() * 3
    total.mark_as_loss()
    found = sd.calculate_gradients({}, "x0")["x0"]
    np.testing.assert_allclose(found, sum((k + 3) * (k + 1) for k in range(outputs - saved)) * results[-1])
    assert seen and all(s == [inputs, outputs, outputs - saved] for s in seen)


def test_examples_of_gradients(made):
    op = made(lambda xp, x, n, y=None: np.asarray(x) * 2, grad=lambda xp, i, o, g: [g[0] * 2, None, None])
    x, n = np.ones(3, np.float32), np.arange(3)
    gradient, given = gradient_example(op, [x, n, None], [x])
    assert gradient.places == (0,) and all(a is b for a, b in zip(given, (x, n, None, x))) and len(given) == 5
    assert given[4].shape == (3,) and given[4].dtype == np.float32
    again = gradient_example(op, [x, n, None], [x])[1][4]
    np.testing.assert_array_equal(given[4], again)
    assert not np.array_equal(again, gradient_example(op, [x, n, None], [x], seed=1)[1][4])


@pytest.mark.parametrize(("specs", "takes"), [
    ([TensorSpec((3,), FLOAT)] * 3, True), ([TensorSpec((3,), FLOAT), None, TensorSpec((3,), DataType.LONG)], True),
    ([TensorSpec((-1,), FLOAT)] * 3, False), ([TensorSpec((3,), DataType.HALF)] * 3, False),
    ([TensorSpec((3,), DataType.BFLOAT16)] * 3, False),
    ([TensorSpec((3,), FLOAT), TensorSpec((3,), FLOAT), TensorSpec((3,), DataType.UTF8)], False)])
def test_what_kernels_of_gradients_take(made, specs, takes):
    op = made(opaque, numba_grad=lambda x, y, g, out: None)
    assert (UserGradient(op, 1, (0,)).cpu(*specs) is not None) == takes
    assert UserGradient(made(opaque, grad=lambda xp, i, o, g: [g[0]]), 1, (0,)).cpu(*specs) is None


def test_a_kernel_is_the_meaning_where_the_code_cannot_be_followed(made):
    def kernel(x, y, g, out, scale):
        for i in range(x.size):
            out[i] = scale * g[i] + x[i]
    op = made(lambda xp, x, *, scale=3.0: np.asarray(x) * scale, numba_grad=kernel)
    x, g = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    (found,) = UserGradient(op, 1, (0,)).compute(xp, x, x, g)
    np.testing.assert_array_equal(found, 3 * g + x)
    half = np.float16([1, 2])
    with pytest.raises(GradientError, match="its kernel does not take HALF, HALF, HALF. Write grad"):
        UserGradient(op, 1, (0,)).compute(xp, half, half, half)


def test_gradients_are_nodes_only_where_they_can_be(made):
    followed = made(opaque, grad=lambda xp, i, o, g: [g[0] * 2])
    alone = made(opaque, grad=lambda xp, i, o, g: [np.asarray(g[0]) * 2])
    kernel = made(opaque, grad=lambda xp, i, o, g: [g[0] * 2], numba_grad=lambda x, y, g, out: None)
    for op, one in ((followed, False), (alone, True), (kernel, True)):
        sd = SameDiff.create()
        x = sd.var("x", np.ones(3))
        (gradient,) = sd.gradients(op(x), x)
        assert ("user_gradient" in [node.op.id for node in sd.nodes()]) == one
        if op is not kernel:
            np.testing.assert_array_equal(gradient.eval(), [2, 2, 2])


def test_inputs_that_have_no_gradient(made):
    op = made(lambda xp, x, n, y: np.asarray(x) * np.asarray(n) * np.asarray(y),
              grad=lambda xp, i, o, g: [np.asarray(g[0]) * 5, None, np.asarray(g[0]) * 7])
    sd = SameDiff.create()
    x, n, y = sd.var("x", np.ones(3)), sd.constant("n", np.arange(3)), sd.var("y", np.ones(3))
    op(x, n, y).sum().mark_as_loss()
    found = sd.calculate_gradients({}, "x", "y")
    assert [found[k].tolist() for k in "xy"] == [[5] * 3, [7] * 3]


def test_code_that_cannot_be_followed_needs_a_kernel_of_its_gradient(made):
    """Without one its own reason is told, with one the kernel runs."""
    x = np.array([1.0, 2.0])
    cuda = 'extern "C" __global__ void f(const T* x, const T* y, const T* g, T* out, long long n) {}'
    for op in (made(opaque, cuda_grad=cuda), made(opaque, cuda_grad=cuda, infer=lambda x: x)):
        gradient, arrays = gradient_example(op, [x], [2 * x])
        with pytest.raises(GradientError, match="its code cannot be followed"):
            gradient.compute(np, *arrays)

    def kernel(x, y, g, out):
        for i in range(x.size):
            out[i] = 2 * g[i]
    gradient, arrays = gradient_example(made(opaque, cuda_grad=cuda, numba_grad=kernel), [x], [2 * x])
    np.testing.assert_allclose(gradient.compute(np, *arrays)[0], 2 * arrays[2])
