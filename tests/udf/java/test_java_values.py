"""What ops in DL4J's form hold and are given: argument lists, variables, contexts, descriptors; and when two of them are the same."""
from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.javanames import to_camel
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import GradientError, GraphError, RegistrationError, ShapeError
from dl4py.udf import OpContext, UserDefinedCustomOp, user_defined_op
from dl4py.udf.java.op_context import Argument, LongShapeDescriptor, at
from dl4py.udf.java.restoring import same

FLOAT, LONG = DataType.FLOAT, DataType.LONG


class Way(enum.Enum):
    UP = 1
    DOWN = 2


@user_defined_op
class Kept(UserDefinedCustomOp):
    def op_name(self):
        return "test_decl_kept"

    def calculate_output_shape(self, oc):
        return [oc.input_array(0).shape]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0] * (1 if not self.t_arguments else self.t_arguments[0])


LISTS = {"i": (3, -4), "t": (0.5, 2.0), "b": (True, False), "d": (DataType.LONG, DataType.FLOAT), "s": ("a", "b")}


@pytest.mark.parametrize("kind", LISTS)
def test_lists_of_arguments(kind):
    first, second = LISTS[kind]
    op = Kept()
    assert getattr(op, f"num_{kind}_arguments")() == 0 and getattr(op, f"{kind}_args")() == []
    getattr(op, f"add_{kind}_argument")(first, second)
    for spelt in (str, to_camel):
        get, every, count = (getattr(op, spelt(n)) for n in (f"get_{kind}_argument", f"{kind}_args", f"num_{kind}_arguments"))
        assert [get(i) for i in (0, 1, -1)] == [first, second, second] and every() == [first, second] and count() == 2
    getattr(op, f"{kind}_args")().clear()
    assert getattr(op, f"{kind}_arguments") == [first, second]
    for other in LISTS:
        assert (getattr(op, f"num_{other}_arguments")() > 0) == (other == kind)
    with pytest.raises(GraphError, match=f"the {kind}_arguments of op 'test_decl_kept' are asked for by their number, 0 to 1"):
        getattr(op, f"get_{kind}_argument")(2)
    sd = SameDiff.create()
    x = sd.var("x", np.ones(2, np.float32))
    added = Kept(sd, x)
    getattr(added, f"add_{kind}_argument")(first)
    sd.do_udf(added)
    with pytest.raises(GraphError, match=f"set '{kind}_arguments' before do_udf"):
        getattr(added, f"add_{kind}_argument")(second)
    with pytest.raises(GraphError, match="set 'mine' before do_udf"):
        added.mine = 3
    node = SameDiff.from_flat_buffers(sd.as_flat_buffers()).nodes()[0]
    assert dict(node.op.lists) == {f"{kind}_arguments": (first,)}


def test_variables_of_an_op():
    sd = SameDiff.create()
    x, y = sd.var("x", np.ones(2, np.float32)), sd.var("y", np.ones(2, np.float32))
    for op in (Kept(sd, [x, y]), Kept(sd, x, y), Kept(sd, (x,), y)):
        assert op.args() == [x, y] and op.larg() is op.arg() is op.arg(0) is x and op.rarg() is op.arg(1) is op.arg(-1) is y and op.sd is sd
    assert Kept().output_variables() == Kept([np.ones(2)], None).outputs() == []
    (made,) = op.output_variables()                     # adds it to the graph
    assert op.outputs() == [made] and op.output_variable() is made and sd.producer(made.name()).op.id == "test_decl_kept"
    assert (op.op_type(), op.opType(), op.op_hash(), op.is_inplace_call(), op.get_num_outputs()) == ("UDF", "UDF", 1, False, 1)
    (made,) = sd.do_udf(op)
    assert op.outputs() == [made] and op.calculate_output_data_types([LONG, FLOAT]) == [LONG]
    with pytest.raises(GraphError, match="do_udf takes an instance"):
        sd.do_udf(Kept)
    with pytest.raises(GraphError, match="op 'test_decl_kept' has 2 inputs; number 2 was asked for"):
        op.arg(2)
    with pytest.raises(GradientError, match="Kept does not define do_diff"):
        op.do_diff([])
    for method in ("op_name", "exec", "calculate_output_shape"):
        with pytest.raises(NotImplementedError, match=f"UserDefinedCustomOp must define {method}"):
            getattr(UserDefinedCustomOp(), method)(*([] if method == "op_name" else [None]))
    with pytest.raises(RegistrationError, match="Plain is not registered"):
        type("Plain", (UserDefinedCustomOp,), {})().as_op()


def test_values_that_are_not_known_yet():
    argument = Argument(TensorSpec((2, -1), LONG))
    assert argument.shape == (2, -1) and argument.dtype is argument.data_type() is argument.dataType() is LONG
    assert argument.ndim == argument.rank() == 2 and [argument.size(i) for i in (0, 1, -2)] == [2, -1, 2]
    assert argument.shape_descriptor() == LongShapeDescriptor((2, -1), LONG)
    named = ("item", "tolist", "sum", "max", "min", "mean", "any", "all", "astype", "get_int", "get_double", "to_int_vector", "getInt",
             "getDouble", "toIntVector")
    reads = [lambda a: a[0], iter, len, np.asarray, int, float, operator.index, bool, lambda a: a + 1, lambda a: a * 2,
             *map(operator.attrgetter, named)]
    for read in reads:
        with pytest.raises(ShapeError, match=r"values of an input \(LONG\(2, -1\)\) are not known"):
            read(argument)
    with pytest.raises(AttributeError):
        _ = argument.shap
    with pytest.raises(ShapeError, match="rank of an input is not known"):
        _ = Argument(TensorSpec(None, FLOAT)).shape


def test_contexts():
    a, b, c, out = np.zeros(1), np.ones(1), np.full(1, 2), np.zeros(2)
    context = OpContext((a, b, c), [out])
    assert len(context) == context.num_input_arguments() == context.numInputArguments() == 3 and list(context) == [a, b, c]
    assert context[0] is context.input_array(0) is context.getInputArray(0) is a and context[-1] is c and context[1:] == [b, c]
    assert context.input_arrays() == context.get_input_arrays() == [a, b, c]
    assert context.output_arrays() == context.getOutputArrays() == [out]
    context.input_arrays().clear()
    context.output_arrays().clear()
    context.set_output_array(0, b)
    assert context.output_array(0) is context.get_output_array(-1) is b and len(context) == 3
    for call in (lambda: context[3], lambda: context.input_array(-4), lambda: context.output_array(1),
                 lambda: context.set_output_array(1, a)):
        with pytest.raises(GraphError, match="asked for by their number"):
            call()
    assert at("abc", np.int64(1), "x") == "b" and at("abc", -3, "x") == "a"
    for i in (True, 3, -4, 1.0, None):
        with pytest.raises(GraphError, match="x are asked for by their number, 0 to 2"):
            at("abc", i, "x")


def test_descriptors():
    spec = TensorSpec((2, -1), LONG)
    assert LongShapeDescriptor.read(spec) == ((2, -1), LONG) and LongShapeDescriptor.read([2, 3]) == ((2, 3), None)
    assert LongShapeDescriptor.read(np.zeros((2, 3), np.float32)) == ((2, 3), FLOAT)
    assert LongShapeDescriptor.read(LongShapeDescriptor((4,))) == ((4,), None)
    assert LongShapeDescriptor((2,), "long").dtype is LONG and LongShapeDescriptor.fromShape([2], LONG) == LongShapeDescriptor((2,), LONG)
    with pytest.raises(ShapeError, match="unknown"):
        LongShapeDescriptor.read(TensorSpec(None, FLOAT))


# What comes back

class Held:
    def __init__(self, value: Any) -> None:
        self.value = value


def pairs() -> Sequence[tuple[Any, Any, bool]]:
    def adding(n: int) -> Any:
        return lambda x, k=1, *, j=2: x + n
    nan, held = float("nan"), Held(1)
    return [
        (1, 1, True), (1, 2, False), (1, 1.0, True), (1, True, True), (1, 2.0, False), (1, "1", False), (None, None, True),
        (None, 0, False),
        (nan, nan, True), (nan, np.float32(nan), True), (nan, 1.0, False), (np.int32(3), 3, True), (np.float64(0.5), 0.5, True),
        (np.arange(3), np.arange(3), True), (np.arange(3), [0, 1, 2], True), (np.arange(3), np.arange(4), False),
        (np.arange(3), [0, 1, 3], False),
        (np.array([1, nan]), np.array([1, nan]), True), (np.array([1, nan]), np.array([nan, 1]), False),
        ([1, 2], (1, 2), True), ([1, 2], [1, 2, 3], False), ([1, [nan]], [1, [nan]], True), ([1, 2], [2, 1], False),
        ({"a": [1]}, {"a": [1]}, True), ({"a": 1}, {"b": 1}, False), ({"a": 1}, {"a": 2}, False), ({"a": 1}, {"a": 1, "b": 1}, False),
        (adding(1), adding(1), True), (adding(1), adding(2), False), (len, len, True), (len, min, False),
        (held.__init__, held.__init__, True), (functools.partial(max, 1), functools.partial(max, 1), True),
        (functools.partial(max, 1), functools.partial(max, 2), False), (functools.partial(max, 1), functools.partial(min, 1), False),
        (functools.partial(sorted, key=1), functools.partial(sorted, key=2), False), (Held(1), Held(1), True), (Held(1), Held(2), False),
        (Held([nan]), Held([nan]), True), (Held(1), UserDefinedCustomOp, False), (Way.UP, Way.UP, True), (Way.UP, Way.DOWN, False),
        (TensorSpec((2,), FLOAT, np.ones(2)), TensorSpec((2,), FLOAT), True), (TensorSpec((2,), FLOAT), TensorSpec((3,), FLOAT), False),
        ({1, 2}, {2, 1}, True), ({1}, {2}, False), (object(), object(), True), ("a", "a", True), ("a", "b", False)]


@pytest.mark.parametrize("case", range(len(pairs())))
def test_sameness(case):
    a, b, wanted = pairs()[case]
    assert same(a, b) is wanted and same(b, a) is wanted


def test_sameness_up_to_owners():
    mine, its = Held(None), Held(None)
    assert same([mine, 1], [its, 1], (mine, its)) and not same([mine, Held(1)], [its, Held(2)], (mine, its))
    mine.value, its.value = mine, its
    assert same(mine, its)
