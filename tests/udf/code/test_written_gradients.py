"""Gradients that are array code or kernels, outputs kept for them, surrogates, and ops that say that they change an input."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GradientError, GraphError, RegistrationError
from dl4py.samediff.executor.session import run
from dl4py.udf import RunContext, UserOp, check_op, user_op
from dl4py.udf.code.code_op import CodeOp
from dl4py.udf.code.kernels import compiled

X = np.random.default_rng(0).normal(size=(3, 4))


def gradient(op, x=X, **attributes):
    sd = SameDiff.create()
    op("y", sd.var("x", x), **attributes).mark_as_loss()
    return sd.calculate_gradients({}, "x")["x"]


def failed(report):
    return {c.name: c.detail for c in report.failures}


# Array code

@user_op("test_written.tanh", grad=lambda xp, inputs, outputs, grads, scale: [scale * grads[0] * (1 - (outputs[0] / scale) ** 2)])
def tanh(xp, x, *, scale: float = 1.0):
    return scale * xp.tanh(x)


@user_op("test_written.bias")
class Bias(UserOp):
    """Its gradients are larger than the inputs; they are summed."""
    def compute(self, xp, x, b):
        return x + b

    def grad(self, xp, inputs, outputs, output_grads):
        return [output_grads[0], output_grads[0] * 1]


@user_op("test_written.sorted", grad=lambda xp, i, o, g: [g[0][np.argsort(np.argsort(np.asarray(i[0])))]])
def ordered(xp, x):
    return np.sort(np.asarray(x))


@user_op("test_written.one_of_two", grad=lambda xp, i, o, g: [None, np.asarray(g[0])])
def one_of_two(xp, x, y):
    return np.asarray(y) + 0 * np.sort(np.asarray(x))


def test_array_code():
    check_op(tanh, [X], {"scale": 2.0}).raise_if_failed()
    check_op(Bias, [X, np.ones(4)]).raise_if_failed()
    np.testing.assert_allclose(gradient(tanh), 1 - np.tanh(X) ** 2)


def scaled_slope(xp, inputs, outputs, grads, factor, *, training):
    return [grads[0] * factor * (1 if training else 10)]


@user_op("test_written.scaled", grad=scaled_slope)
def scaled(xp, x, *, training, factor: float = 2.0):
    return np.asarray(x) * factor * (1 if training else 10)


@user_op("test_written.scaled_class")
class Scaled(UserOp):
    factor: float = 2.0

    def compute(self, xp, x, *, training):
        return np.asarray(x) * self.factor * (1 if training else 10)

    def grad(self, xp, inputs, outputs, output_grads, *, training):
        return scaled_slope(xp, inputs, outputs, output_grads, self.factor, training=training)


@pytest.mark.parametrize("name", ["scaled", "scaled_class"])
def test_array_code_is_told_of_the_run(name, tmp_path):
    sd = SameDiff.create()
    x = sd.var("x", X)
    (slope,) = sd.gradients(getattr(sd.test_written, name)("y", x, factor=3.0).sum(), [x])
    sd.save(tmp_path / "g.fb", True)
    for graph in (sd, SameDiff.load(tmp_path / "g.fb")):
        for training, by in ((True, 3.0), (False, 30.0)):
            found = run(graph, {}, [slope.name()], RunContext(training=training, seed=1, iteration=0))
            np.testing.assert_array_equal(found[slope.name()], np.full_like(X, by))


def test_array_code_that_only_runs_on_arrays():
    report = check_op(ordered, [np.array([3.0, 1.0, 2.0])])
    assert report.passed and "no second gradient" in next(c.detail for c in report.checks if c.name == "second gradient")
    assert not check_op(ordered, [np.array([3.0, 1.0, 2.0])], gradient=True).passed
    check_op(one_of_two, [np.array([1.0, 2.0]), np.array([0.5, 0.1])]).raise_if_failed()


def test_gradients_of_another_shape_are_refused():
    @user_op("test_written.wrong", grad=lambda xp, i, o, g: [np.asarray(g[0])[:1]])
    def wrong(xp, x):
        return np.sort(np.asarray(x))
    with pytest.raises(GradientError, match=r"shape \(1,\); expected \(3,\)"):
        gradient(wrong, np.array([1.0, 2.0, 3.0]))


# Kernels

def unit(xp, x):
    s = xp.sqrt((x * x).sum(axis=1))
    return x / s[:, None], s


def fill(x, y, s):
    for i in range(x.shape[0]):
        s[i] = np.sqrt((x[i] * x[i]).sum())
        y[i] = x[i] / s[i]


def fill_gradient(x, y, s, gy, gx):
    for i in range(x.shape[0]):
        d = (gy[i] * y[i]).sum()
        gx[i] = (gy[i] - y[i] * d) / s[i]


def beside(x, y, s, gy, gx):
    for i in range(x.shape[0] + 1):
        for j in range(x.shape[1]):
            gx[i, j] = gy[i, j]


@pytest.mark.slow
def test_kernels_of_gradients():
    op = user_op("test_written.unit", numba=fill, numba_grad=fill_gradient, saved=1)(unit)
    report = check_op(op, [X])
    report.raise_if_failed()
    assert "gradient kernel stays in its arrays" in {c.name for c in report.checks}
    plain = user_op("test_written.unit_plain", saved=1)(unit)
    np.testing.assert_allclose(gradient(op), gradient(plain), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(op(X), plain(X))
    assert gradient(op, X.astype(np.float16)).dtype == np.float16       # of which Numba knows nothing


def test_wrong_kernels_of_gradients():
    wrong = user_op("test_written.unit_wrong", numba_grad=lambda x, y, s, gy, gx: gx.fill(1.0), saved=1)(unit)
    assert "largest difference" in failed(check_op(wrong, [X]))["gradient kernel stays in its arrays"]
    outside = user_op("test_written.unit_outside", numba_grad=beside, saved=1)(unit)
    assert "beside its array" in failed(check_op(outside, [X]))["gradient kernel stays in its arrays"]


CUDA = """extern "C" __global__ void f(const T* x, const T* y, const T* gy, T* gx, double k, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    %s gx[i] = gy[i] * (T)k * (1 - y[i] / (T)k * y[i] / (T)k);
}"""


@pytest.mark.slow
def test_cuda_text_of_gradients():
    def code(xp, x, *, k: float = 2.0):
        return k * xp.tanh(x)
    check_op(user_op("test_written.cuda", cuda_grad=CUDA % "if (i < n)")(code), [X], device="emulated").raise_if_failed()
    found = failed(check_op(user_op("test_written.cuda_outside", cuda_grad=CUDA % "")(code), [X], device="emulated"))
    assert "not run" in str(found) or "behind output 0" in found["CUDA text of the gradient stays in its arrays"]
    for text, what in ((3, "cuda_grad must be CUDA C source text"), ("int f;", "no function that begins with")):
        with pytest.raises(RegistrationError, match=what):
            user_op("test_written.cuda_wrong", cuda_grad=text)(code)


# Outputs kept for gradients

def test_kept_outputs_are_not_seen():
    op = user_op("test_written.kept", saved=1)(lambda xp, x: (x * 2, x + 1, x * x))
    sd = SameDiff.create()
    made = op(["a", "b"], sd.var("x", X))
    assert [v.name() for v in made] == ["a", "b"] and len(op(X)) == 2
    alone = user_op("test_written.kept_one", saved=1)(lambda xp, x: (x * 2, x * x))
    assert alone(X).shape == X.shape and alone("c", sd.variable("x")).name() == "c"
    for call in (lambda: user_op("test_written.kept_none", saved=1)(lambda xp, x: x * 2)(X),
                 lambda: user_op("test_written.kept_all", saved=2)(lambda xp, x: (x, x * 2))(sd.variable("x"))):
        with pytest.raises(GraphError, match="has to return more"):
            call()
    with pytest.raises(RegistrationError, match="saved is the number"):
        user_op("test_written.kept_wrong", saved=-1)


def test_drawn_numbers_are_kept(tmp_path):
    @user_op("test_written.drop", stateful=True, saved=1, grad=lambda xp, i, o, g: [g[0] * o[1]])
    def drop(xp, x, *, context):
        kept = (context.random().random(x.shape) < 0.5).astype(x.dtype) * 2 if context.training else xp.ones_like(x)
        return x * kept, kept
    check_op(drop, [X]).raise_if_failed()
    sd = SameDiff.create()
    drop("y", sd.var("x", X)).sum("loss")
    sd.save(tmp_path / "a.sdz")
    again = SameDiff.load(tmp_path / "a.sdz")
    np.testing.assert_array_equal(again.output_single({}, "y"), X)
    again.set_loss_variables("loss")
    assert set(again.calculate_gradients({}, "x")["x"].ravel()) <= {0.0, 1.0, 2.0}


# Training and the run

@user_op("test_written.centred")
def centred(xp, x, *, training, eps: float = 0.0):
    return x - x.mean(axis=0) + eps if training else x * 0.5


@pytest.mark.slow
def test_training_alone_makes_code_stateful():
    assert centred.op_class.stateful and centred.op_class.attribute_names() == ("eps",)
    check_op(centred, [X]).raise_if_failed()
    np.testing.assert_allclose(centred(X), X * 0.5)
    np.testing.assert_allclose(centred(X, training=True), X - X.mean(0))
    np.testing.assert_allclose(centred.op_class()(X, context=RunContext(training=True)), X - X.mean(0))

    @user_op("test_written.centred_class")
    class Centred(UserOp):
        def compute(self, xp, x, *, training):
            return x - x.mean(axis=0) if training else x * 0.5
    np.testing.assert_allclose(Centred()(X, training=True), X - X.mean(0))
    check_op(Centred, [X]).raise_if_failed()
    flag = user_op("test_written.flag")(lambda xp, x, *, training=True: x * 2 if training else x)
    assert not flag.op_class.stateful and flag.op_class.attribute_names() == ("training",)


def test_the_run_is_given_on_arrays_alone():
    @user_op("test_written.draw", stateful=True)
    def draw(xp, x, *, context):
        return x + context.random().random(x.shape)
    run = RunContext(seed=3)
    np.testing.assert_array_equal(draw(X, context=run), draw(X, context=run))
    assert not np.array_equal(draw(X), draw(X))
    with pytest.raises(GraphError, match="a run of the graph says whether it trains"):
        centred(SameDiff.create().placeholder("x", DataType.FLOAT, -1, 3), training=True)
    for wrong in ({"context": 3}, {"training": "yes"}):
        with pytest.raises(GraphError, match="context must be a RunContext"):
            draw(X, **wrong)
    with pytest.raises(GraphError, match="it is called with inputs"):
        Bias()(X, X, training=True)


# What is declared

def test_surrogates_are_not_compared():
    op = user_op("test_written.rounded", gradient="surrogate", grad=lambda xp, i, o, g: [g[0]])(lambda xp, x: xp.round(x))
    report = check_op(op, [X])
    assert report.passed and sum("is declared a surrogate" in (c.detail or "") for c in report.checks) == 2
    np.testing.assert_array_equal(gradient(op), np.ones_like(X))
    honest = user_op("test_written.rounded_undeclared", grad=lambda xp, i, o, g: [g[0]])(lambda xp, x: xp.round(x))
    assert "gradient" in failed(check_op(honest, [X]))
    broken = user_op("test_written.rounded_broken", gradient="surrogate", grad=lambda xp, i, o, g: [g[0], g[0]])(lambda xp, x: xp.round(x))
    assert "2 gradients for 1 inputs" in failed(check_op(broken, [X]))["gradient"]


def test_kinds_of_gradients():
    zero = user_op("test_written.zero", gradient="zero")(lambda xp, x: xp.floor(x))
    np.testing.assert_array_equal(gradient(zero), np.zeros_like(X))
    none = user_op("test_written.none", gradient="none")(lambda xp, x: xp.floor(x))
    with pytest.raises(GradientError, match="has no gradient"):
        gradient(none)
    with pytest.raises(RegistrationError, match="gradient must be one of 'full', 'surrogate'"):
        user_op("test_written.kind", gradient="straight")(lambda xp, x: x)


def test_ops_change_nothing():
    with pytest.raises(RegistrationError, match="it says that it changes x. Ops of a graph change nothing"):
        user_op("test_written.changes", mutates=["x"])


def test_array_code_gets_inputs_outputs_and_gradients_apart():
    seen = []

    def grad(xp, inputs, outputs, grads):
        seen.append((len(inputs), len(outputs), len(grads)))
        return [grads[0] * outputs[1] + grads[1] * outputs[0], None]

    @user_op("test_written.counted", grad=grad)
    def counted(xp, x, y):
        return 2 * x, 3 * x + 0 * y

    sd = SameDiff.create()
    first, second = counted(sd.var("x", X), sd.var("y", X))
    (first + second).mark_as_loss()
    found = sd.calculate_gradients({}, "x")["x"]
    assert set(seen) == {(2, 2, 2)}
    np.testing.assert_allclose(found, 3 * X + 2 * X)


def test_a_gradient_that_fails_names_the_op_and_its_line():
    def grad(xp, inputs, outputs, grads):
        return [np.asarray(grads[0]) / np.asarray(inputs[0])["no field"]]
    with pytest.raises(Exception) as caught:
        gradient(user_op("test_written.failing", grad=grad)(lambda xp, x: np.sort(np.asarray(x))))
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "test_written.failing" in said and '["no field"]' in said


@pytest.mark.parametrize("kind", ["array_gradient", "numba_gradient", "cuda_gradient", None])
def test_any_form_of_a_gradient_is_one(kind):
    made = type("Made", (CodeOp,), {} if kind is None else {kind: "text"})
    assert made.has_coded_gradient() is (kind is not None)


def test_kernels_are_compiled_once():
    def kernel(x, y):
        y[0] = x[0]
    made = compiled(kernel)
    assert made.py_func is kernel and compiled(kernel) is made and compiled(made) is made
    assert compiled(staticmethod(kernel)).py_func is kernel
