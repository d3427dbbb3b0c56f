"""The op behind a class in DL4J's form: which form of a method is called with what, and what becomes of its answer."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.arrays import INDArray
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import RegistrationError, ShapeError
from dl4py.samediff.expressions.arrays import xp
from dl4py.samediff.ir.op import METHODS, OPS
from dl4py.udf import LongShapeDescriptor, UserDefinedCustomOp, user_defined_op
from dl4py.udf.java.java_style import arguments_of, execute
from dl4py.udf.java.op_context import OpContext

FLOAT, LONG, DOUBLE = DataType.FLOAT, DataType.LONG, DataType.DOUBLE
X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([7, 8])


@pytest.fixture
def made():
    """An op of methods, forgotten afterwards."""
    names = []

    def op(name="made", **methods):
        names.append(f"test_java_op_{name}" if "." not in name else name)
        form = {"op_name": lambda self, name=names[-1]: name, "calculate_output_shape": lambda self, oc: [oc.input_array(0).shape],
                "exec": lambda self, i, o: [np.asarray(i[0]) * 2]}
        return user_defined_op(type("Made", (UserDefinedCustomOp,), form | methods))
    yield op
    for name in names:
        OPS.remove(name)


def spec(*shape, dtype=FLOAT):
    return TensorSpec(shape, dtype)


# Shape rules

@pytest.mark.parametrize(("returned", "wanted"), [
    ((2, 3), spec(2, 3)), ([(2, 3)], spec(2, 3)), (((2, 3),), spec(2, 3)), ([[2, 3]], spec(2, 3)), ((), spec()), ([()], spec()),
    ((np.int64(2), 3), spec(2, 3)), (LongShapeDescriptor((4,)), spec(4)), ([LongShapeDescriptor((4,), LONG)], spec(4, dtype=LONG)),
    (spec(5, dtype=DOUBLE), spec(5, dtype=DOUBLE)), (np.zeros((2, 2)), spec(2, 2, dtype=DOUBLE))])
def test_answers_of_shape_rules(made, returned, wanted):
    found = made(calculate_output_shape=lambda self, oc: returned)().as_op().infer(spec(2, 3))
    assert found == wanted and not isinstance(found, tuple)


@pytest.mark.parametrize(("shapes", "types", "count", "wanted"), [
    ([(2,), (3,)], [LONG, DOUBLE], 2, (spec(2, dtype=LONG), spec(3, dtype=DOUBLE))),
    ([(2,), LongShapeDescriptor((3,), FLOAT)], ["long", "long"], 2, (spec(2, dtype=LONG), spec(3))),
    ([(2,)], [LONG, DOUBLE], 1, spec(2, dtype=LONG)),                               # a type too many
    ([(2,), (3,)], [LONG], 2, "get_num_outputs says 2, calculate_output_shape gives 2 shapes and calculate_output_data_types 1"),
    ([(2,), (3,)], [LONG, LONG], 1, "get_num_outputs says 1, calculate_output_shape gives 2 shapes"),
    ([(2,)], [LONG, LONG], 2, "get_num_outputs says 2, calculate_output_shape gives 1 shapes")])
def test_numbers_of_outputs(made, shapes, types, count, wanted):
    op = made(calculate_output_shape=lambda self, oc: shapes, calculate_output_data_types=lambda self, given: types,
              get_num_outputs=lambda self: count)().as_op()
    if isinstance(wanted, str):
        with pytest.raises(ShapeError, match=wanted):
            op.infer(spec(2))
        return
    assert op.infer(spec(2)) == wanted


def test_rules_are_given_shapes_and_types_of_all_inputs(made):
    seen = []

    def types(self, given):
        seen.append(given)
        return given
    op = made(calculate_output_shape=lambda self, oc: [(oc.num_input_arguments(), oc[1].size(0))],
              calculate_output_data_types=types)().as_op()
    assert op.infer(spec(2, dtype=LONG), spec(5, 6)) == spec(2, 5, dtype=LONG) and seen == [[LONG, FLOAT]]
    assert op.infer(spec(2), spec(-1, 6)) == spec(2, -1)


def test_inputs_of_unknown_rank(made):
    fixed = made("fixed", calculate_output_shape=lambda self, oc: [(3,)])().as_op()
    assert fixed.infer(TensorSpec(None, LONG)) == fixed.infer(TensorSpec(None, LONG), spec(-1)) == spec(3, dtype=LONG)
    with pytest.raises(ShapeError, match="rank of an input is not known"):
        made("ranked")().as_op().infer(TensorSpec(None, LONG))


# Forms of methods

@pytest.mark.parametrize(("text", "count"), [
    ("", 0), ("a", 1), ("a, b", 2), ("a, b=None", 1), ("a=None", 1), ("a=2", 0), ("a, *, k=None", 1), ("*rest", 0), ("a, b, /", 2)])
def test_how_many_arguments_a_method_takes(text, count):
    scope: dict = {}
    exec(f"def method(self{', ' if text else ''}{text}): pass", scope)
    assert arguments_of(scope["method"].__get__(object())) == count


@pytest.mark.parametrize("text", ["", "oc", "inputs, outputs", "inputs, outputs, more=None"])
def test_what_exec_is_given(made, text):
    kept = []
    names = [n for n in ("oc", "inputs", "outputs") if n in text.split(", ")]
    scope = {"kept": kept}
    body = f"kept.append([self, {', '.join(names)}])\n    return [self.input_arguments[0] * 2]"
    exec(f"def method(self{', ' if text else ''}{text}):\n    {body}", scope)
    user = made(exec=scope["method"])()
    context = OpContext([X, Y], [np.zeros((2, 3))])
    (found,) = execute(user, context)
    np.testing.assert_array_equal(found, X * 2)
    (called,) = kept
    assert [id(a) for a in called] == [id(a) for a in (user, *{"": (), "oc": (context,)}.get(text, (context.inputs, context.outputs)))]
    assert [id(a) for a in user.input_arguments] == [id(X), id(Y)] and list(user.output_arguments) == []


@pytest.mark.parametrize("way", ["filled", "set", "array", "list", "tuple", "arguments"])
@pytest.mark.parametrize("count", [1, 2])
def test_ways_to_give_results(made, way, count):
    def run(self, oc):
        results = [np.asarray(oc[0]) * (k + 2) for k in range(count)]
        if way == "filled":
            for k, r in enumerate(results):
                oc.output_array(k)[...] = r
        elif way == "set":
            for k, r in enumerate(results):
                oc.set_output_array(k, r)
        elif way == "arguments":
            self.output_arguments += results
        elif way == "array" and count == 1:
            return results[0]
        else:
            return tuple(results) if way == "tuple" else results
        return None
    op = made(exec=run, get_num_outputs=lambda self: count, calculate_output_shape=lambda self, oc: [oc[0].shape] * count)().as_op()
    found = op.compute(xp, X)
    assert isinstance(found, tuple) == (count > 1)
    for k, r in enumerate(found if count > 1 else [found]):
        assert isinstance(r, np.ndarray) and r.dtype == np.float32
        np.testing.assert_array_equal(r, X * (k + 2))


def test_what_a_run_sees(made):
    seen = {}

    def run(self, oc):
        seen.update(inputs=oc.input_arrays(), out=np.array(oc.output_array(0)), user=self)
        oc.output_array(0)[0] = oc[0][0] * int(oc[1][0])
    cls = made(exec=run, calculate_output_shape=lambda self, oc: [(int(oc[1][1]), 3)])     # values of inputs are known in a run
    found = cls().as_op().compute(xp, X, np.array([7, 4]))
    assert found.shape == (4, 3) and found[0].tolist() == [0, 7, 14] and not found[1:].any()
    assert not seen["out"].any() and all(isinstance(a, INDArray) for a in seen["inputs"])
    assert not any(a.flags.writeable for a in seen["inputs"]) and X.flags.writeable and type(seen["user"]) is cls


# What is registered

@pytest.mark.parametrize("missing", ["op_name", "calculate_output_shape", "exec"])
def test_methods_that_are_missing(made, missing):
    body = {"op_name": lambda self: "test_java_op_missing", "calculate_output_shape": lambda self, oc: [(2,)], "exec": lambda self, oc: 1}
    del body[missing]
    with pytest.raises(RegistrationError, match=f"Made does not define {missing}$"):
        user_defined_op(type("Made", (UserDefinedCustomOp,), body))
    for wrong in (3, int, UserDefinedCustomOp()):
        with pytest.raises(RegistrationError, match="must derive from UserDefinedCustomOp"):
            user_defined_op(wrong)
    assert OPS.find("test_java_op_missing") is None


@pytest.mark.parametrize(("name", "place"), [("plain", None), ("test_java_op.one", ("test_java_op", "one")), ("test_java_op.a.b", None)])
def test_where_it_can_be_called(made, name, place):
    cls = made(name, __doc__="Twice.")
    adapter = cls._adapter
    assert OPS[cls().op_name()] is adapter and adapter.__doc__ == "Twice." and adapter.__name__ == "Made" and adapter.user_class is cls
    assert [p for p, classes in METHODS.items() if adapter in classes] == ([] if place is None else [place])
    assert made("other", __doc__=None)._adapter.__doc__ == "User op test_java_op_other."


def test_what_is_saved_comes_back_and_nothing_else_is_set(made):
    told = []
    cls = made(k=None, properties_for_function=lambda self: {} if self.k is None else {"k": self.k, "sizes": [1, 2]},
               set_properties_for_function=lambda self, properties: (told.append(properties), setattr(self, "k", properties["k"])))
    plain = cls()
    op = plain.as_op()
    assert (op.fields, op.lists, told) == ((), (), [])
    plain.k = 2.5
    plain.add_t_argument(0.5)
    plain.add_i_argument(3, 4)
    op = plain.as_op()
    assert op.fields == (("k", 2.5), ("sizes", (1, 2))) and dict(op.lists) == {"i_arguments": (3, 4), "t_arguments": (0.5,)}
    again = op.instance()
    assert again is not plain and again.k == 2.5 and again.i_args() == [3, 4] and again.t_args() == [0.5] and told[-1]["sizes"] == (1, 2)
    sd = SameDiff.create()
    sd.add_op(op, [sd.constant(X)], ["y"])
    assert SameDiff.from_flat_buffers(sd.as_flat_buffers()).nodes()[0].op == op
