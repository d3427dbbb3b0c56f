"""``exec`` of ops in DL4J's form is recorded as nodes where it is array code; else it runs as it is."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff
from dl4py.samediff.errors import GraphError
from dl4py.samediff.ir.op import OPS
from dl4py.samediff.nd4j.nd4j import Nd4j
from dl4py.samediff.nd4j.op_classes import AddOp
from dl4py.udf import LongShapeDescriptor, UserDefinedCustomOp, check_op, user_defined_op

X, Y = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4), np.linspace(3, 1, 12, dtype=np.float32).reshape(3, 4)
OUTSIDE = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
CALLS: list[int] = []


@pytest.fixture
def outputs():
    """What an op of these methods gives in a graph, and the lines of its plan that run Python; the op is forgotten afterwards."""
    names = []

    def run(exec_, feeds=(X, Y), **methods):
        names.append(f"test_recorded_{len(names)}")
        form = {"op_name": lambda self, name=names[-1]: name, "calculate_output_shape": lambda self, oc: [oc.input_array(0).shape],
                "exec": exec_}
        cls = user_defined_op(type("Made", (UserDefinedCustomOp,), form | methods))
        sd = SameDiff.create()
        inputs = [sd.placeholder(f"in{i}", DataType.of(a.dtype), *a.shape) for i, a in enumerate(feeds)]
        made = [v.name() for v in sd.do_udf(cls(sd, inputs))]
        given = {f"in{i}": a for i, a in enumerate(feeds)}
        python = [line for line in sd.explain(given, *made).splitlines() if " python " in line]
        return list(sd.output(given, *made).values()), python
    yield run
    for name in names:
        OPS.remove(name)


def filled(inputs, outputs):
    outputs[0][...] = inputs[0] + inputs[1] * 2


def added(inputs, outputs):
    outputs[0] += inputs[0]
    outputs[0][1] = inputs[1][1] * 3


def by_context(oc):
    oc.get_output_array(0).assign(oc.get_input_array(0).mul(oc.get_input_array(1)).add(1))


def by_ops_of_nd4j(oc):
    Nd4j.get_executioner().exec(AddOp(), oc)


def reduced(inputs, outputs):
    x = inputs[0] - inputs[0].max(-1, keepdims=True)
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True) + OUTSIDE


def of_numpy(inputs, outputs):
    np.add(inputs[0], inputs[1], out=outputs[0])


EXPECTED = {filled: X + Y * 2, added: np.stack([X[0], Y[1] * 3, X[2]]), by_context: X * Y + 1, by_ops_of_nd4j: X + Y,
            reduced: np.exp(X) / np.exp(X).sum(-1, keepdims=True) + OUTSIDE, of_numpy: X + Y}


@pytest.mark.parametrize("code", EXPECTED, ids=lambda f: f.__name__)
def test_array_code_needs_no_python(outputs, code):
    form = {1: lambda self, oc: code(oc), 2: lambda self, i, o: code(i, o)}[code.__code__.co_argcount]
    (found,), python = outputs(form)
    np.testing.assert_allclose(found, EXPECTED[code], 1e-6)
    assert found.dtype == np.float32 and not python


def test_several_results_of_other_types_and_shapes(outputs):
    def run(self):
        x = self.input_arguments[0]
        self.output_arguments += [x.mean(-1), x.std(-1)]
    found, python = outputs(run, get_num_outputs=lambda self: 2, calculate_output_shape=lambda self: [
        self.input_arguments[0].shape[:-1], LongShapeDescriptor((3,), DataType.DOUBLE)])
    np.testing.assert_allclose(found[0], X.mean(-1), 1e-6)
    np.testing.assert_allclose(found[1], X.std(-1, ddof=1), 1e-6)         # that of INDArray
    assert [f.dtype for f in found] == [np.float32, np.float64] and not python


def needs_values(self, inputs, outputs):
    outputs[0][...] = inputs[0] if inputs[0].sum() > 0 else inputs[1]


def plain(self, inputs, outputs):
    outputs[0][...] = np.asarray(inputs[0]) * 2


def counted(self, inputs, outputs):
    CALLS.append(1)
    outputs[0][...] = inputs[0] * len(CALLS)


def drawn(self, inputs, outputs):
    outputs[0][...] = inputs[0] + np.random.normal()


def drawn_by_nd4j(self, inputs, outputs):
    try:
        outputs[0][...] = inputs[0] + Nd4j.get_random().next_gaussian()
    except GraphError:
        outputs[0][...] = inputs[0]


@pytest.mark.parametrize("code", [needs_values, plain, counted, drawn, drawn_by_nd4j], ids=lambda f: f.__name__)
def test_other_code_runs_as_it_is(outputs, code):
    (found,), python = outputs(code)
    assert found.shape == X.shape and len(python) == 1
    if code in (needs_values, plain):
        np.testing.assert_array_equal(found, X if code is needs_values else X * 2)


def test_rules_that_read_values_are_asked_in_each_run(outputs):
    counts = np.array([2], np.int64)
    cls = user_defined_op(type("Rows", (UserDefinedCustomOp,), {
        "op_name": lambda self: "test_recorded_rows", "calculate_output_shape": lambda self, oc: [(int(oc[1][0]), 4)],
        "exec": lambda self, i, o: o[0].__setitem__(slice(None), i[0][:o[0].shape[0]])}))
    try:
        op = cls().as_op()
        from dl4py.samediff.expressions.arrays import xp
        for n in (2, 3, 2):
            counts[0] = n
            np.testing.assert_array_equal(op.compute(xp, X, counts), X[:n])
    finally:
        OPS.remove("test_recorded_rows")


def test_rules_are_asked_once_for_shapes_and_types(outputs):
    asked = []

    def rule(self, oc):
        asked.append(oc[0].shape)
        return [oc[0].shape]
    made = user_defined_op(type("Ruled", (UserDefinedCustomOp,), {
        "op_name": lambda self: "test_recorded_ruled", "calculate_output_shape": rule, "exec": plain}))
    try:
        from dl4py.samediff.expressions.arrays import xp
        op = made().as_op()
        for x in (X, X, Y, X[:2], X[:2]):
            np.testing.assert_array_equal(op.compute(xp, x), x * 2)
        assert asked == [(3, 4), (2, 4)]
    finally:
        OPS.remove("test_recorded_ruled")


def test_inputs_that_are_changed_are_an_error_as_before(outputs):
    def run(self, inputs, outputs):
        inputs[0] += 1
        return inputs[0]
    with pytest.raises(ValueError, match="read-only") as caught:
        outputs(run)
    assert any("test_recorded_" in note for note in caught.value.__notes__)


def test_properties_that_are_arrays(outputs):
    class Shifted(UserDefinedCustomOp):
        def __init__(self, same_diff=None, args=(), shift=None):
            super().__init__(same_diff, args)
            self.shift = np.zeros(4, np.float32) if shift is None else shift

        def op_name(self):
            return "test_recorded_shifted"

        def calculate_output_shape(self, oc):
            return [oc.input_array(0).shape]

        def exec(self, inputs, outputs):
            outputs[0][...] = inputs[0] + self.shift

        def do_diff(self, grads):
            return [grads[0]]

        def properties_for_function(self):
            return {"shift": self.shift}

        def set_properties_for_function(self, properties):
            self.shift = properties["shift"]
    try:
        user_defined_op(Shifted)
        sd = SameDiff.create()
        x = sd.placeholder("x", DataType.FLOAT, 3, 4)
        names = [sd.do_udf(Shifted(sd, [x], shift))[0].name() for shift in (OUTSIDE, OUTSIDE * 2)]
        found = sd.output({"x": X}, *names)
        for name, k in zip(names, (1, 2)):
            np.testing.assert_allclose(found[name], X + OUTSIDE * k)
        assert " python " not in sd.explain({"x": X}, *names)
        check_op(sd.nodes()[0].op, [X.astype(np.float64)]).raise_if_failed()
    finally:
        OPS.remove("test_recorded_shifted")
