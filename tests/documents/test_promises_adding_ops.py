"""What DL4J's document on adding ops promises, by the line that says it."""
from __future__ import annotations

from .promises import keep, promises

PROMISES = """
# 11 functions, execution, checks of gradients, losses, graphs
assert all(callable(c) for c in (DifferentialFunction, InferenceSession, GradCheckUtil, SameDiff)) and sd.loss is not None
# 15 gradients are checked by differences
v = sd.var("v", np.array([0.3, 0.7]))
made = SameDiff.create()
made.math.tanh(made.var("v", np.array([0.3, 0.7]))).sum("l").markAsLoss()
assert GradCheckUtil.checkGradients(made, {})
# 25 what a graph consists of are functions
assert all(isinstance(f, DifferentialFunction) for f in sd.ops())
# 25 variables and user ops among it
class Mine(UserDefinedCustomOp):
    pass
assert isinstance(w, DifferentialFunction) and isinstance(Mine(), DifferentialFunction) and isinstance(AddOp(), DifferentialFunction)
# 27 functions know their graph
assert all(f.sameDiff is sd for f in sd.ops())
# 31 functions have names
assert all(f.opName() for f in sd.ops())
# 31 properties and mappings of functions
f = sd.ops()[0]
assert isinstance(f.propertiesForFunction(), dict) and isinstance(f.mappingsForFunction(), dict)
assert isinstance(f.attributeAdaptersForFunction(), dict)
f.resolvePropertiesFromSameDiffBeforeExecution()
# 31 of user ops too, which may say others
class Mine(UserDefinedCustomOp):
    def opName(self):
        return "mine"
    def onnxName(self):
        return "Mine"
made = Mine()
assert made.propertiesForFunction() == made.mappingsForFunction() == made.attributeAdaptersForFunction() == {}
assert made.resolvePropertiesFromSameDiffBeforeExecution() is None and made.onnxName() == "Mine"
refused(lambda: made.tensorflowName(), "mine")
# 37 all inputs
assert [v.name() for v in sd.ops()[0].args()] == ["input", "w"]
# 39 the first input
assert sd.ops()[0].arg().name() == "input"
# 41 left and right input
f = sd.ops()[0]
assert (f.larg().name(), f.rarg().name()) == ("input", "w")
# 43 all outputs
assert sd.nn.relu("r", w, 0).name() == sd.ops()[-1].outputVariables()[0].name() == "r"
# 45 shapes are calculated
assert [tuple(s.shape) for s in sd.ops()[0].calculateOutputShape()] == [(-1, 3)]
# 45 and types, of any inputs
f = sd.ops()[0]
assert f.calculateOutputDataTypes() == [DataType.FLOAT]
assert f.calculateOutputDataTypes([DataType.DOUBLE, DataType.DOUBLE]) == [DataType.DOUBLE]
# 49 doDiff gives a gradient for each input
a, c = sd.var("a", np.array([1.0, 2.0])), sd.var("c", np.array([3.0, 4.0]))
a.mul(c)
equal([g.eval() for g in sd.ops()[-1].doDiff([sd.constant(np.ones(2))])], [[3, 4], [1, 2]])
# 49 ops of backward passes
g = sd.constant(np.ones((2, 3)))
for name in ("add_bp", "subtract_bp", "multiply_bp", "divide_bp"):
    assert len(sd.op(name, sd.constant(np.ones((2, 3))), sd.constant(np.ones((2, 3))), g)) == 2
assert sd.op("tanh_bp", sd.constant(np.ones((2, 3))), g).getShape() == (2, 3)
# 49 also of reductions and convolutions
g = sd.constant(np.ones((2, 3)))
equal(sd.op("reduce_sum_bp", g, sd.constant(np.array([1.0, 2.0])), dimensions=[1]).eval(), [[1, 1, 1], [2, 2, 2]])
x, w = sd.constant(np.ones((1, 1, 3, 3))), sd.constant(np.ones((2, 2, 1, 1)))
dx, dw = sd.op("conv2d_bp", x, w, sd.constant(np.ones((1, 1, 2, 2))))
equal(dw.eval(), np.full((2, 2, 1, 1), 4))
equal(dx.eval()[0, 0], [[1, 2, 1], [2, 4, 2], [1, 2, 1]])
# 51 diff calls doDiff
a = sd.var("a", np.array([1.0, 2.0]))
sd.math.square(a)
equal(sd.ops()[-1].diff([sd.constant(np.ones(2))])[0].eval(), [2, 4])
# 58 the factory of a function is that of its graph
equal(sd.ops()[0].f().sum(w).eval(), sd.f().sum(w).eval())
# 58 whatever is a function of the graph: user ops, op classes, variables
@UserDefinedOp
class Squashed(UserDefinedCustomOp):
    def opName(self):
        return "documents_squashed_" + tag
    def calculateOutputShape(self, oc):
        return [oc.getInputArray(0).shapeDescriptor()]
    def exec(self, oc):
        oc.getOutputArray(0).assign(np.tanh(oc.getInputArray(0)))
    def doDiff(self, grad):
        return [self.f().tanhBp(self.arg(), grad[0])]
v = sd.var("v", np.array([0.5, 1.0]))
sd.doUdf(Squashed(sd, [v]))[0].sum("l")
sd.setLossVariables("l")
equal(sd.calculateGradients({}, "v")["v"], 1 - np.tanh([0.5, 1]) ** 2)
for function in (AddOp(v, v), Squashed(None, [v]), v.add(v)):
    assert function.larg() is v
    equal(function.f().sum(v).eval(), 1.5)
refused(lambda: AddOp().f(), "in no graph")
refused(lambda: v.arg(), "has 0 inputs")
# 63 the factory provides ops
equal(sd.f().sum(w, 0).eval(), w.getArr().sum(0))
# 71 among them those of backward passes
equal(sd.f().tanh_bp(sd.constant(np.zeros(2)), sd.constant(np.ones(2))).eval(), [1, 1])
equal(sd.f().tanhBp(sd.constant(np.zeros(2)), sd.constant(np.ones(2))).eval(), [1, 1])
# 82 variables are functions
y = w.add("y", 1.0)
assert y.args()[0].name() == "w" and not w.args() and y.outputVariables()[0].name() == "y" and y.opName()
# 82 variables know their scheme
scheme = XavierInitScheme('c', 3, 2)
made = sd.var("made", scheme, DataType.FLOAT, 3, 2)
assert made.getWeightInitScheme() == scheme and made.name() == "made" and made.getShape() == (3, 2)
# 82 which needs sizes
refused(lambda: sd.var("made", XavierInitScheme('c', 3, 2)), "variable 'made': sizes are missing")
# 82 and have setters
made = sd.var("made", DataType.FLOAT, 3, 2)
made.setWeightInitScheme(OneInitScheme())
assert made.getWeightInitScheme() == OneInitScheme()
made.setVarName("other")
assert made.name() == "other"
# 84 eval runs the graph
equal(w.mul(2.0).eval(), w.getArr() * 2)
# 84 getArr has the current value
doubled = w.mul(2.0)
sd.exec({"input": feeds["input"]}, [doubled.name()])
equal(doubled.getArr(), w.getArr() * 2)
# 84 no gradient before there is one
made = SameDiff.create()
a = made.var("a", np.array([2.0]))
assert not a.hasGradient() and a.gradient() is None
made.math.square(a).sum().markAsLoss()
equal(a.gradient().eval(), [4])
# 84 nor where the graph has several results and no loss
made = SameDiff.create()
a = made.var("a", np.array([2.0]))
b, c = made.math.square(a), made.math.sin(a)
assert a.gradient() is None and b.gradient() is None
b.markAsLoss()
equal(a.gradient().eval(), [4])
# 88 variables have methods for ops
equal(w.add(1.5).eval(), w.getArr() + 1.5)
# 91 on two variables as well
equal(w.add(w).eval(), w.getArr() * 2)
# 95 graphs run without arguments
made = SameDiff.create()
made.var("in", np.arange(3.0)).mul(2.0)
made.exec()
equal(made.execAndEndResult(), [0, 2, 4])
# 99 functions are found by name
f = sd.ops()[0]
assert sd.getOpById(f.getOwnName()) is not None
# 101 the graph knows inputs and outputs of functions
f = sd.ops()[0]
assert sd.getInputsForOp(f) == ["input", "w"] and sd.getOutputsForOp(f) == [sd.ops()[0].outputVariables()[0].name()]
# 103 properties of a function by the graph
f = sd.ops()[0]
assert sd.propertiesForFunction(f) == f.propertiesForFunction()
# 103 nothing is left to resolve before an execution
assert sd.ops()[0].propertiesToResolve() == sd.propertiesToResolve(sd.ops()[0]) == []
# 111 a product of vectors by the factory, named
ret = sd.updateVariableNameAndReference(sd.f().cross(sd.constant(np.eye(3)[:1]), sd.constant(np.eye(3)[1:2])), "c")
assert ret.name() == "c"
equal(ret.eval(), [[0, 0, 1]])
# 122 the product of the document
n, d0, d1, d2, inOrder = 60, 3, 4, 5, 'c'
sd = SameDiff.create()
inArr = Nd4j.linspace(1, n, n).reshape(inOrder, d0, d1, d2)
inMul2Exp = inArr.mul(2)
in_ = sd.var("in", inArr)
inMul2 = in_.mul(2.0)
sd.exec()
equal(inMul2.getArr(), inMul2Exp)
# 132 one call checks values and gradients
assert OpValidation.validate(TestCase(sd).gradientCheck(False)) is None
# 142 an op is a class with constructors, a name and doDiff, which counts
from dl4py.samediff.nd4j.op_classes import BaseTransformOp
class Cosine(BaseTransformOp):
    def __init__(self, sameDiff, x, inPlace=False):
        super().__init__(sameDiff, x, inPlace)
    def opName(self):
        return "cos"
    def tensorflowName(self):
        return "Cos"
    def onnxName(self):
        return "Cos"
    def doDiff(self, gradients):
        return [self.f().sin(self.arg()).neg().mul(gradients.get(0)).mul(2.0)]
v = sd.var("v", np.array([0.5, 1.0]))
made = Cosine(sd, v)
equal(made.outputVariables()[0].eval(), np.cos([0.5, 1]))
assert (made.opName(), made.tensorflowName(), made.onnxName()) == ("cos", "Cos", "Cos")
made.outputVariables()[0].sum("l")
sd.setLossVariables("l")
equal(sd.calculateGradients({}, "v")["v"], -2 * np.sin([0.5, 1]))
# 152 base classes calculate shapes, also those of reductions
from dl4py.samediff.nd4j.op_classes import BaseReduceOp, Cos
class Total(BaseReduceOp):
    def opName(self):
        return "reduce_sum"
equal(Total(sd, w, False, [0]).outputVariables()[0].eval(), w.getArr().sum(0))
assert [tuple(s.shape) for s in Cos(sd, w).calculateOutputShape()] == [(4, 3)]
from dl4py.samediff.nd4j.op_classes import BaseOp, BaseTransformOp
assert issubclass(Cos, BaseTransformOp) and issubclass(BaseTransformOp, BaseOp) and isinstance(Cos(), DifferentialFunction)
# 150 names for import
sd.math.tanh(w)
f = sd.ops()[-1]
assert (f.opName(), f.tensorflowName(), f.onnxName()) == ("tanh", "Tanh", "Tanh")
# 162 whole and real arguments of custom ops
op = DynamicCustomOp.builder("reduce_sum").addInputs(Nd4j.ones(2, 3)).addIntegerArguments(0).build()
equal(Nd4j.exec(op)[0], [2, 2, 2])
own = DynamicCustomOp("reduce_sum")
own.addIArgument(1)
own.addTArgument(0.5)
assert list(own.iArgs()) == [1] and list(own.tArgs()) == [0.5]
# 166 a class that inherits from DynamicCustomOp, with blocks and crops as integer arguments
class BatchToSpace(DynamicCustomOp):
    def __init__(self, sameDiff, args, blocks, crops, inPlace=False):
        super().__init__(None, sameDiff, [args[0], sameDiff.constant(np.array(crops))], inPlace)
        for b in blocks:
            self.addIArgument(b)
        for crop in crops:
            self.addIArgument(crop[0], crop[1])
    def opName(self):
        return "batch_to_space"
made = BatchToSpace(sd, [sd.constant(np.arange(4.0).reshape(4, 1, 1, 1))], [2, 2], [[0, 0], [0, 0]])
equal(made.outputVariables()[0].eval().ravel(), [0, 1, 2, 3])
assert made.iArgs() == [2, 2, 0, 0, 0, 0]
# 168 batchToSpace is exposed, with its properties
made = sd.cnn.batchToSpace(sd.constant(np.arange(4.0).reshape(4, 1, 1, 1)), [2, 2], [0, 0], [0, 0])
equal(made.eval().ravel(), [0, 1, 2, 3])
assert sd.ops()[-1].propertiesForFunction()
# 170 dynamicPartition has numPartitions, and a gradient here
v = sd.var("v", np.array([1.0, 2.0, 3.0]))
parts = sd.dynamicPartition(v, sd.constant(np.array([0, 1, 0], np.int32)), 2)
equal(parts[0].eval(), [1, 3])
assert sd.ops()[-1].propertiesForFunction()["numPartitions"] == 2
# 172 addArgs is a helper of the constructor
@UserDefinedOp
class Times(UserDefinedCustomOp):
    def __init__(self, x=None, factor=3):
        super().__init__(None, [] if x is None else [x])
        self.factor = factor
        self.addArgs()
    def addArgs(self):
        self.addIArgument(self.factor)
    def opName(self):
        return "documents_times_" + tag
    def calculateOutputShape(self, oc):
        return [oc.getInputArray(0).shapeDescriptor()]
    def exec(self, oc):
        oc.getOutputArray(0).assign(oc.getInputArray(0) * self.getIArgument(0))
    def propertiesForFunction(self):
        return {"factor": self.factor}
    def setPropertiesForFunction(self, properties):
        self.factor = properties["factor"]
name = sd.doUdf(Times(w, 5))[0].name()
sd.save(folder + "/times.sdnb", False)
equal(SameDiff.load(folder + "/times.sdnb", False).outputSingle({}, name), 5 * w.getArr())
# 174 dynamicPartition maps its property
sd.dynamicPartition(sd.constant(np.ones(3)), sd.constant(np.array([0, 1, 0], np.int32)), 2)
assert sd.ops()[-1].mappingsForFunction()["dynamic_partition"]["numPartitions"] == "num_partitions"
# 176 and dilation2D more of them, with the form of their values
sd.cnn.dilation2D(sd.constant(np.ones((1, 4, 4, 1), np.float32)), sd.constant(np.ones((2, 2, 1), np.float32)), [1, 1], [1, 1], True)
assert set(sd.ops()[-1].mappingsForFunction()["dilation2d"]) == {"strides", "rates", "isSameMode"}
assert sd.ops()[-1].attributeAdaptersForFunction()["dilation2d"]
# 176 dilation2D is exposed
assert callable(sd.cnn.dilation2D)
# 186 ops from variables
outputs = AddOp(sd, w, w).outputVariables()
equal(outputs[0].eval(), w.getArr() * 2)
# 188 by the constructor of the base, as the document has it
class Sum2(DynamicCustomOp):
    def __init__(self, *given):
        super().__init__(*given, None)
    def opName(self):
        return "add"
equal(Sum2(sd, [w, w]).outputVariables()[0].eval(), w.getArr() * 2)
equal(Nd4j.exec(Sum2([Nd4j.ones(2), Nd4j.ones(2)]))[0], [2, 2])
# 190 ops from arrays
equal(Nd4j.exec(AddOp(Nd4j.ones(2), Nd4j.ones(2)))[0], [2, 2])
# 196 descriptions of ops for programs
from dl4py.samediff.tools import op_descriptors
assert "numPartitions" in op_descriptors.generate() or "num_partitions" in op_descriptors.generate()
assert 'name: "tanh"' in op_descriptors.generate("proto")
"""


@promises("adding_ops", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(program, spelling, folder=str(tmp_path), tag=spelling)
