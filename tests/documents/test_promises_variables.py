"""What DL4J's document on variables promises, by the line that says it."""
from __future__ import annotations

from .promises import keep, promises

PROMISES = """
# 5 whatever a graph holds are variables
assert all(isinstance(v, SDVariable) for v in sd.variables())
# 7 they are arrays of any rank
assert sd.var("v5", DataType.FLOAT, 1, 2, 3, 4, 5).getShape() == (1, 2, 3, 4, 5)
# 11 there are four kinds
assert {"VARIABLE", "CONSTANT", "ARRAY", "PLACEHOLDER"} <= {t.name for t in VariableType}
# 13 variables are stored and trained
sd.setTrainingConfig(config)
before = w.getArr().copy()
sd.fit(batches, 1)
sd.save(folder + "/v.fb", False)
assert (w.getArr() != before).any() and w.isTrainable()
equal(SameDiff.load(folder + "/v.fb", False).getVariable("w").getArr(), w.getArr())
# 17 constants are stored, and not trained
c = sd.constant("c", np.ones(3, np.float32))
hidden.mul(c).mean().markAsLoss()
sd.setTrainingConfig(config)
sd.fit(batches, 1)
sd.save(folder + "/c.fb", False)
equal(SameDiff.load(folder + "/c.fb", False).getVariable("c").getArr(), np.ones(3))
# 19 but changed from outside
c = sd.constant("c", np.ones(3, np.float32))
c.setArray(np.zeros(3, np.float32))
equal(c.add(1.0).eval(), np.ones(3))
# 19 by setArray, as values of constants are worked with before
c = sd.constant("c", np.ones(3, np.float32))
def write():
    c.getArr()[...] = 3
refused(write, "set_array")
# 21 placeholders are not stored
sd.outputSingle(feeds, "softmax")
refused(lambda: sd.outputSingle({}, "softmax"), "input")
# 27 results are worked out anew
equal(sd.outputSingle({"input": feeds["input"] * 0}, "hidden"), np.zeros((2, 3)))
equal(sd.outputSingle(feeds, "hidden"), np.maximum(feeds["input"] @ w.getArr(), 0))
# 35 the kind of a variable
assert [v.getVariableType() for v in (w, x, hidden)] == [VariableType.VARIABLE, VariableType.PLACEHOLDER, VariableType.ARRAY]
# 37 getArr(True) insists
assert hidden.getArr() is None
refused(lambda: hidden.getArr(True), "no array")
# 41 floating types
assert all(t.isFPType() for t in (DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16))
# 41 types of whole numbers
assert all(t.isIntType() for t in (DataType.LONG, DataType.INT, DataType.SHORT, DataType.UBYTE))
# 41 numeric types
assert DataType.BOOL.is_numeric and DataType.INT.isNumerical() and DataType.FLOAT.isNumerical()
# 41 text, and helpers
assert {"UTF8", "COMPRESSED", "UNKNOWN"} <= {t.name for t in DataType}
# 41 which no array has
for t in (DataType.COMPRESSED, DataType.UNKNOWN):
    refused(lambda: sd.var("n", t, 2), t.name)
    refused(lambda: sd.placeHolder("n", t, 2), t.name)
    refused(lambda: w.castTo(t), t.name)
    refused(lambda: Nd4j.create(t, 2), t.name)
    refused(lambda: Nd4j.ones(2).castTo(t), t.name)
# 41 further types
assert {"BFLOAT16", "UINT16", "UINT32", "UINT64"} <= {t.name for t in DataType}
# 45 the type of a variable
assert w.dataType() == DataType.FLOAT and sd.var("d", np.ones(2)).dataType() == DataType.DOUBLE
# 49 convolutions want floating types
image, kernel = sd.constant(np.ones((1, 2, 5), np.float32)), sd.constant(np.ones((2, 2, 3), np.float32))
assert sd.cnn.conv1d(image, kernel, Conv1DConfig.builder().k(2).build()).eval().shape[:2] == (1, 3)
# 51 and refuse others
image, kernel = sd.constant(np.ones((1, 2, 5), np.int32)), sd.constant(np.ones((2, 2, 3), np.int32))
refused(lambda: sd.cnn.conv1d(image, kernel, Conv1DConfig.builder().k(2).build()), "conv1d")
# 59 variables know their graph
assert w.getSameDiff() is sd and w.sd is sd
# 61 results are of ARRAY type
assert {v.getVariableType() for f in sd.ops() for v in f.outputVariables()} == {VariableType.ARRAY}
# 63 variables of two graphs do not meet
refused(lambda: w.add(SameDiff.create().var("o", DataType.FLOAT, 3)), "graph")
# 65 names are made where none is given, once each
made = [w.add(1.0).name() for k in range(3)] + [sd.var(DataType.FLOAT, 2).name()]
assert all(made) and len(set(made)) == 4
# 67 a name of a variable is refused a second time
refused(lambda: sd.var("w", DataType.FLOAT, 2), "w")
# 74 what is trained is floating
whole = sd.var("whole", DataType.INT, 2)
assert not whole.isTrainable() and w.isTrainable()
# 78 a variable of zeros
weights = sd.var("weights", DataType.FLOAT, 784, 10)
assert weights.getShape() == (784, 10)
# 82 whose values are zeros
assert not sd.var("weights", DataType.FLOAT, 784, 10).getArr().any()
# 84 a variable with given values
weights = sd.var("weigths", Nd4j.randn(784, 10).div(28))
assert abs(weights.getArr().std() * 28 - 1) < 0.05
equal(sd.var("given", Nd4j.ones(2, 2)).getArr(), np.ones((2, 2)))
# 88 a variable from a scheme
weights = sd.var("weights", XavierInitScheme('c', 784, 10), DataType.FLOAT, 784, 10)
assert abs(weights.getArr().std() / np.sqrt(2 / 794) - 1) < 0.05
# 95 constants of any type
assert [sd.constant(np.ones(2, t)).dataType() for t in (np.int32, np.bool_, np.float64)] == [DataType.INT, DataType.BOOL, DataType.DOUBLE]
# 101 a constant from an array
constant = sd.constant("constants", Nd4j.create([3.1415, 42.0]))
assert constant.getVariableType() == VariableType.CONSTANT
equal(constant.eval(), [3.1415, 42])
# 105 a scalar
someScalar = sd.scalar("scalar", 42)
assert someScalar.eval() == 42 and someScalar.getShape() == () and someScalar.isConstant()
assert sd.scalar(42).isConstant() and sd.scalar(DataType.INT, 2).dataType() == DataType.INT
rate = sd.scalar("rate", DataType.FLOAT, 2.0)
hidden.mul(rate).mean().markAsLoss()
sd.setTrainingConfig(config)
sd.fit(batches, 1)
assert rate.getVariableType() == VariableType.CONSTANT and rate.getArr() == 2
# 108 placeholders of any type
assert all(sd.placeHolder("p" + t.name, t, -1).dataType() == t for t in (DataType.INT, DataType.BOOL, DataType.DOUBLE))
# 110 a placeholder whose batch is open
in_ = sd.placeHolder("in", DataType.FLOAT, -1, 784)
for n in (1, 5):
    assert in_.sum(1).eval({"in": np.ones((n, 784), np.float32)}).shape == (n,)
# 110 also by None, in either place of the type
assert tuple(sd.placeHolder("p", DataType.FLOAT, None, 3).getShape()) == tuple(sd.placeHolder("q", -1, 3).getShape()) == (-1, 3)
# 115 types of results
assert w.add(w).dataType() == DataType.FLOAT and w.gt(0.0).dataType() == DataType.BOOL and sd.argmax(w, 0).dataType() == DataType.LONG
# 115 gradients of results
assert sd.calculateGradients(feeds, "hidden")["hidden"].shape == (2, 3)
# 167 a variable becomes a constant
sd.convertToConstant(w)
sd.setTrainingConfig(config)
before = w.getArr().copy()
sd.fit(batches, 1)
assert w.getVariableType() == VariableType.CONSTANT
equal(w.getArr(), before)
# 174 only constants of floating type become variables
refused(lambda: sd.constant("n", np.ones(2, np.int32)).convertToVariable(), "INT")
# 176 and a variable again
frozenWeights = w.convertToConstant()
sd.convertToVariable(frozenWeights)
sd.setTrainingConfig(config)
before = w.getArr().copy()
sd.fit(batches, 1)
assert w.getVariableType() == VariableType.VARIABLE and (w.getArr() != before).any()
# 180 a placeholder with a value becomes a constant
x.setArray(feeds["input"])
sd.convertToConstant(x)
equal(softmax.eval().sum(1), [1, 1])
assert tuple(hidden.getShape()) == (2, 3)
# 180 one without a value does not
refused(lambda: sd.convertToConstant(x), "value")
# 189 variables by name
assert sd.getVariable("w").name() == "w"
# 193 results inside a line have names
cost = x.mmul(w).sub("regression_prediction", b).squaredDifference(y)
assert cost.getShape() == (-1, 3) and sd.hasVariable("regression_prediction")
# 197 and are found by them
x.mmul(w).sub("regression_prediction", b).squaredDifference(y)
errorVector = sd.getVariable("regression_prediction").sub(y)
equal(errorVector.eval(feeds), feeds["input"] @ w.getArr() - feeds["labels"])
# 201 names are read and changed
hidden.setVarName("renamed")
assert hidden.getVarName() == "renamed" and sd.getVariable("renamed") is hidden
# 201 but stay unique
refused(lambda: hidden.setVarName("w"), "w")
# 205 the value of a variable
equal(w.eval(), np.linspace(-1, 1, 12).reshape(4, 3))
# 205 values of placeholders come first
refused(lambda: softmax.eval(), "input")
# 205 gradients of variables
assert w.getGradient().eval(feeds).shape == (4, 3)
"""


@promises("variables", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(program, spelling, folder=str(tmp_path), tag=spelling)
