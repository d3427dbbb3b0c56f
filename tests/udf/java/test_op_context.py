"""What ops in DL4J's form are handed."""
from __future__ import annotations

import numpy as np

from dl4py.udf import UserDefinedCustomOp
from dl4py.udf.java.op_context import OpContext


def test_inputs_and_outputs_in_both_spellings():
    inputs, outputs = [np.ones(2), np.zeros(3)], [np.empty(4)]
    context = OpContext(inputs, outputs)
    assert context.num_input_arguments() == context.numInputArguments() == 2
    assert all(a is b for a, b in zip(context.input_arrays(), inputs)) and context.output_array(0) is outputs[0]
    assert context.getOutputArray(0) is outputs[0] and context.getInputArray(1) is inputs[1]
    for every in (context.output_arrays(), context.getOutputArrays()):
        assert len(every) == 1 and every[0] is outputs[0]
    context.output_arrays().clear()
    context.input_arrays().clear()
    assert len(context.outputs) == 1 and context.num_input_arguments() == 2


def test_inputs_never_change():
    class Plain(UserDefinedCustomOp):
        def op_name(self):
            return "test_context.plain"

    assert Plain().is_inplace_call() is Plain().isInplaceCall() is False
