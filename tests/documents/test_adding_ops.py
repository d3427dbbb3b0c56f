"""Functions, variables and graphs, as DL4J's document on adding ops tells it."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import DataType, SameDiff

from .programs import run, spellings

PRODUCT = """
sd = SameDiff.create()

inArr = np.linspace(1, n, n).reshape(d0, d1, d2)
inMul2Exp = inArr * 2

in_ = sd.var("in", inArr)
inMul2 = in_.mul(2.0)

sd.exec()
"""

CROSS = """
def cross(*args):
    name, a, b = args if len(args) == 3 else (None, *args)
    ret = sd.f().cross(a, b)
    return sd.updateVariableNameAndReference(ret, name)
"""


@spellings
def test_a_product_is_executed(spelling):
    made = run(PRODUCT, spelling, np=np, n=60, d0=3, d1=4, d2=5)
    np.testing.assert_array_equal(made["inMul2"].getArr(), made["inMul2Exp"])
    assert made["sd"].execAndEndResult().shape == (3, 4, 5)


@spellings
def test_an_op_is_exposed_by_the_factory(spelling, rng):
    a, b = rng.normal(size=(2, 4, 3))
    sd = SameDiff.create()
    cross = run(CROSS, spelling, sd=sd)["cross"]
    named = cross("c", sd.constant("a", a), sd.constant("b", b))
    assert named.name() == "c" and cross(sd.getVariable("a"), sd.getVariable("b")).name() != "c"
    np.testing.assert_allclose(named.eval(), np.cross(a, b), rtol=1e-6)


@pytest.mark.parametrize("read, expected", [
    ("f.args()", ["x", "w"]), ("[f.arg()]", ["x"]), ("[f.larg(), f.rarg()]", ["x", "w"]), ("[f.outputVariables()[0]]", ["y"]),
])
def test_functions_know_inputs_and_outputs(read, expected):
    sd = SameDiff.create()
    sd.var("x", 2, 3).mmul("y", sd.var("w", 3, 2))
    f = sd.ops()[0]
    assert f.sameDiff is sd
    assert [v.name() for v in eval(read, {"f": f})] == expected


@pytest.mark.parametrize("method", ["attributeAdaptersForFunction", "mappingsForFunction", "propertiesForFunction"])
def test_functions_have_properties_and_mappings(method):
    sd = SameDiff.create()
    sd.var("x", 2, 3).sum(0)
    assert isinstance(getattr(sd.ops()[0], method)(), dict)
    assert sd.ops()[0].resolvePropertiesFromSameDiffBeforeExecution() is None


def test_doing_the_derivative():
    sd = SameDiff.create()
    x, y = sd.var("x", np.array([1.0, 2.0])), sd.var("y", np.array([3.0, 4.0]))
    x.mul(y)
    one = sd.constant("one", np.ones(2))
    for made in (sd.ops()[0].doDiff([one]), sd.ops()[0].diff([one])):
        assert [g.eval().tolist() for g in made] == [[3.0, 4.0], [1.0, 2.0]]


def test_names_for_import():
    sd = SameDiff.create()
    sd.math.tanh(sd.var("x", 2))
    assert (sd.ops()[0].opName(), sd.ops()[0].tensorflowName(), sd.ops()[0].onnxName()) == ("tanh", "Tanh", "Tanh")


def test_variables_know_values_and_gradients():
    sd = SameDiff.create()
    a = sd.var("a", np.array([2.0]))
    c = a.add(3.0)
    assert c.eval() == 5 and a.getArr() == 2
    assert not a.hasGradient()
    c.markAsLoss()
    assert a.gradient().eval() == 1
    assert a.getShape() == (1,) and a.name() == "a" and a.getSameDiff() is sd and a.getWeightInitScheme() is None
    assert a.dataType() is DataType.DOUBLE
