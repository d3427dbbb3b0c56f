"""What classes and decorators of user ops may say besides their code: each option by what it changes, and the answers that are refused."""
from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from dl4py import Nd4j
from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.arrays import INDArray
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DataTypeError, GraphError, RegistrationError, ShapeError
from dl4py.samediff.ir.op import OPS
from dl4py.udf import UserOp, user_op
from dl4py.udf.code.derived import way

FLOAT, DOUBLE, HALF = DataType.FLOAT, DataType.DOUBLE, DataType.HALF
X, Y = np.array([1.0, 2.0]), np.array([10.0, 20.0])
ONE = TensorSpec((3,), FLOAT)


@pytest.fixture
def names():
    """Ids that are forgotten afterwards."""
    made: list[str] = []
    yield lambda name="op": made.append(f"test_options.{name}") or made[-1]
    for name in made:
        OPS.remove(name)


def cls(body, base=UserOp):
    return type("Made", (base,), {"__module__": __name__, "__annotations__": {}, **body})


def plain(self, xp, x):
    return x * 2


# Attributes

@pytest.mark.parametrize(("error", "kind", "text"), [
    (ValueError("mine"), GraphError, "op 'test_options.op': mine"), (ShapeError("mine"), ShapeError, "^mine"),
    (DataTypeError("mine"), DataTypeError, "^mine"),
    (TypeError("mine"), GraphError, "validate of op 'test_options.op' raised TypeError: mine")])
def test_errors_of_validate(names, error, kind, text):
    def validate(self):
        if self.k > 3:
            raise error
    made = user_op(names())(cls({"compute": plain, "validate": validate, "k": 1, "__annotations__": {"k": int}}))
    assert made(k=3).k == 3
    with pytest.raises(kind, match=text) as caught:
        made(k=4)
    assert type(caught.value) is kind


def test_equality_is_of_class_and_values(names):
    body = {"compute": plain, "k": 1.0, "table": None, "__annotations__": {"k": float, "table": np.ndarray | None}}
    one, other = user_op(names("one"))(cls(body)), user_op(names("other"))(cls(body))
    table = np.arange(3.0)
    assert one() == one() and hash(one()) == hash(one(k=1)) and one() != other() and one() != one(k=2.0) and one() != 1.0
    assert one(table=table) == one(table=table.copy()) != one(table=table + 1)
    assert hash(one(table=table)) == hash(one(table=table.copy()))


# Names of results

@pytest.mark.parametrize(("given", "saved", "wanted"), [
    (["a", "b"], 0, ["a", "b"]), (["a", "b"], 1, ["a", "b"]), ("a", 0, ["a", "a:1"]), ("a", 1, ["a", "a:1"])])
def test_names_of_results_and_of_what_is_kept(names, given, saved, wanted):
    code = {0: lambda xp, x: (x * 2, x * 3), 1: lambda xp, x: (x * 2, x * 3, x * 4)}[saved]
    op = user_op(names(), saved=saved)(code)
    sd = SameDiff.create()
    made = op(sd.var("x", X), name=given)
    assert [v.name() for v in made] == wanted and [v.eval().tolist() for v in made] == [[2, 4], [3, 6]]
    if saved:
        assert sd.nodes()[0].outputs == (*wanted, "a:2") or list(sd.nodes()[0].outputs) == [*wanted, "a:2"]


# Kernels

@pytest.mark.parametrize(("specs", "result", "takes"), [
    ([ONE], ONE, True), ([TensorSpec((-1,), FLOAT)], ONE, False), ([TensorSpec((3,), HALF)], ONE, False),
    ([ONE], TensorSpec((3,), HALF), False), ([TensorSpec((3,), DataType.BFLOAT16)], ONE, False),
    ([TensorSpec((3,), DataType.UTF8)], ONE, False), ([TensorSpec(None, FLOAT)], ONE, False),
    ([ONE, None], ONE, True), ([None, ONE], ONE, True), ([ONE, TensorSpec((3,), HALF)], ONE, False)])
def test_what_numba_kernels_take(names, specs, result, takes):
    made = user_op(names())(cls({"compute": lambda self, xp, x, y=None: x * 2, "infer": lambda self, *given: result,
                                 "numba_kernel": lambda x, y, out: None}))
    assert (made().cpu(*specs) is not None) == takes
    assert user_op(names("without"))(cls({"compute": plain}))().cpu(ONE) is None


def test_kernels_are_given_the_attributes_in_their_order(names):
    def kernel(x, out, k, n):
        for i in range(x.size):
            out[i] = k * x[i] + n
    made = user_op(names(), numba=kernel)(cls({"compute": lambda self, xp, x: self.k * x + self.n, "k": 2.0, "n": 3,
                                               "__annotations__": {"k": float, "n": int}}))
    out = np.zeros(2)
    made(k=5.0).cpu(TensorSpec((2,), DOUBLE)).call(X, out)
    assert out.tolist() == [8, 13]


@pytest.mark.parametrize(("method", "answer", "right"), [
    ("flops", 0, True), ("flops", 7, True), ("flops", None, True), ("flops", -1, False), ("flops", 1.0, False),
    ("same_as", 0, True), ("same_as", 1, True), ("same_as", None, True), ("same_as", 2, False), ("same_as", -1, False),
    ("same_as", True, False),
    ("cpu", None, True), ("cuda", None, True), ("plan_rewrite", None, True), ("has_cpu", 1, False), ("has_cpu", False, True)])
def test_answers_that_plans_take(names, method, answer, right):
    of_class = method.startswith("has_")
    code = {method: classmethod(lambda cls: answer) if of_class else lambda self, *given: answer}
    made = user_op(names())(cls({"compute": lambda self, xp, x, y: x * y, **code}))()

    def ask():
        return getattr(made, method)(*([] if of_class else ["name"] if method == "plan_rewrite" else [[ONE], [ONE]] if method == "flops"
                                       else [ONE, ONE]))
    if right:
        assert ask() is answer
        return
    with pytest.raises(GraphError, match=f"{method} of op 'test_options.op' returned {answer!r}; it must return"):
        ask()


# What the class says

def test_inputs_and_signatures_of_the_class(names):
    made = user_op(names())(cls({"compute": lambda self, xp, *xs: xs[0] * self.k, "k": 1.0, "__annotations__": {"k": float},
                                 "inputs": "a b?", "signatures": ("a, k", "a, b, k")}))
    assert (made.inputs, made.signatures) == ("a b?", ("a, k", "a, b, k"))
    sd = SameDiff.create()
    x = sd.var("x", X)
    assert sd.test_options.op(x, 3.0).eval().tolist() == [3, 6] and sd.test_options.op(x, x, 4.0).eval().tolist() == [4, 8]
    several = user_op(names("several"))(lambda xp, x, *more, k=1.0: x * k)
    assert (several.op_class.inputs, several.op_class.signatures) == ("x *more", ("x, *more",))
    assert user_op(names("one"))(plain_function).op_class.signatures == ()


def plain_function(xp, x, *, k: float = 1.0):
    return x * k


def test_what_is_kept_and_the_kind_of_gradient_may_stand_in_the_class(names):
    made = user_op(names())(cls({"compute": lambda self, xp, x: (x * 2, x * 3), "saved": 1, "gradient": "zero"}))
    assert (made.saved, made.gradient) == (1, "zero") and made()(X).tolist() == [2, 4]
    assert user_op(names("told"), saved=2)(cls({"compute": lambda self, xp, x: (x, x, x), "saved": 1})).saved == 2
    assert user_op(names("heir"))(cls({}, made)).saved == 1
    over = user_op(names("over"), gradient="full")(cls({"compute": plain, "gradient": "zero"}))
    assert over.gradient == "full"
    with pytest.raises(RegistrationError, match="gradient must be one of 'full'"):
        user_op(names("wrong"))(cls({"compute": plain, "gradient": "some"}))


@pytest.mark.parametrize("saved", [-1, True, False, 1.0, "1", None])
def test_numbers_of_what_is_kept(saved):
    with pytest.raises(RegistrationError, match=r"saved is the number of outputs .*, got"):
        user_op("test_options.saved", saved=saved)


@pytest.mark.parametrize(("told", "written", "version"), [(None, None, 1), (None, 4, 4), (3, None, 3), (3, 3, 3), (1, 1, 1), (3, 4, None)])
def test_versions_of_decorator_and_class(names, told, written, version):
    body = {"compute": plain, **({} if written is None else {"version": written})}
    if version is not None:
        assert user_op(names(), version=told)(cls(body)).version == version
        return
    with pytest.raises(RegistrationError, match="user_op says version 3, the class says 4; write it once"):
        user_op("test_options.twice", version=told)(cls(body))


@pytest.mark.parametrize(("mutates", "text"), [
    ("state", "it changes state\\."), (["a", "b"], "it changes a, b\\."), (("x",), "changes x\\.")])
def test_ops_that_would_change_inputs(mutates, text):
    with pytest.raises(RegistrationError, match=text):
        user_op("test_options.changes", mutates=mutates)
    assert user_op("test_options.none", mutates=()) is not None


def node_gradient(self, inputs, outputs, grads):
    return [grads[0] * 3]


def array_gradient(self, xp, inputs, outputs, grads):
    return [grads[0] * 5]


@pytest.mark.parametrize(("of_base", "of_heir", "slope"), [
    (node_gradient, None, 3), (array_gradient, None, 5), (node_gradient, array_gradient, 5), (array_gradient, node_gradient, 3),
    (None, None, 2), (None, node_gradient, 3), (None, array_gradient, 5)])
def test_gradients_of_base_and_heir(names, of_base, of_heir, slope):
    base = user_op(names("base"))(cls({"compute": plain, **({"grad": of_base} if of_base else {})}))
    heir = user_op(names("heir"))(cls({"grad": of_heir} if of_heir else {}, base))
    for op, wanted in ((base, {None: 2, node_gradient: 3, array_gradient: 5}[of_base]), (heir, slope)):
        sd = SameDiff.create()
        op()(sd.var("x", X)).sum().mark_as_loss()
        assert sd.calculate_gradients({}, "x")["x"].tolist() == [wanted] * 2
        assert op.gradient_is_checked == (wanted != 2)


# How shapes and gradients are found

def f(code, **options):
    return lambda name: user_op(name, **options)(code).op_class()


TEXT = TensorSpec((3,), DataType.UTF8)


@pytest.mark.parametrize(("make", "specs", "wanted"), [
    (f(lambda xp, x, y: x * y), [ONE, ONE], "elementwise"), (f(lambda xp, x, y: x * 2), [ONE, ONE], "nodes"),
    (f(lambda xp, x: (x, x * 2)), [ONE], "nodes"), (f(lambda xp, x: (x * 2,)), [ONE], "elementwise"),
    (f(lambda xp, x: x * 2, numba=lambda x, y: None), [ONE], "nodes"), (f(lambda xp, x: np.sort(np.asarray(x))), [ONE], "trial"),
    (f(lambda xp, x, a=None: x if a is None else x * a), [ONE, ONE], "elementwise"),
    (f(lambda xp, x, a=None: x * 2 if a is None else x * a), [ONE, None], "nodes"),
    (f(lambda xp, x, a=None: x * 2 if a is None else x * a), [ONE], "elementwise"),
    (f(lambda xp, x, a=None, b=None: x * 2 if a is None else x * a), [ONE, ONE], "nodes"),      # which of them is given?
    (f(lambda xp, x, a=None, b=None: x * a * b), [ONE, ONE, ONE], "elementwise"),
    (f(lambda xp, x, *, context: x * 2, stateful=True), [ONE], "nodes"),
    (f(lambda xp, x, *, context: x[:1] if context.training else x, stateful=True), [ONE], "trial"),
    (f(lambda xp: xp.ones(3)), [], "nodes"), (f(lambda xp, x: x), [TEXT], "nodes")])
def test_ways(names, make, specs, wanted):
    assert way(make(names()), specs) == wanted


@pytest.mark.parametrize(("code", "error", "text"), [
    (lambda xp, x: np.asarray(x)["a"], ShapeError, "fails on stand-in arrays for .*IndexError"),
    (lambda xp, x: xp.matmul(x, xp.ones((7, 7))), ShapeError, "matmul|cannot|do not|differ|inner|shape")])
def test_errors_of_code_while_shapes_are_found(names, code, error, text):
    op = user_op(names())(code)
    with pytest.raises(error, match=text):
        op(SameDiff.create().placeholder("x", DOUBLE, 2, 3))


# Calls

def test_calls_of_arrays_of_nd4j_give_such_arrays(names):
    op = user_op(names())(lambda xp, x, y=None: (x * 2, x + 1))
    given = Nd4j.create([1.0, 2.0])
    for found in (op(given), op(X, given), op.op_class()(given)):
        assert all(isinstance(a, INDArray) for a in found)
    assert not any(isinstance(a, INDArray) for a in op(X, Y))


def test_what_a_run_is_told(names):
    op = user_op(names())(lambda xp, x, *, training: x * (3 if training else 2))
    x = SameDiff.create().var("x", X)
    assert [op(X, training=t).tolist() for t in (False, None, True)] == [[2, 4], [2, 4], [3, 6]] and op(X).tolist() == [2, 4]
    assert op(x, training=None).eval().tolist() == op.op_class()(x, training=None).eval().tolist() == [2, 4]
    for call in (op, op.op_class()):
        with pytest.raises(GraphError, match="training can be given with arrays only"):
            call(x, training=False)
    with pytest.raises(GraphError, match="it is called with inputs, and not with k"):
        op.op_class()(X, k=3)


def test_graphs_are_found_in_lists(names):
    total = user_op(names())(lambda xp, *xs: sum(xs[1:], xs[0]))
    sd = SameDiff.create()
    x = sd.var("x", X)
    for given in ([X, [x]], [[X, x]], [(X, x)], [X, x]):
        assert total(*given).eval().tolist() == [2, 4]
    assert total([X, Y]).tolist() == [11, 22]


class Typed(UserOp):
    """Annotations of the class itself are no attributes."""

    note: ClassVar[str] = "a"
    k: float = 1.0

    def compute(self, xp, x):
        return x * self.k


def test_class_variables_are_no_attributes(names):
    made = user_op(names())(type("Heir", (Typed,), {"__module__": __name__, "__annotations__": {}}))
    assert "note" not in made.attribute_names()
