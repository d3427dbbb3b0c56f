"""What declarations of user-defined ops mean, part by part: inputs, attributes, versions, results, kernels."""
from __future__ import annotations

import dataclasses
import enum
import functools
from typing import ClassVar, Literal

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DataTypeError, GradientError, GraphError, RegistrationError, ShapeError
from dl4py.samediff.ir.held_values import FrozenDict
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, user_op
from dl4py.udf.code.failure import building, checked_results, checked_specs, collected_gradients, note_failure, sizes
from dl4py.udf.code.gpu_text import cuda_kernel, function_name
from dl4py.udf.code.kernels import bounds_checked, check_kernel, compiled
from dl4py.udf.ops.declaration import attribute, attributes_of, check_stateful, check_takes, inputs_of

FLOAT, LONG = DataType.FLOAT, DataType.LONG


class Way(enum.Enum):
    UP = 1
    DOWN = 2


@pytest.fixture
def names():
    """Ids that are forgotten afterwards."""
    made: list[str] = []
    yield lambda name: made.append(f"test_decl.{name}") or made[-1]
    for name in made:
        OPS.remove(name)


# Inputs and attributes

INPUTS = [
    (lambda xp: 0, 1, ""), (lambda xp, x: 0, 1, "x"), (lambda self, xp, x, y: 0, 2, "x y"), (lambda xp, x, m=None: 0, 1, "x m?"),
    (lambda xp, *xs: 0, 1, "*xs"), (lambda xp, x, *more: 0, 1, "x *more"), (lambda xp, x, *, k=1: 0, 1, "x"),
    (lambda xp, x, /, y=None, z=None, *, k: 0, 1, "x y? z?")]


@pytest.mark.parametrize("function, skip, inputs", INPUTS)
def test_inputs(function, skip, inputs):
    assert inputs_of(function, "acme.f", skip) == inputs


@pytest.mark.parametrize("function, skip, text", [
    (lambda: 0, 1, "first parameter must be xp"), (lambda self: 0, 2, "first parameter must be xp"), (lambda *xs: 0, 1, "first parameter"),
    (lambda xp, x, **k: 0, 1, r"\*\*k is not possible"), (lambda xp, x=1: 0, 1, "input 'x' has the default 1.*x=1")])
def test_inputs_that_are_none(function, skip, text):
    with pytest.raises(RegistrationError, match=f"acme.f.*{text}"):
        inputs_of(function, "acme.f", skip)


ATTRIBUTES = [  # annotation, default; the type and default that come of them
    (float, 1, float, 1.0), (int, 2, int, 2), (bool, True, bool, True), (str, "a", str, "a"), (DataType, "float", DataType, FLOAT),
    (Way, Way.UP, Way, Way.UP), (float | None, None, float | None, None), (tuple[int, ...], (1, 2), tuple[int, ...], (1, 2)),
    (tuple[float, ...] | None, None, tuple[float, ...] | None, None), (Literal["a", "b"], "b", Literal["a", "b"], "b"),
    (None, 2.5, float, 2.5), (None, 3, int, 3), (None, (1.5,), tuple[float, ...], (1.5,)), (None, (), tuple[int, ...], ()),
    (list[int], [1, 2], list[int], (1, 2)), (tuple[int, str], (1, "a"), tuple[int, str], (1, "a")), (bytes, b"a", bytes, b"a"),
    (dict[str, int], {"a": 1}, dict[str, int], FrozenDict(a=1)), (complex, 1, complex, 1 + 0j), (None, [1, 2], tuple[int, ...], (1, 2)),
    (None, {"a": 1.5}, dict[str, float], FrozenDict(a=1.5)), (None, ((1,), (2,)), tuple[tuple[int, ...], ...], ((1,), (2,))),
    (None, True, bool, True), ("float | None", None, float | None, None), ("Sizes", (1,), tuple[int, ...], (1,))]


@pytest.mark.parametrize("annotation, default, hint, kept", ATTRIBUTES)
def test_attributes(annotation, default, hint, kept):
    found = attribute("acme.f", "k", annotation, default, {"Sizes": tuple[int, ...]})
    assert found.type == hint and found.default == kept and type(found.default) is type(kept) and found.has_default
    if annotation is not None:
        assert not attribute("acme.f", "k", annotation, dataclasses.MISSING, {"Sizes": tuple[int, ...]}).has_default


@pytest.mark.parametrize("name, annotation, default, text", [
    ("compute", float, 1.0, "one of the op's own members"), ("version", int, 1, "own members"),
    ("k", None, None, "needs a type, such as k"),
    ("k", float, "a", "default of"), ("k", int, 1.5, "default of"), ("k", float, None, "default of"),
    *(("k", hint, None, "cannot be saved") for hint in (list, dict[str, object], tuple[int, list], tuple[list, ...], float | list,
                                                        Literal[1.5], Literal["a", 1.5], set[int], tuple[int, set[int]], int | set[int],
                                                        dict[set[int], int])),
    ("k", "Unknown", 1.0, "'Unknown' of attribute 'k' cannot be found")])
def test_attributes_that_are_none(name, annotation, default, text):
    with pytest.raises(RegistrationError, match=f"acme.f.*{text}"):
        attribute("acme.f", name, annotation, default, {})


def test_attributes_of_a_function():
    def f(xp, x, y=None, *, a: float, b: int = 2, c=True, context):
        return x
    found = attributes_of(f, "acme.f", {})
    assert {n: (a.type, a.has_default) for n, a in found.items()} == {"a": (float, False), "b": (int, True), "c": (bool, True)}


def test_hooks_take_the_attributes():
    for function in (None, iter, lambda *specs, a, b: 0, lambda *specs, **k: 0, functools.partial(lambda *specs, a, b: 0)):
        check_takes(function, "infer", "acme.f", ["a", "b"])
    for what, call in (("infer", r"infer\(\*specs, a, b\)"), ("grad", r"grad\(inputs, outputs, output_grads, a, b\)")):
        with pytest.raises(RegistrationError, match=f"acme.f.*{what} is given .* does not take b: {call}"):
            check_takes(lambda *specs, a: 0, what, "acme.f", ["a", "b"])


def test_runs_are_for_stateful_code():
    check_stateful(lambda xp, x, *, context: 0, "acme.f", True)
    check_stateful(lambda xp, x: 0, "acme.f", False)
    for function in (lambda xp, x: 0, lambda xp, context: 0):
        with pytest.raises(RegistrationError, match="takes the run as a keyword"):
            check_stateful(function, "acme.f", True)
    with pytest.raises(RegistrationError, match="what stateful ops are given"):
        check_stateful(lambda xp, x, *, context: 0, "acme.f", False)


@pytest.mark.parametrize("op_id", [None, 3, "", "swish", "acme.", ".swish", "acme.1x", "acme swish.x", "acme..x", "nn.swish", "math.x",
                                   "base.x", "var.y"])
def test_ids_that_are_none(op_id):
    with pytest.raises(RegistrationError, match="op id"):
        user_op(op_id)


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1"])
def test_versions_that_are_none(version):
    with pytest.raises(RegistrationError, match="positive int"):
        user_op("test_decl.v", version=version)
    with pytest.raises(RegistrationError, match="positive int"):
        user_op("test_decl.v")(type("V", (UserOp,), {"compute": lambda self, xp, x: x, "version": version}))


def test_versions(names):
    def code(xp, x):
        return x * 1
    found = [user_op(names("a"))(code), user_op(names("b"), version=3)(code), user_op(names("c"), 2)(code)]
    assert [f.version for f in found] == [f.op_class.version for f in found] == [1, 3, 2]
    assert [f.id for f in found] == ["test_decl.a", "test_decl.b", "test_decl.c"] and repr(found[1]) == "<user op 'test_decl.b' version 3>"

    class Base(UserOp):
        version: ClassVar[int] = 5

        def compute(self, xp, x):
            return x * 1
    base = user_op(names("base"), version=5)(Base)
    assert base.version == 5 and user_op(names("heir"))(type("Heir", (base,), {"__annotations__": {}})).version == 1


def test_what_cannot_be_decorated():
    for target, text in [(3, "decorates a function or a class"), (int, "class int must derive from UserOp"),
                         (type("No", (UserOp,), {}), "class No must define compute")]:
        with pytest.raises(RegistrationError, match=text):
            user_op("test_decl.no")(target)
    for cuda, text in [(3, "must be CUDA C source text, got int"), ("void f() {}", "has no function that begins")]:
        with pytest.raises(RegistrationError, match=text):
            user_op("test_decl.no", cuda=cuda)(lambda xp, x: x)
    assert OPS.find("test_decl.no") is None


# Calls

def test_calls_on_arrays_and_variables(names):
    @user_op(names("scaled"))
    def scaled(xp, x, m=None, *, k: float = 2.0, name: str = "n"):
        return x * k if m is None else x * k + m

    @user_op(names("both"))
    def both(xp, *xs, sign: int = 1):
        return xs[0] + sign * xs[-1], xs[0]
    x, y = np.float32([1, 2]), np.float32([10, 20])
    for found, wanted in [(scaled(x), [2, 4]), (scaled(x, k=3.0), [3, 6]), (scaled(x, y), [12, 24]), (scaled(x, None, k=1.0), [1, 2]),
                          (scaled("named", x, y), [12, 24]), (scaled(x, m=y), [12, 24])]:
        assert found.tolist() == wanted and found.dtype == np.float32
    assert [a.tolist() for a in both(x, y)] == [[11, 22], [1, 2]] and both(x, y, sign=-1)[0].tolist() == [-9, -18]
    sd = SameDiff.create()
    v, w = sd.var("v", x), sd.var("w", y)
    made = scaled("named", v, w, k=4.0)
    assert made.name() == "named" and made.eval().tolist() == [14, 28] and sd.producer("named").op.k == 4.0
    assert [o.name() for o in both(["a", "b"], v, w)] == ["a", "b"] and both(v, [w][0])[0].eval().tolist() == [11, 22]
    with pytest.raises(GraphError, match=r"test_decl.scaled cannot be called with .*did you mean 'k'[\s\S]*Ways to call it"):
        scaled(x, kk=3.0)
    op = scaled.op_class(k=5.0)
    assert op(x).tolist() == [5, 10] and op(v, name="z").name() == "z" and op("q", v).name() == "q" and op(x, y).tolist() == [15, 30]
    pair = both.op_class()
    assert [o.name() for o in pair([v, w], name=["c", "d"])] == ["c", "d"] and pair(x, y)[0].tolist() == [11, 22]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_calls_on_arrays_have_the_types_of_graphs(names, dtype):
    @user_op(names("count"))
    def count(xp, x):
        return xp.asarray(x).sum() * 1

    @user_op(names("written"), infer=lambda x: TensorSpec(x.shape, LONG))
    def written(xp, x):
        return x * 2
    x = np.arange(3).astype(dtype)
    sd = SameDiff.create()
    v = sd.constant("v", x)
    for function in (count, written):
        here, there = function(x), function(v).eval()
        np.testing.assert_array_equal(here, there)
        assert np.asarray(here).dtype == there.dtype


def test_random_calls_differ_each_time(names):
    @user_op(names("noise"), stateful=True)
    def noise(xp, x, *, context):
        return x + context.random().random(x.shape) + 10.0 * context.training
    x = np.zeros(4)
    first, second = noise(x), noise(x)
    assert not np.array_equal(first, second) and first.max() < 1


# Results of hooks

@pytest.mark.parametrize("shape, found", [((2, -1), (2, -1)), ([3], (3,)), ((), ()), (np.array([2, 3]), (2, 3)), ((np.int64(4),), (4,)),
                                          ((2**63 - 1,), (2**63 - 1,)), ((0,), (0,))])
def test_shapes(shape, found):
    assert sizes("it", shape) == found and all(type(n) is int for n in sizes("it", shape))


@pytest.mark.parametrize("shape", [(-2,), (2**63,), (-2, 3), (3, -2), (2**63, 2), (-1, 2**63), (1.0,), "ab", 3, None, {2}, ((1,),)])
def test_shapes_that_are_none(shape):
    with pytest.raises(ShapeError, match="it gave .* as a shape"):
        sizes("it", shape)


def test_specs_of_a_rule():
    one, two = TensorSpec([2, 3], FLOAT), TensorSpec(None, LONG)        # type: ignore[arg-type]
    assert checked_specs("it", one) == TensorSpec((2, 3), FLOAT) and checked_specs("it", [one]) == (TensorSpec((2, 3), FLOAT),)
    assert checked_specs("it", (one, two)) == (TensorSpec((2, 3), FLOAT), two)
    value = np.int64([5])
    assert checked_specs("it", TensorSpec((1,), LONG, value)).value is value
    for wrong in ((), None, 3, [one, 3], TensorSpec((2,), "float"), TensorSpec((-2,), FLOAT)):       # type: ignore[arg-type]
        with pytest.raises(ShapeError, match="it (returned|gave)"):
            checked_specs("it", wrong)


def test_results_of_code():
    specs = [TensorSpec((2,), FLOAT), TensorSpec((-1, 3), LONG), TensorSpec(None, FLOAT)]
    checked_results("it", [np.zeros(2), np.zeros((5, 3), int), 2.5], specs)
    checked_results("it", [np.array(["a", "b"], object)], [TensorSpec((2,), DataType.UTF8)])
    for results, error, text in [
            ([np.zeros(2)], ShapeError, "returned 1 outputs, its shape rule says 3"),
            ([np.zeros(3), np.zeros((5, 3)), 1], ShapeError, r"shape \(3,\) as output 0, its shape rule says \(2,\)"),
            ([np.zeros(2), np.zeros((5, 4)), 1], ShapeError, r"shape \(5, 4\) as output 1"),
            ([np.zeros(2), np.zeros((5, 3)), "a"], DataTypeError, "returned str 'a' as output 2"),
            ([np.zeros(2) * 1j, np.zeros((5, 3)), 1], DataTypeError, "as output 0")]:
        with pytest.raises(error, match=text):
            checked_results("it", results, specs)


def test_gradients_of_code():
    a, b = object(), object()
    assert collected_gradients("it", [a, b], 2) == collected_gradients("it", (a, b), 2) == [a, b]
    assert collected_gradients("it", a, 1) == [a] and collected_gradients("it", [None], 1) == [None]
    assert collected_gradients("it", [], 0) == []
    for found, count, text in [([a], 2, "1 gradients for 2"), ([a, b], 1, "2 gradients for 1"), (None, 1, "nothing for 1"),
                               (a, 2, "1 gradients"), ("ab", 2, "1 gradients for 2"), (None, 2, "nothing for 2")]:
        with pytest.raises(GradientError, match=f"it returned {text}"):
            collected_gradients("it", found, count)


def test_failures_keep_their_line():
    def fails(error):
        raise error

    def note(error):
        try:
            fails(error)
        except Exception as caught:
            note_failure(caught, "acme.f", fails)
            return caught.__notes__
    assert note(ValueError("x"))[0].endswith(": raise error") and "in the code of user op 'acme.f' at" in note(ValueError("x"))[0]
    with pytest.raises(GraphError, match=r"infer of f raised ValueError: x at .*test_declarations.py:\d+: raise error"), \
            building("infer of f", fails, GraphError):
        fails(ValueError("x"))
    with pytest.raises(ShapeError) as caught, building("infer of f", fails, GraphError):
        fails(ShapeError("mine"))
    assert str(caught.value) == "mine" and caught.value.__notes__[0].startswith("in infer of f at")


# Kernels

@pytest.mark.slow
def test_kernels_as_text_and_functions():
    def doubled(x, out):
        out[...] = 2 * x
    assert check_kernel("acme.f", None) is None and check_kernel("acme.f", doubled) is doubled
    read = check_kernel("acme.f", """
        def scaled(x, out):
            out[...] = math.floor(2.5) * np.sin(x)
    """)
    out = np.zeros(2)
    compiled(read)(np.float64([0, 1]), out)
    np.testing.assert_allclose(out, 2 * np.sin([0, 1]))
    fast = compiled(doubled)
    assert compiled(fast) is fast and compiled(staticmethod(fast)) is fast and compiled(doubled) is fast


def test_an_index_beside_an_array_is_noticed():
    def beyond(x, out):
        out[x.shape[0]] = 1.0
    for kernel in (beyond, staticmethod(beyond), compiled(beyond)):
        with pytest.raises(IndexError):
            bounds_checked(kernel)(np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("text, name", [
    ('extern "C" __global__ void f(', "f"), ('extern   "C"\n__global__ void __launch_bounds__ (256, 2) g2 (', "g2"),
    ("__global__ void f(", None),
    ('int x; extern "C" __global__ void first(int a) {} extern "C" __global__ void second(', "first"), ("", None)])
def test_names_in_cuda_text(text, name):
    assert function_name(text) == name


def test_launches_of_cuda_text(names):
    text = 'extern "C" __global__ void f(const T0* x, T1* y, double a, long long k, bool flag, long long n) {}'

    @user_op(names("cuda"), cuda=text)
    def f(xp, x, *, a: float = 0.5, k: int = 3, flag: bool = True):
        return x * a
    op, spec = f.op_class(), TensorSpec((1000,), DataType.DOUBLE)
    for n, blocks in ((1, 1), (256, 1), (257, 2), (1000, 4)):
        x, y = np.zeros(n), np.zeros(n)
        (launch,) = cuda_kernel(op, text, [spec], [spec]).actions(x, y)
        assert launch.name == "f" and launch.grid == (blocks, 1, 1) and launch.block == (256, 1, 1)
        assert launch.source == "#define T0 double\n#define T1 double\n#define T T0\n" + text
        given, out, a, k, flag, count = launch.args
        assert given is x and out is y and (a, k, flag, count) == (0.5, 3, True, n)
        assert [type(v) for v in (a, k, flag, count)] == [np.float64, np.int64, np.bool_, np.int64]
    assert cuda_kernel(op, text, [spec], [spec]).actions(np.zeros(0), np.zeros(0)) == []
    for specs in ([None], [TensorSpec((-1,), FLOAT)], [TensorSpec((2,), DataType.UTF8)]):
        assert cuda_kernel(op, text, specs, [spec]) is None

    @user_op(names("cuda_text"), cuda=text)
    def g(xp, x, *, how: str = "up"):
        return x * 1
    with pytest.raises(GraphError, match="how is none"):
        cuda_kernel(g.op_class(), text, [spec], [spec])


def test_annotations_of_the_class_itself_are_no_attributes(names):
    @user_op(names("plain"))
    class Plain(UserOp):
        kept: ClassVar = 3
        typed: ClassVar[int] = 4
        factor: float = 2.0

        def compute(self, xp, x):
            return x * self.factor * self.kept * self.typed
    assert list(Plain.attribute_names()) == ["factor"]
    np.testing.assert_array_equal(Plain(factor=0.5)(np.ones(2)), [6, 6])


@pytest.mark.parametrize("code", [lambda xp, x: x * 2, lambda xp, x: np.sort(np.asarray(x))])
def test_calls_on_arrays_keep_to_a_written_rule(names, code):
    wrong = user_op(names("ruled"), infer=lambda x: x.with_shape((2,)))(code)
    with pytest.raises(ShapeError, match="shape"):
        wrong(np.ones(3))


def test_a_function_without_the_array_namespace_is_told_at_the_call():
    @user_op("test_decl.no_namespace")
    def product(x, y):
        return x * y

    sd = SameDiff.create()
    x = sd.var("x", np.ones(3, np.float32))
    for args in ((x, x), (np.ones(3), np.ones(3))):
        with pytest.raises(GraphError, match=r"too many[\s\S]*no_namespace\(y\)\n.*function, 'x', is no .* def product\(xp, \.\.\.\)"):
            product(*args)
