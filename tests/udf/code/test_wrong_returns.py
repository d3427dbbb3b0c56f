"""What users' methods return or are asked for wrongly is answered with an error that names the op."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.base.spec import TensorSpec
from dl4py.samediff.errors import DataTypeError, DL4PyError, FileFormatError, GraphError, RegistrationError, ShapeError
from dl4py.samediff.ir.op import OPS
from dl4py.udf import LongShapeDescriptor, UserDefinedCustomOp, UserOp, check_op, user_defined_op, user_op
from dl4py.udf.code.failure import checked_specs
from dl4py.udf.java.op_context import Argument, OpContext

WRONG = {"a number": 3, "a float": 1.5, "a text": "ab", "bytes": b"x", "no list": [], "a dict": {"a": 1}, "a list of None": [None],
         "nested": [[1.5]], "a negative size": [(-3,)], "text in a shape": [(2, "a")], "an object": object(), "NaN": [float("nan")],
         "a large number": [(2**70,)], "a class": TensorSpec, "a set": {2}, "complex": 1j, "objects": [object(), object()],
         "function": len, "unknown type": ["foo"]}
COUNT = itertools.count()


@pytest.fixture
def names():
    used = []
    yield used
    for name in used:
        OPS.remove(name)


def java_form(names, **methods):
    name = f"test_wrong_{next(COUNT)}"
    names.append(name)
    body = {"op_name": lambda self: name, "calculate_output_shape": lambda self, oc: [oc.input_array(0).shape],
            "exec": lambda self, i, o: [i[0] + i[1]], "do_diff": lambda self, g: [g[0], g[0]]}
    return user_defined_op(type("Made", (UserDefinedCustomOp,), body | methods))


def graph():
    sd = SameDiff.create()
    return sd, sd.var("x", np.ones(2, np.float32))


def all_of(y):
    """Run it, differentiate it, save and load it."""
    y.eval()
    y.sum("loss").mark_as_loss()
    y.sd.calculate_gradients({}, "x")
    SameDiff.from_flat_buffers(y.sd.as_flat_buffers())


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("method", ["get_num_outputs", "calculate_output_shape", "calculate_output_data_types", "exec", "do_diff",
                                    "properties_for_function"])
def test_of_the_java_form(names, method, what):
    made = java_form(names, **{method: lambda self, *given: WRONG[what]})
    sd, x = graph()
    if (method, what) == ("properties_for_function", "a dict"):
        return all_of(sd.do_udf(made(sd, [x, x]))[0])
    with pytest.raises(DL4PyError, match=names[-1]):
        all_of(sd.do_udf(made(sd, [x, x]))[0])


def raising(*given):
    raise AttributeError("mine")


@pytest.mark.parametrize("method", ["get_num_outputs", "calculate_output_shape", "calculate_output_data_types", "do_diff",
                                    "configure_from_arguments", "properties_for_function", "configure_with_same_diff"])
def test_exceptions_of_the_java_form(names, method):
    made = java_form(names, **{method: raising})
    sd, x = graph()
    with pytest.raises(DL4PyError, match=rf"{names[-1]}.*AttributeError: mine.*test_wrong_returns.py"):
        all_of(sd.do_udf(made(sd, [x, x]))[0])


@pytest.mark.parametrize("name", [None, 3, "", " x", [], (), b"x", np.ones(2)])
def test_names_that_are_none(names, name):
    with pytest.raises(RegistrationError, match=r"op_name of Made returned"):
        java_form(names, op_name=lambda self: name)
    with pytest.raises(RegistrationError, match=r"op_name of Made raised AttributeError: mine"):
        java_form(names, op_name=raising)


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("method", ["infer", "grad", "cpu", "cuda"])
def test_of_the_class_form(names, method, what):
    names.append(f"test_wrong.made_{next(COUNT)}")
    body = {"compute": lambda self, xp, x: x + x, "infer": lambda self, x: x, "has_cuda": classmethod(lambda cls: True)}
    made = user_op(names[-1])(type("Made", (UserOp,), body | {method: lambda self, *given: WRONG[what]}))
    x = graph()[1]
    if (method, what) == ("grad", "a list of None"):
        return all_of(made()("y", x))
    with pytest.raises(DL4PyError, match=names[-1]):
        made().cuda(x.spec) if method == "cuda" else all_of(made()("y", x))


@pytest.mark.parametrize("result", [1j, np.ones(2) * 1j, np.array([None, 1]), ["a", "b"], object(), np.array([1, 2], "M8[s]")])
def test_results_that_are_no_numbers(names, result):
    names += [f"test_wrong.made_{next(COUNT)}"]
    made = user_op(names[-1], infer=lambda x: x)(lambda xp, x: result)
    for call in (lambda: made(np.ones(2)), lambda: made(graph()[1]).eval()):
        with pytest.raises((DataTypeError, ShapeError), match=names[-1]):
            call()
    sd, x = graph()
    java = java_form(names, exec=lambda self, i, o: [result])
    with pytest.raises((DataTypeError, ShapeError), match=names[-1]):
        sd.do_udf(java(sd, [x, x]))[0].eval()


@pytest.mark.parametrize("i", [-5, 9, None, 1.5, "a", [], True, 2**70, np.array([1, 2])])
def test_numbers_of_arguments_that_are_none(names, i):
    sd, x = graph()
    op = java_form(names)(sd, [x, x])
    op.add_i_argument(4, 5)
    context = OpContext([np.ones(2), np.ones(3)], [np.zeros(2)])
    size = Argument(TensorSpec((2, 3), DataType.FLOAT)).size
    for ask in (op.arg, op.get_i_argument, context.input_array, context.output_array, context.__getitem__, size,
                lambda i: context.set_output_array(i, np.ones(2))):
        with pytest.raises(GraphError, match=r"asked for"):
            ask(i)
    assert (op.arg(-1), op.get_i_argument(-1), context[-1].size, len(context[:1])) == (x, 5, 3, 1)
    with pytest.raises(GraphError, match="there are none"):
        type(op)().larg()


@pytest.mark.parametrize(("kind", "value"), [
    ("i", 1.5), ("i", 2**70), ("i", "a"), ("t", "a"), ("t", ["a"]), ("t", 10**400), ("b", 3), ("b", None), ("d", "foo"), ("d", 3), ("s", 3),
    ("s", None), ("s", b"x")])
def test_arguments_that_no_file_holds(names, kind, value):
    sd, x = graph()
    op = java_form(names)(sd, [x, x])
    with pytest.raises(GraphError, match=rf"{names[-1]}.*{kind}_arguments"):
        getattr(op, f"add_{kind}_argument")(value)
    setattr(op, f"{kind}_arguments", [value])
    with pytest.raises(GraphError, match=rf"{names[-1]}.*{kind}_arguments"):
        sd.do_udf(op)


@pytest.mark.parametrize("shape", [None, 3, "ab", (1.5,), [(2,)], (2**70,), (-3,)])
def test_descriptors_of_no_shape(shape):
    for make in (LongShapeDescriptor, LongShapeDescriptor.from_shape):
        with pytest.raises(ShapeError, match="must be a tuple of whole numbers"):
            make(shape)
    with pytest.raises(DataTypeError):
        LongShapeDescriptor((2,), "foo")
    assert LongShapeDescriptor.from_shape([np.int32(2), -1], "float") == LongShapeDescriptor((2, -1), DataType.FLOAT)


@pytest.mark.parametrize("option", [{"order": 3}, {"order": None}, {"seed": -1}, {"seed": "a"}, {"tolerance": 0},
                                    {"tolerance": None}, {"dtypes": 3}, {"shapes": "ab"}, {"shapes": [3]},
                                    {"shapes": [["a"]]}, {"attributes": 3}, {"dtypes": ["foo"]}])
def test_options_of_checks(option):
    with pytest.raises(DL4PyError, match=r"check_op|expected a data type"):
        check_op("tanh", [np.ones(2)], **option)


@pytest.mark.parametrize(("returned", "text"), [(None, "returned None"), (3, "returned 3"),
                                                  (AttributeError("mine"), "raised AttributeError: mine")])
def test_upgrades(names, returned, text):
    def upgrade(cls, attributes, version):
        if isinstance(returned, Exception):
            raise returned
        return returned
    names.append("test_wrong.upgraded")
    body = {"compute": lambda self, xp, x: x + self.k, "__annotations__": {"k": float}, "k": 1.0}
    old = user_op(names[-1], version=1)(type("Made", (UserOp,), body))
    sd, x = graph()
    old(k=2.0)("y", x)
    stored = sd.as_flat_buffers()
    OPS.remove(names[-1])
    user_op(names[-1], version=2)(type("Made", (UserOp,), body | {"upgrade": classmethod(upgrade)}))
    with pytest.raises(FileFormatError, match=rf"upgrade of op 'test_wrong.upgraded' {text}"):
        SameDiff.from_flat_buffers(stored)


def explained(y):
    """Everything that asks an op: its run in a graph with other nodes, a profile, gradients, a file."""
    sd = y.sd
    sd.profile({}, y.name())
    sd.explain({}, y.name())
    all_of(y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["raises", *WRONG])
@pytest.mark.parametrize("method", ["flops", "same_as", "at_inference", "plan_rewrite", "expand", "expressions", "has_cpu", "has_cuda",
                                    "has_infer"])
def test_of_what_plans_ask(names, method, what):
    names.append(f"test_wrong.made_{next(COUNT)}")
    answer = raising if what == "raises" else lambda self, *given: WRONG[what]
    body = {"compute": lambda self, xp, x: x + x, method: classmethod(answer) if method.startswith("has_") else answer}
    if (method, what) in (("flops", "a number"), ("same_as", "a number")):
        body[method] = lambda self, *given: -3
    with pytest.raises(DL4PyError) as caught:
        made = user_op(names[-1])(type("Made", (UserOp,), body))
        made.has_infer()
        explained(made()("y", graph()[1] * 2))
    told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert names[-1] in told and f"{method} of op" in told


@pytest.mark.parametrize("expand", [lambda self, x: x.sum(), lambda self, x: (x, x), lambda self, x: x.reshape(1, -1)])
def test_compositions_that_the_shape_rule_does_not_promise(names, expand):
    names.append(f"test_wrong.made_{next(COUNT)}")
    made = user_op(names[-1])(type("Made", (UserOp,), {"compute": lambda self, xp, x: xp.cumsum(x), "expand": expand}))
    with pytest.raises(GraphError, match=f"expand of op '{names[-1]}' gives .*its shape rule says"):
        made()("y", graph()[1] * 2).eval()


@pytest.mark.parametrize(("returned", "text"), [((), "no result"), ([], "no result"), (None, "None")])
def test_code_has_to_return_something(names, returned, text):
    name = f"test_wrong.nothing_{next(COUNT)}"
    names.append(name)
    nothing = user_op(name)(lambda xp, x: returned)
    sd = SameDiff.create()
    x = sd.var("x", np.ones(3))
    for given in (x, np.ones(3)):
        with pytest.raises(DL4PyError, match=f"{name}.*returned {text}; it must return an array"):
            nothing(given)
    assert not sd.nodes()


@pytest.mark.parametrize("types", [["float"], [DataType.FLOAT, "float"], ["float", DataType.FLOAT], [None, None]])
def test_shape_rules_with_types_that_are_none(types):
    found = tuple(TensorSpec((2,), t) for t in types)
    with pytest.raises(ShapeError, match="infer of f returned .* as types; a TensorSpec has a DataType"):
        checked_specs("infer of f", found if len(found) > 1 else found[0])
    assert checked_specs("infer of f", [TensorSpec((2, -1), DataType.INT)]) == (TensorSpec((2, -1), DataType.INT),)
