"""ND4J's static helpers for branches and loops."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import ControlFlow, DataType, LoopArgs, LoopParams, SameDiff
from dl4py.samediff.errors import GraphError


def start(sd, count=5, flag=True):
    return ControlFlow.args(sd.constant(np.int32(count)), sd.constant(flag), sd.constant(np.int32(0)), [sd.var("v", np.float32(1))])


def function():
    """Doubles its value, and goes on as long as it is below 20."""
    body = SameDiff()
    i, most, flag = ControlFlow.initialize_loop_body(["i", "most", "flag"], body, 5)
    v = body.placeholder("v", DataType.FLOAT)
    doubled = v * 2
    return body, [i.name(), most.name(), flag.name(), "v"], [i.name(), most.name(), (doubled < 20).name(), doubled.name()]


def test_branches_and_loops():
    sd = SameDiff.create()
    x = sd.var("x", np.float32(-3))
    y = ControlFlow.if_cond(sd, "y", "scope", lambda sd: x > 0, lambda sd: x * 2, lambda sd: -x)
    assert (y.name(), float(y.eval())) == ("y", 3.0)
    found = ControlFlow.whileLoop(sd, ["a", "b", "c", "d"], "loop", start(sd), ControlFlow.cond_body(),
                                  lambda sd, v: [v[0] + 1, *v[1:3], v[3] * 3])
    assert [v.name() for v in found] == ["a", "b", "c", "d"] and float(found[3].eval()) == 243.0


def test_the_order_of_arguments():
    sd = SameDiff.create()
    made = start(sd)
    again = ControlFlow.args_from_inputs(made)
    assert LoopArgs(again.iter_start, again.iter_count, again.cond_in, again.extra_args).to_args() == made
    call = again.invoke_params("f", ["a"], ["b"])
    assert (call.function_name, list(call.inputs), call.sub_graph_output_var_names) == ("f", made, ["b"])
    with pytest.raises(GraphError, match="got 2 in all"):
        ControlFlow.args_from_inputs(made[:2])


@pytest.mark.parametrize("count, expected", [(3, 8.0), (50, 32.0)])
def test_a_function_as_body(count, expected):
    sd = SameDiff.create()
    body, inputs, outputs = function()
    loop = ControlFlow.loop_body(sd, body, "double", inputs, outputs)
    found = ControlFlow.while_loop(sd, None, None, start(sd, count), ControlFlow.cond_body(), loop)
    assert float(found[3].eval()) == expected and int(found[0].eval()) == np.log2(expected)
    other = SameDiff.create()
    params = LoopParams("double", start(other, count), body, inputs, outputs)
    assert float(ControlFlow.loop_with_conditions(other, params)[3].eval()) == expected


def test_mistakes():
    with pytest.raises(GraphError, match="three names are needed"):
        ControlFlow.initialize_loop_body(["i"], SameDiff(), 5)
    body = SameDiff()
    assert ControlFlow.initialize_loop_body(["i", "n", "c"], body, 5, False)[2].get_arr()
    sd = SameDiff.create()
    body, inputs, outputs = function()
    short = ControlFlow.loop_body(sd, body, "f", inputs, outputs[:3])
    with pytest.raises(GraphError, match="gives 3 results; there are 4 loop variables"):
        ControlFlow.while_loop(sd, None, None, start(sd), ControlFlow.cond_body(), short)
