"""What DL4J's document that introduces SameDiff promises of user-defined ops, by the line that says it."""
from __future__ import annotations

from .promises import keep, promises

# The class is the document's, in both forms of ``exec`` and of the shape rule; only the constructors are one.
CLASS = """
@UserDefinedOp
class MyAddUdf(UserDefinedCustomOp):
    def __init__(self, sameDiff=None, x=None, y=None):
        if sameDiff is None:
            super().__init__()
        else:
            super().__init__(sameDiff, [x, y])
    def opName(self):
        return "documents_my_add_udf_" + tag
    def getNumOutputs(self):
        return 1
    def calculateOutputDataTypes(self, inputTypes):
        return [inputTypes.get(0)]
    def calculateOutputShape(self, oc=None):
        if oc is None:
            return [self.inputArguments.get(0).shapeDescriptor()]
        return [oc.getInputArrays().get(0).shapeDescriptor()]
    def exec(self, opContext=None):
        if opContext is None:
            addOp = AddOp()
            addOp.addInputArgument(self.inputArguments.get(0), self.inputArguments.get(1))
            Nd4j.getExecutioner().exec(addOp)
            self.outputArguments.addAll(addOp.outputArguments)
        else:
            Nd4j.getExecutioner().exec(AddOp(), opContext)
    def doDiff(self, grad):
        return AddBpOp(self.sameDiff, self.larg(), self.rarg(), grad.get(0)).outputs()
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
sd = SameDiff.create()
x = sd.placeHolder("x", DataType.FLOAT, -1, 128)
y = sd.placeHolder("y", DataType.FLOAT, -1, 128)
outputs = sd.doUdf(MyAddUdf(sd, x, y))
result = outputs[0]
loss = result.mean("loss")
a = np.linspace(-1, 1, 256).reshape(2, 128).astype(np.float32)
values = {"x": a, "y": 2 * a}
"""

PROMISES = """
# 195 user ops are compiled, too
steps = str(sd.explain(values, [result.name()]))
assert "steps called from Python: 0" in steps and "native" in steps
# 222 the class of the document computes
equal(sd.outputSingle(values, result.name()), 3 * a)
assert tuple(result.getShape()) == (-1, 128)
# 252 shape rules see the values of constants
@UserDefinedOp
class Filled(UserDefinedCustomOp):
    def opName(self):
        return "documents_filled_" + tag
    def calculateOutputShape(self, oc):
        sizes = oc.getInputArray(1)
        return [LongShapeDescriptor.fromShape([int(sizes[0]), int(sizes[1])], DataType.FLOAT)]
    def exec(self, oc):
        oc.getOutputArray(0).assign(oc.getInputArray(0).sum())
made = sd.doUdf(Filled(sd, [x, sd.constant("sizes", np.array([3, 2], np.int32))]))[0]
assert made.getShape() == (3, 2)
equal(sd.outputSingle(values, made.name()), np.full((3, 2), a.sum()))
refused(lambda: sd.doUdf(Filled(sd, [x, sd.placeHolder("p", DataType.INT, 2)])), "not known while the graph is built")
# 252 both forms of the shape rule and of exec in one method
@UserDefinedOp
class Both(UserDefinedCustomOp):
    def opName(self):
        return "documents_both_" + tag
    def getNumOutputs(self):
        return 2
    def calculateOutputDataTypes(self, inputTypes):
        return [inputTypes[0]] * 2
    def calculateOutputShape(self, oc=None):
        a = oc.getInputArray(0)
        return [a.shapeDescriptor(), LongShapeDescriptor.fromShape(a.shape[:1], a.dataType())]
    def exec(self, oc=None):
        oc.getOutputArray(0).assign(oc.getInputArray(0).mul(2))
        oc.getOutputArray(1).assign(oc.getInputArray(0).sum(1))
    def doDiff(self, grad):
        return [grad[0].mul(2.0).add(self.sameDiff.expandDims(grad[1], 1))]
doubled, sums = sd.doUdf(Both(sd, [x]))
equal(sd.outputSingle(values, sums.name()), a.sum(1))
doubled.sum().add("l", sums.sum())
sd.setLossVariables("l")
equal(sd.calculateGradients(values, "x")["x"], np.full((2, 128), 3))
# 267 exec on arrays, with nothing but them
op = MyAddUdf()
op.addInputArgument(Nd4j.ones(2, 3), Nd4j.ones(2, 3))
equal(Nd4j.exec(op)[0], np.full((2, 3), 2))
equal(op.outputArguments.get(0), np.full((2, 3), 2))
out = Nd4j.zeros(3)
op = MyAddUdf()
op.addInputArgument(Nd4j.ones(3), Nd4j.ones(3))
op.addOutputArgument(out)
assert Nd4j.getExecutioner().exec(op)[0] is out
equal(out, [2, 2, 2])
refused(lambda: Nd4j.exec(MyAddUdf(sd, x, y)), "documents_my_add_udf")
# 273 doDiff gives one gradient for each input, also where one was broadcast
found = sd.calculateGradients(values, "x", "y")
equal(found["y"], np.full((2, 128), 1 / 256))
b = sd.var("b", np.ones(128, np.float32))
made = sd.doUdf(MyAddUdf(sd, x, b))[0].sum("l")
sd.setLossVariables("l")
equal(sd.calculateGradients(values, "b")["b"], np.full(128, 2))
# 273 and of its shape
@UserDefinedOp
class Wrong(MyAddUdf):
    def opName(self):
        return "documents_wrong_" + tag
    def doDiff(self, grad):
        return [grad[0].sum(), grad[0]]
made = sd.doUdf(Wrong(sd, x, sd.var("b", np.ones(128, np.float32))))[0].sum("l")
sd.setLossVariables("l")
refused(lambda: sd.calculateGradients(values, "x"), "documents_wrong_.* gives for its input 0, 'x'.* is of shape ..; expected .-1, 128")
# 297 and made by the op itself, as those of the built-in ones
op = MyAddUdf(sd, x, y)
equal(op.outputVariables()[0].eval(values), 3 * a)
assert op.outputs() == op.outputVariables() and op.outputVariable().name() == op.outputVariables()[0].name()
# 297 its outputs are wired like those of any op
more = sd.nn.relu("more", result.mul(2.0), 0)
equal(sd.outputSingle(values, "more"), np.maximum(6 * a, 0))
# 310 saved and loaded with the graph
sd.save(folder + "/model_with_udf.sdnb", False)
reloaded = SameDiff.load(folder + "/model_with_udf.sdnb", False)
equal(reloaded.outputSingle(values, "loss"), 3 * a.mean())
equal(reloaded.calculateGradients(values, "x")["x"], np.full((2, 128), 1 / 256))
# 316 properties are saved with it
@UserDefinedOp
class Clip(UserDefinedCustomOp):
    def __init__(self, x=None, threshold=1.0, mode=0):
        super().__init__(None, [] if x is None else [x])
        self.threshold, self.mode = threshold, mode
    def opName(self):
        return "documents_clip_" + tag
    def calculateOutputShape(self, oc):
        return [oc.getInputArray(0).shapeDescriptor()]
    def exec(self, oc):
        oc.getOutputArray(0).assign(np.minimum(oc.getInputArray(0), self.threshold * (1 + self.mode)))
    def propertiesForFunction(self):
        return {"threshold": self.threshold, "mode": self.mode}
    def setPropertiesForFunction(self, props):
        self.threshold = float(props.get("threshold"))
        self.mode = int(props.get("mode"))
name = sd.doUdf(Clip(x, 0.25, 1))[0].name()
sd.save(folder + "/clip.sdnb", False)
equal(SameDiff.load(folder + "/clip.sdnb", False).outputSingle(values, name), np.minimum(a, 0.5))
equal(Nd4j.exec(Clip(Nd4j.create([0.0, 2.0]), 0.25, 1))[0], [0, 0.5])
"""


@promises("samediff", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(CLASS + program, spelling, folder=str(tmp_path), tag=spelling)
