"""Ops of a graph by DL4J's methods."""
from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from dl4py.networks.commands import main
from dl4py.samediff import Conv2DConfig, DataType, DifferentialFunction, SameDiff, XavierInitScheme
from dl4py.samediff.errors import DL4PyError, GradientError, GraphError
from dl4py.samediff.files.foreign_names import onnx_names, tensorflow_names
from dl4py.samediff.ir.op import OPS


def graph():
    sd = SameDiff.create()
    x, w = sd.placeholder("x", DataType.FLOAT, -1, 3), sd.var("w", np.ones((3, 2), np.float32))
    x.mmul("h", w)
    return sd


def function(**shapes):
    sd = SameDiff.create()
    return sd, [sd.var(n, DataType.FLOAT, *s) for n, s in shapes.items()]


def test_inputs_and_results_are_variables():
    sd = graph()
    (f,) = sd.ops()
    x, w, h = map(sd.variable, ("x", "w", "h"))
    assert f.args() == [x, w] and f.arg() is f.larg() is x and f.rarg() is w and f.arg(1) is w
    assert f.output_variables() == f.outputVariables() == [h] and f.outputVariable() is h
    assert f.argNames() == ["x", "w"] and f.outputVariablesNames() == ["h"] and f.getNumOutputs() == 1
    assert f.sameDiff is sd and f.getSameDiff() is sd and f.getOwnName() == f.name == "matmul" and f.op_name() == "matmul"
    assert (h.op_name(), h.args(), h.output_variables()) == ("matmul", [x, w], [h]) and (x.op_name(), x.args()) == (None, [])
    assert sd.get_op_by_id("matmul") == f == sd.get_variable_output_op("h") == copy.copy(sd.nodes()[0])
    with pytest.raises(GraphError, match="has 2 inputs; number 2"):
        f.arg(2)


@pytest.mark.parametrize("make, expected", [      # as DL4J gives them
    (lambda sd, x: sd.nn.softmax(x), {"dimension": -1}),
    (lambda sd, x: x.mmul(x, True, False, False), {"transposeA": True, "transposeB": False, "transposeResult": False}),
    (lambda sd, x: x.sum(True, 0), {"keepDims": True}),
    (lambda sd, x: sd.nn.relu(x, 0.0), {}),
])
def test_properties(make, expected):
    sd, (x,) = function(x=(3, 3))
    make(sd, x)
    found = sd.ops()[-1].propertiesForFunction()
    assert expected.items() <= found.items(), found
    assert sd.properties_for_function(sd.ops()[-1]) == found


def test_mappings_name_attributes():
    sd, (x, w) = function(x=(1, 2, 5, 5), w=(3, 3, 2, 4))
    sd.cnn.conv2d(x, w, Conv2DConfig(k_h=3, k_w=3))
    (f,) = sd.ops()
    assert f.mappingsForFunction()["conv2d"]["kH"] == "k_h" and f.properties_for_function()["kH"] == 3
    assert f.resolvePropertiesFromSameDiffBeforeExecution() is None
    assert all(hasattr(f.op, a) for a in f.mappings_for_function()["conv2d"].values())
    assert (f.tensorflowName(), f.onnxName()) == ("Conv2D", "Conv")


def test_mappings_name_attributes_that_are_arguments_in_files():
    sd, (x, w) = function(x=(1, 4, 4, 2), w=(2, 2, 2))
    sd.cnn.dilation2D(x, w, [1, 2], [3, 1], True)
    (f,) = sd.ops()
    properties = f.propertiesForFunction()
    assert properties == {"strides": (1, 2), "rates": (3, 1), "isSameMode": True}
    assert f.mappingsForFunction() == {"dilation2d": {"strides": "strides", "rates": "rates", "isSameMode": "is_same_mode"}}
    assert f.attributeAdaptersForFunction() == {"dilation2d": {"isSameMode": "is_same_mode:int"}}
    assert f.iArgs() == [1, 3, 1, 1, 2] and f.tArgs() == f.bArgs() == f.sArgs() == f.dArgs() == []


@pytest.mark.parametrize("op_id", sorted(OPS))
def test_names_elsewhere_are_those_of_known_ops(op_id):
    assert all(name and " " not in name for name in (*tensorflow_names(op_id), *onnx_names(op_id)))


def test_an_op_without_counterpart_says_so():
    sd = graph()
    sd.math.entropy(sd.variable("h"), 1)
    assert sd.ops()[-1].onnx_names() == []
    with pytest.raises(GraphError, match="has no counterpart in ONNX"):
        sd.ops()[-1].onnx_name()


def test_gradients_by_hand():
    sd = graph()
    (f,) = sd.ops()
    g = sd.constant("g", np.ones((4, 2), np.float32))
    for made in (f.do_diff([g]), f.diff([g])):
        found = sd.output({"x": np.ones((4, 3))}, *made)
        assert [found[v.name()].tolist() for v in made] == [[[2.0] * 3] * 4, [[4.0] * 2] * 3]
    with pytest.raises(GraphError, match="has 1 results; got 0 gradients"):
        f.do_diff([])
    with pytest.raises(GradientError):
        sd.argmax(sd.variable("h"), 1)
        sd.ops()[-1].do_diff([g])


def test_the_factory_has_every_op():
    sd = graph()
    h = sd.variable("h")
    assert sd.f().sum("total", h, False, 0).get_shape() == (2,) and sd.f().tanh(h).op_name() == "tanh"
    assert sd.f().tanh_bp(h, h).get_shape() == (-1, 2)
    with pytest.raises(DL4PyError, match="no op 'tanhh'"):
        sd.f().tanhh(h)


def test_schemes_of_variables():
    sd = SameDiff.create()
    scheme = XavierInitScheme("c", 100)
    v = sd.var("v", scheme, DataType.FLOAT, 100)
    assert v.getWeightInitScheme() is scheme and scheme.fan_out == 100
    before = v.get_arr().copy()
    v.set_weight_init_scheme(XavierInitScheme("c", 1, 9))
    assert v.get_weight_init_scheme().fan_out == 9 and not np.array_equal(v.get_arr(), before)
    assert sd.var("w", 3).get_weight_init_scheme() is None
    with pytest.raises(GraphError, match="draws values of variables"):
        sd.constant("c", 1.0).set_weight_init_scheme(scheme)


def test_descriptions_for_other_programs(capsys):
    assert main(["ops"]) == 0
    found = {d["name"]: d for d in json.loads(capsys.readouterr().out)}
    assert found.keys() == set(OPS)
    conv = found["conv2d"]
    assert [i["name"] for i in conv["inputs"]] == ["x", "weights", "bias"] and conv["arguments"]["ints"][:2] == ["k_h", "k_w"]
    assert conv["inputs"][2]["optional"] and conv["gradient"] == "full" and conv["tensorflow"] == ["Conv2D"]
    assert main(["ops", "--form", "pbtxt"]) == 0
    text = capsys.readouterr().out
    assert text.count("opList {") == len(found) and text.count("{") == text.count("}")
    assert 'name: "k_w"\n    argType: INT64\n    argIndex: 1' in text


def test_functions_of_a_graph_are_not_pickled_alone():
    with pytest.raises(GraphError, match="belongs to its graph"):
        import pickle
        pickle.dumps(graph().ops()[0])
    assert isinstance(graph().ops()[0], DifferentialFunction)
