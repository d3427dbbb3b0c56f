"""Variables, their kinds and values, as DL4J's document tells it."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff import Conv1DConfig, DataType, SameDiff, VariableType
from dl4py.samediff.errors import DL4PyError

from .programs import run, spellings

MADE = """
weights = samediff.var("weights", DataType.FLOAT, 784, 10)
random = samediff.var("weigths", randn(784, 10) / 28)
drawn = samediff.var("drawn", XavierInitScheme('c', 784, 10), DataType.FLOAT, 784, 10)
constant = samediff.constant("constants", np.array([3.1415, 42], np.float32))
someScalar = samediff.scalar("scalar", 42)
in_ = samediff.placeHolder("input", DataType.FLOAT, -1, 784)
prod = in_.mmul(weights)

varType = prod.getVariableType()
dataType = prod.dataType()
"""

CONVERTED = """
samediff.convertToConstant(someVariable)
frozen = someVariable.getVariableType()
samediff.convertToVariable(someVariable)
thawed = someVariable.getVariableType()
placeholder.setArray(value)
samediff.convertToConstant(placeholder)
"""

NAMED = """
regressionCost = weights.mmul(input).sub("regression_prediction", bias).squaredDifference(labels)
errorVector = samediff.getVariable("regression_prediction").sub(labels)
before = errorVector.getVarName()
errorVector.setVarName("errors")
"""


@spellings
def test_how_variables_are_made(spelling, rng):
    made = run(MADE, spelling, samediff=SameDiff.create(), np=np, randn=lambda *shape: rng.normal(size=shape))
    kinds = {n: made[n].getVariableType() for n in ("weights", "random", "drawn", "constant", "someScalar", "in_", "prod")}
    assert kinds == {**dict.fromkeys(("weights", "random", "drawn"), VariableType.VARIABLE),
                     **dict.fromkeys(("constant", "someScalar"), VariableType.CONSTANT),
                     "in_": VariableType.PLACEHOLDER, "prod": VariableType.ARRAY}
    assert made["varType"] is VariableType.ARRAY and made["dataType"] is DataType.FLOAT
    assert not made["weights"].getArr().any() and made["drawn"].getArr(True).std() > 0
    assert not made["someScalar"].is_trainable()


@spellings
def test_how_kinds_change(spelling):
    sd = SameDiff.create()
    v, p = sd.var("v", 2), sd.placeHolder("p", DataType.FLOAT, -1)
    q = p.add("q", 1.0)
    made = run(CONVERTED, spelling, samediff=sd, someVariable=v, placeholder=p, value=np.zeros(3))
    assert (made["frozen"], made["thawed"], p.getVariableType()) == (VariableType.CONSTANT, VariableType.VARIABLE, VariableType.CONSTANT)
    assert q.getShape() == (3,)


@spellings
def test_names_find_variables(spelling, rng):
    sd = SameDiff.create()
    given = {n: sd.var(n, rng.normal(size=s)) for n, s in {"weights": (2, 3), "input": (3, 2), "bias": (2,), "labels": (2, 2)}.items()}
    made = run(NAMED, spelling, samediff=sd, **given)
    w, x, b, y = (given[n].eval() for n in ("weights", "input", "bias", "labels"))
    np.testing.assert_allclose(made["regressionCost"].eval(), (w @ x - b - y) ** 2)
    np.testing.assert_allclose(sd.getVariable("errors").eval(), w @ x - b - y)
    with pytest.raises(DL4PyError):
        made["errorVector"].setVarName("bias")


@pytest.mark.parametrize("name", ["FLOAT", "DOUBLE", "HALF", "LONG", "INT", "SHORT", "UBYTE", "BOOL", "UTF8", "COMPRESSED", "UNKNOWN",
                                  "BFLOAT16", "UINT16", "UINT32", "UINT64"])
def test_data_types(name):
    assert DataType[name].is_numeric == (name not in ("UTF8", "COMPRESSED", "UNKNOWN"))


def test_convolutions_want_floating_types():
    sd = SameDiff.create()
    with pytest.raises(DL4PyError, match="conv1d"):
        sd.cnn.conv1d(sd.constant(np.ones((1, 2, 5), np.int32)), sd.constant(np.ones((2, 2, 3), np.int32)), Conv1DConfig(k=2))


def test_constants_are_changed_from_outside():
    sd = SameDiff.create()
    c = sd.constant("c", np.ones(2))
    d = c.add(1.0)
    c.setArray(np.zeros(2))
    assert d.eval().tolist() == [1, 1]
    with pytest.raises(DL4PyError, match="set_array"):
        c.getArr()[...] = 3
