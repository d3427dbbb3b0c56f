"""The op of DL4J's documentation whose ``exec`` uses ND4J's ops, in both spellings, with nothing but the syntax changed."""
from __future__ import annotations

import io

import numpy as np
import pytest

from dl4py import DataType, Nd4j, SameDiff
from dl4py.samediff.nd4j.op_classes import AddBpOp, AddOp
from dl4py.udf import UserDefinedCustomOp, user_defined_op


@user_defined_op
class MyAddUdf(UserDefinedCustomOp):
    """In Java's spelling; ``exec`` without argument, the other form is below."""

    def __init__(self, sameDiff=None, x=None, y=None):
        super().__init__(sameDiff, [] if x is None else [x, y])

    def opName(self):
        return "my_add_udf"

    def getNumOutputs(self):
        return 1

    def calculateOutputDataTypes(self, inputTypes):
        return [inputTypes[0]]

    def calculateOutputShape(self):
        return [self.inputArguments.get(0).shapeDescriptor()]

    def exec(self):
        addOp = AddOp()
        addOp.addInputArgument(self.inputArguments.get(0), self.inputArguments.get(1))
        Nd4j.getExecutioner().exec(addOp)
        self.outputArguments.addAll(addOp.outputArguments)

    def doDiff(self, grad):
        return AddBpOp(self.sameDiff, self.larg(), self.rarg(), grad[0]).outputs()

    def isInplaceCall(self):
        return False

    def propertiesForFunction(self):
        return {}

    def setPropertiesForFunction(self, props):
        pass

    def configureFromArguments(self):
        pass

    def configureWithSameDiff(self, sameDiff):
        self.sameDiff = sameDiff


@user_defined_op
class MyAddUdfInPython(UserDefinedCustomOp):
    """In Python's spelling, with the forms that take a context."""

    def __init__(self, same_diff=None, x=None, y=None):
        super().__init__(same_diff, [] if x is None else [x, y])

    def op_name(self):
        return "my_add_udf_in_python"

    def calculate_output_data_types(self, input_types):
        return [input_types[0]]

    def calculate_output_shape(self, oc):
        return [oc.get_input_arrays().get(0).shape_descriptor()]

    def exec(self, op_context):
        Nd4j.get_executioner().exec(AddOp(), op_context)

    def do_diff(self, grad):
        return AddBpOp(self.same_diff, self.larg(), self.rarg(), grad[0]).outputs()

    def configure_with_same_diff(self, same_diff):
        self.same_diff = same_diff


@pytest.mark.parametrize("op", [MyAddUdf, MyAddUdfInPython])
def test_the_op_of_the_documentation_runs_and_is_differentiated(op):
    sd = SameDiff.create()
    x = sd.placeHolder("x", DataType.FLOAT, -1, 3)
    y = sd.var("y", np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32))
    outputs = sd.doUdf(op(sd, x, y))
    loss = (outputs[0] * outputs[0]).mean("loss")
    feeds = {"x": np.ones((2, 3), np.float32)}
    total = feeds["x"] + y.get_arr()
    np.testing.assert_allclose(sd.output(feeds, outputs[0].name())[outputs[0].name()], total)
    sd.set_loss_variables(loss.name())
    np.testing.assert_allclose(sd.calculate_gradients(feeds, "y")["y"], 2 * total / 6, rtol=1e-6)
    stream = io.BytesIO()
    sd.save(stream, False)
    loaded = SameDiff.load(io.BytesIO(stream.getvalue()), False)
    np.testing.assert_allclose(loaded.output(feeds, "loss")["loss"], (total ** 2).mean(), rtol=1e-6)


@user_defined_op
class RepeatRows(UserDefinedCustomOp):
    """Its shape depends on a value."""

    def op_name(self):
        return "tests_repeat_rows"

    def calculate_output_shape(self, oc):
        return [(int(oc.get_input_array(1)[0]), *oc.input_array(0).shape)]

    def exec(self, inputs, outputs):
        outputs[0][...] = inputs[0]


def test_shape_rules_see_the_values_of_constants():
    sd = SameDiff()
    x = sd.var("x", np.ones(3, np.float32))
    made = sd.do_udf(RepeatRows(sd, [x, sd.constant(np.array([4], np.int64))]))[0]
    assert made.get_shape() == (4, 3)
    assert made.eval().shape == (4, 3)
    unknown = sd.placeholder("n", DataType.LONG, 1)
    with pytest.raises(Exception, match="not known while the graph is built"):
        sd.do_udf(RepeatRows(sd, [x, unknown]))
