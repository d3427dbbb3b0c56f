"""Ops from classes: own shape rule, gradient, kernel, validation; kernels; failures at run time."""
from __future__ import annotations

import functools
from typing import ClassVar

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DL4PyError, GraphError, RegistrationError, ShapeError
from dl4py.samediff.ir.op import Kernel
from dl4py.udf import UserOp, check_op, user_op


@user_op("test_class.pool", version=2)
class Pool(UserOp):
    """Largest of each ``width`` neighbours in the last axis."""

    width: int
    cap: float = 1e30
    note: ClassVar[str] = "not an attribute"

    def validate(self):
        if self.width < 1:
            raise ValueError(f"width must be positive, got {self.width}")

    def infer(self, x):
        if x.shape[-1] != -1 and x.shape[-1] % self.width:
            raise ShapeError(f"{x.shape[-1]} is no multiple of {self.width}")
        return x.with_shape((*x.shape[:-1], -1 if x.shape[-1] == -1 else x.shape[-1] // self.width))

    def compute(self, xp, x):
        return xp.minimum(x.reshape(*x.shape[:-1], -1, self.width).max(axis=-1), self.cap)


@user_op("test_class.cube")
class Cube(UserOp):
    def compute(self, xp, x):
        return np.array([v ** 3 for v in x.ravel().tolist()], x.dtype).reshape(x.shape)

    def grad(self, inputs, outputs, output_grads):
        return 3 * inputs[0] * inputs[0] * output_grads[0]

    def cpu(self, spec):
        return Kernel(lambda x, out: np.multiply(x * x, x, out=out))


@pytest.mark.slow
def test_a_written_shape_rule_and_attributes(rng):
    check_op(Pool, [rng.normal(size=(3, 6))], {"width": 3}, shapes=[[(9,)], [(1, 2, 3)]]).raise_if_failed()
    assert Pool.attribute_names() == ("width", "cap") and Pool.version == 2
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 6)
    assert Pool(width=2)(x).get_shape() == (-1, 3)
    with pytest.raises(ShapeError, match=r"6 is no multiple of 4.*test_class_form.py"):
        sd.test_class.pool(x, width=4)
    with pytest.raises(GraphError, match="width must be positive"):
        Pool(width=0)
    with pytest.raises(GraphError, match="width"):
        Pool()
    with pytest.raises(GraphError, match="did you mean 'cap'"):
        Pool(width=3, capp=1.0)


def test_a_written_gradient_of_code_on_values(rng):
    check_op(Cube, [rng.normal(size=(2, 3))]).raise_if_failed()
    np.testing.assert_allclose(Cube()(np.array([2.0])), [8])


def test_a_class_must_be_an_op_with_a_meaning():
    with pytest.raises(RegistrationError, match="compute"):
        user_op("test_class.empty")(type("Empty", (UserOp,), {}))


@user_op("test_class.noise")
class Noise(UserOp):
    stateful = True
    spread: float = 1.0

    def compute(self, xp, x, *, context):
        return x + self.spread * context.random().standard_normal(x.shape).astype(x.dtype)

    def grad(self, inputs, outputs, output_grads):
        return output_grads


def test_random_ops(rng):
    sd = SameDiff.create()
    x = sd.placeholder("x", DataType.FLOAT, -1, 3)
    a, b = Noise()(x), Noise()(x)
    assert a.get_shape() == (-1, 3)
    found = sd.output({"x": np.zeros((2, 3))}, a, b)
    assert not np.array_equal(*found.values())
    assert not np.array_equal(found[a.name()], sd.output_single({"x": np.zeros((2, 3))}, a))
    sd.set_seed(sd.seed)
    np.testing.assert_array_equal(found[a.name()], sd.output_single({"x": np.zeros((2, 3))}, a))
    assert check_op(Noise, [rng.normal(size=(2, 3))]).passed


def scaled(x, out, factor):
    for i in range(x.size):
        out.flat[i] = x.flat[i] * factor


@user_op("test_class.fast", numba=scaled)
def fast(xp, x, *, factor: float = 2.0):
    return x * factor


@user_op("test_class.wrong", numba="""
    def wrong(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + 1
""", cuda="extern \"C\" __global__ void wrong() {}")
def wrong(xp, x):
    return x * 1


def test_numba_kernels_are_used_and_compared(rng):
    check_op(fast, [rng.normal(size=(2, 3))], {"factor": 3.0}).raise_if_failed()
    report = check_op(wrong, [rng.normal(size=3)], gradient=False)
    assert report.failures[0].name == "kernel stays in its arrays"
    assert wrong.op_class.cuda_kernel.startswith("extern")


def fails(*args, **kwargs):
    raise KeyError("what the code says")


def op_of_hooks(form, hook):
    """An op in which the hook fails."""
    if form == "class":
        hooks = {"infer": lambda self, x: x, "grad": lambda self, i, o, grads: [grads[0]], "compute": lambda self, xp, x: np.asarray(x) * 1}
        hooks[hook] = (lambda self, xp, x: fails()) if hook == "compute" else fails
        return user_op(f"test_class.class_raises_{hook}")(type("Raises", (UserOp,), hooks | {"__module__": __name__}))()
    hooks = {"infer": lambda x: x, "grad": lambda i, o, grads: [grads[0]], hook: lambda *args: fails()}
    code = hooks.pop("compute", lambda xp, x: np.asarray(x) * 1)
    return user_op(f"test_class.function_raises_{hook}", **hooks)(lambda xp, x: code(xp, x))


@pytest.mark.parametrize("form", ["class", "function"])
@pytest.mark.parametrize("hook", ["infer", "compute", "grad"])
def test_errors_of_every_hook_name_op_hook_and_cause(form, hook):
    sd, made = SameDiff.create(), op_of_hooks(form, hook)
    x = sd.var("x", np.ones(2))
    with pytest.raises(KeyError if hook == "compute" else DL4PyError) as caught:
        y = made(x)
        y.eval()
        y.sum().mark_as_loss()
        sd.create_grad_function()
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert f"{form}_raises_{hook}" in text and "what the code says" in text and (hook == "compute" or f"{hook} of op" in text)


@user_op("test_class.power", grad=lambda inputs, outputs, grads, *, p: [grads[0] * inputs[0] ** (p - 1) * p + outputs[0] * 0])
def power(xp, x, *, p: float = 3.0):
    return np.asarray(x) ** p


def test_a_written_gradient_takes_inputs_outputs_and_attributes(rng):
    check_op(power, [rng.uniform(1, 2, size=(2, 3))], {"p": 2.5}).raise_if_failed()


@pytest.mark.parametrize(("text", "error"), [
    ("def one(x, out):\n    out[...] = x", None), ("", "defines 0"), ("def one(x, y):\n    pass\ndef two(x, y):\n    pass", "defines 2"),
    ("def one(x, out)", "cannot be compiled"), (3, "function or source text, got int")])
def test_numba_kernels_as_text(text, error):
    def op(xp, x):
        return x * 1
    if error is None:
        assert user_op("test_class.text_of_a_kernel", numba=text)(op).op_class is not None
        return
    with pytest.raises(RegistrationError, match=error):
        user_op("test_class.wrong_text", numba=text)(op)


def test_failures_name_op_node_and_both_lines():
    @user_op("test_class.fails")
    def fails(xp, x):
        values = np.asarray(x).tolist()
        return np.asarray(x) if max(values) < 7 else values["key"]

    sd = SameDiff.create()
    y = fails("result", sd.placeholder("x", DataType.FLOAT, -1))   # the graph line
    with pytest.raises(TypeError) as caught:
        sd.output_single({"x": np.full(5, 7)}, y)
    text = "\n".join(caught.value.__notes__)
    assert "test_class.fails" in text and "'test_class.fails'" in text and "x float32(5,)" in text
    assert "the graph line" in text and 'values["key"]' in text and text.count("test_class_form.py:") == 2


@pytest.mark.parametrize(("code", "text"), [
    (lambda xp, x: None, "returned None"),
    (lambda xp, x: x[:1], r"returned shape \(1,\) as output 0, its shape rule says \(3,\)"),
    (lambda xp, x: (x, x), "returned 2 outputs, its shape rule says 1"),
])
def test_results_that_break_the_shape_rule_are_refused(code, text):
    @user_op("test_class.breaks", infer=lambda spec: spec)
    def breaks(xp, x):
        return code(xp, np.asarray(x))

    sd = SameDiff.create()
    y = breaks(sd.placeholder("x", DataType.FLOAT, 3))
    with pytest.raises(GraphError, match=text):
        sd.output_single({"x": np.zeros(3)}, y)


def test_sizes_that_depend_on_values_are_unknown():
    @user_op("test_class.unique")
    def unique(xp, x):
        return np.unique(x)

    sd = SameDiff.create()
    y = unique(sd.placeholder("x", DataType.FLOAT, 6))
    assert y.spec == TensorSpec((-1,), DataType.FLOAT)
    np.testing.assert_array_equal(sd.output_single({"x": [1, 1, 2, 2, 2, 1]}, y), [1, 2])


@pytest.mark.parametrize("dtype", ["HALF", "BFLOAT16", "FLOAT"])
def test_floats_of_16_bits_run_without_the_numba_kernel(dtype):
    def kernel(x, y):
        for i in range(x.size):
            y[i] = 2 * x[i]

    doubled = user_op("test_class.doubled_16", numba=kernel)(lambda xp, x: x * 2)
    sd = SameDiff.create()
    y = doubled("y", sd.placeholder("x", DataType[dtype], -1))
    np.testing.assert_array_equal(sd.output_single({"x": np.arange(4.0)}, y).astype(float), [0, 2, 4, 6])


@pytest.mark.parametrize("method", ["__init__", "__new__", "__setattr__", "replace"])
def test_classes_that_make_their_objects_themselves_are_refused(method):
    body = {"compute": lambda self, xp, x: x * self.scale, method: lambda self, *args, **kwargs: None, "__module__": __name__}
    base = type("Base", (UserOp,), body)
    for cls in (base, type("Derived", (base,), {"__module__": __name__})):
        with pytest.raises(RegistrationError, match=rf"test_class.made.*must not define {method}.*fields"):
            user_op("test_class.made")(cls)


def test_what_an_op_holds_besides_its_attributes_is_refused_unless_it_follows_from_them():
    @user_op("test_class.holds")
    class Holds(UserOp):
        power: int = 2

        def compute(self, xp, x):
            return x ** self.exponent * self.twice

        def validate(self):
            object.__setattr__(self, "exponent", self.power + 0.0)

        @functools.cached_property
        def twice(self):
            return 2
    op, sd = Holds(power=3), SameDiff.create()
    x = sd.constant("x", np.array([1.0, 2.0]))
    for _ in range(2):
        assert op(np.array([1.0, 2.0])).tolist() == op(x).eval().tolist() == [2, 16]
    object.__setattr__(op, "exponent", 1.0)
    for given in (x, np.ones(2)):
        with pytest.raises(GraphError, match=r"test_class.holds.*exponent = 1.0, which is no attribute.*annotated field"):
            op(given)
    object.__setattr__(op, "exponent", 3.0)
    object.__setattr__(op, "table", np.eye(2))
    with pytest.raises(GraphError, match="table"):
        op(x)
