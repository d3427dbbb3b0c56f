"""What DL4J's document on SameDiff promises, by the line that says it."""
from __future__ import annotations

import numpy as np

from tests.samediff.tensorflow.graphs import const, graph, node, placeholder

from .promises import keep, promises

#: A frozen graph of TensorFlow.
FROZEN = graph(const("w", np.ones((3, 2), np.float32)), placeholder("x"), node("p", "MatMul", "x", "w", transpose_a=False,
               transpose_b=False), node("y", "Relu", "p"))

PROMISES = """
# 3 a graph is defined, run and differentiated without backward code
equal(sd.outputSingle(feeds, "hidden"), np.maximum(feeds["input"] @ w.getArr(), 0))
equal(sd.calculateGradients(feeds, "b")["b"].shape, (3,))
# 9 nodes are SDVariables that hold arrays
assert isinstance(hidden, SDVariable) and w.getArr().shape == (4, 3)
# 10 ops consume variables and produce variables
assert [v.name() for v in sd.ops()[0].args()] == ["input", "w"] and len(sd.ops()[0].outputVariables()) == 1
# 19 the first lines of the document build a graph
sd = SameDiff.create()
x = sd.placeHolder("x", DataType.FLOAT, -1, 784)
w = sd.var("w", DataType.FLOAT, 784, 10)
b = sd.var("b", DataType.FLOAT, 10)
logits = x.mmul(w).add(b)
output = sd.nn.softmax("output", logits)
equal(sd.outputSingle({"x": np.ones((2, 784))}, "output"), np.full((2, 10), 0.1))
# 23 defining computes nothing
assert hidden.getArr() is None
# 23 output, exec and fit run the graph
equal(sd.output(feeds, "softmax")["softmax"], sd.exec(feeds, ["softmax"])["softmax"])
sd.setTrainingConfig(config)
assert len(sd.fit(batches, 1).lossCurve()) == 1
# 29 gradients with respect to any variable
found = sd.calculateGradients(feeds, "w", "b", "hidden", "input")
assert {n: found[n].shape for n in found} == {"w": (4, 3), "b": (3,), "hidden": (2, 3), "input": (2, 4)}
# 32 the loss is a scalar
assert sd.outputSingle(feeds, "loss").shape == ()
# 34 fit changes variables and nothing else
c = sd.constant("c", np.ones(3, np.float32))
hidden.mul(c).mean().markAsLoss()
sd.setTrainingConfig(config)
before = w.getArr().copy()
sd.fit(batches, 1)
assert (w.getArr() != before).any() and c.getArr().tolist() == [1, 1, 1]
# 36 built-in ops have gradients
v = sd.var("v", np.array([0.3, 0.7]))
for op in (sd.math.tanh, sd.math.exp, sd.nn.gelu, sd.nn.softmax, sd.math.sin):
    op(v).sum().markAsLoss()
    assert np.isfinite(sd.calculateGradients(feeds, "v")["v"]).all()
# 42 a graph holds variables, ops and its training configuration
sd.setTrainingConfig(config)
assert sd.getTrainingConfig() is config and len(sd.ops()) == 5 and sd.hasVariable("w")
# 43 a variable has a value when one is available, and a place in the graph
assert w.getArr().shape == (4, 3) and hidden.getSameDiff() is sd and softmax.getArr() is None
# 44 a training configuration bundles updater, loss variables, mappings and listeners
heard = []
class Heard(BaseListener):
    def iterationDone(self, *given):
        heard.append(given)
made = (TrainingConfig.builder().updater(Adam(1e-3)).dataSetFeatureMapping("input").dataSetLabelMapping("labels")
        .lossVariables("loss").listeners(Heard()).build())
assert list(made.getLossVariables()) == ["loss"] and len(made.getListeners()) == 1
sd.setTrainingConfig(made)
sd.fit(batches, 1)
assert len(heard) == 2
# 44 what it names is minimised where the graph has no loss variables of its own, also when it comes to them later
made = SameDiff.create()
made.setTrainingConfig(TrainingConfig.builder().updater(Sgd(0.1)).dataSetFeatureMapping("x").markLabelsUnused().lossVariables("one").build())
a, p = made.var("a", np.array([1.0])), made.placeHolder("x", DataType.DOUBLE, -1, 1)
p.mul(a).sum("one").add("more", 1.0)
made.fit(DataSet(np.ones((1, 1)), None))
equal(a.getArr(), [0.9])
# 44 also where losses mark themselves, and in files
sd.loss.meanSquaredError("other", y, softmax, None)
made = (TrainingConfig.builder().updater(Sgd(1e-2)).dataSetFeatureMapping("input").dataSetLabelMapping("labels")
        .lossVariables("other").build())
sd.setTrainingConfig(made)
assert sd.getLossVariables() == ["other"] and sd.fit(batches, 1).lossCurve().getLossNames() == ["other"]
sd.save(folder + "/losses.fb", True)
assert SameDiff.load(folder + "/losses.fb", True).getLossVariables() == ["other"]
# 45 fit returns a History of losses by epoch
sd.setTrainingConfig(config)
history = sd.fit(batches, 3)
assert isinstance(history, History) and len(history.lossCurve()) == 3
# 46 InferenceSession is below output
equal(InferenceSession(sd).output(["softmax"], feeds)["softmax"], sd.outputSingle(feeds, "softmax"))
# 62 the list of layers of the document
conf = (NeuralNetConfiguration.Builder()
    .list()
    .layer(DenseLayer.Builder().nIn(784).nOut(256).activation(Activation.RELU).build())
    .layer(OutputLayer.Builder().nIn(256).nOut(10).activation(Activation.SOFTMAX).build())
    .build())
model = MultiLayerNetwork(conf)
model.init()
assert model.output(np.zeros((1, 784))).shape == (1, 10)
# 70 computation graphs have several inputs and outputs
conf = (NeuralNetConfiguration.Builder().graphBuilder().addInputs("a", "b")
    .addLayer("one", OutputLayer.Builder().nIn(2).nOut(2).activation("softmax").build(), "a")
    .addLayer("two", OutputLayer.Builder().nIn(5).nOut(3).activation("softmax").build(), "a", "b")
    .setOutputs("one", "two").build())
net = ComputationGraph(conf)
net.init()
assert [o.shape for o in net.output(np.zeros((1, 2)), np.zeros((1, 3)))] == [(1, 2), (1, 3)]
# 80 two places share one weight
z = x.mmul(w).mmul(w.permute(1, 0)).mmul(w)
z.mean("l").markAsLoss()
assert sd.calculateGradients(feeds, "w")["w"].shape == (4, 3)
# 81 models of TensorFlow become graphs, which train
sd = SameDiff.importFrozenTF(frozen)
sd.convertToVariables(sd.getVariable("w"))
sd.getVariable("y").sum("l").markAsLoss()
equal(sd.calculateGradients({"x": np.ones((2, 3))}, "w")["w"], np.full((3, 2), 2))
# 81 and so do models of ONNX
sd.exportOnnx(folder + "/model.onnx", outputs=["softmax"])
model = SameDiff.importOnnx(folder + "/model.onnx")
equal(model.outputSingle({"input": feeds["input"]}, "softmax"), sd.outputSingle(feeds, "softmax"))
model.getVariable("softmax").max("l").markAsLoss()
assert model.calculateGradients({"input": feeds["input"]}, "w")["w"].any()
# 101 the network of the document
sd = SameDiff.create()
input = sd.placeHolder("input", DataType.FLOAT, -1, 784)
labels = sd.placeHolder("labels", DataType.FLOAT, -1, 10)
w1 = sd.var("w1", XavierInitScheme('c', 784, 256), DataType.FLOAT, 784, 256)
b1 = sd.var("b1", DataType.FLOAT, 256)
w2 = sd.var("w2", XavierInitScheme('c', 256, 10), DataType.FLOAT, 256, 10)
b2 = sd.var("b2", DataType.FLOAT, 10)
hidden = sd.nn.relu("hidden", input.mmul(w1).add(b1), 0)
logits = hidden.mmul(w2).add(b2)
softmax = sd.nn.softmax("softmax", logits)
loss = sd.loss.softmaxCrossEntropy("loss", labels, logits, None)
config = (TrainingConfig.builder()
    .updater(Adam(1e-3))
    .dataSetFeatureMapping("input")
    .dataSetLabelMapping("labels")
    .build())
sd.setTrainingConfig(config)
classes = np.arange(64) % 10
data = DataSet((np.eye(784)[classes] * 5).astype(np.float32), np.eye(10, dtype=np.float32)[classes])
trainIter = ListDataSetIterator([data], 64)
numEpochs = 10
curve = sd.fit(trainIter, numEpochs).lossCurve()
assert curve.meanLoss(9).totalLoss() < curve.meanLoss(0).totalLoss()
testInput = data.getFeatures()
results = sd.output(
    {"input": testInput},
    "softmax"
)
predictions = results.get("softmax")
equal(predictions.sum(1), np.ones(64))
# 105 variables are initialised by a scheme
drawn = sd.var("w1", XavierInitScheme('c', 784, 256), DataType.FLOAT, 784, 256).getArr()
assert abs(drawn.std() / np.sqrt(2 / (784 + 256)) - 1) < 0.05
# 117 the cross-entropy is a mean over the batch
h = sd.outputSingle(feeds, "hidden")
p = np.exp(h) / np.exp(h).sum(1, keepdims=True)
equal(sd.outputSingle(feeds, "loss"), -(feeds["labels"] * np.log(p)).sum(1).mean())
# 126 mappings go by the names of placeholders
assert config.getDataSetFeatureMapping() == ["input"] and config.getDataSetLabelMapping() == ["labels"]
# 162 what is needed is found from what is asked for
assert set(sd.exec({"input": feeds["input"]}, ["hidden"])) >= {"hidden"}
# 164 the order of definition does not matter
late = sd.var("late", np.ones(3, np.float32))
equal(sd.outputSingle(feeds, hidden.add("sum", late).name()), sd.outputSingle(feeds, "hidden") + 1)
# 167 what nobody asks for is not computed, nor needs values
equal(sd.output({"input": feeds["input"]}, "softmax")["softmax"].sum(1), [1, 1])
# 174 summary lists variables and their types
assert all(n in str(sd.summary()) for n in ("input", "PLACEHOLDER", "VARIABLE", "hidden", "softmax"))
# 177 names of variables
assert {"input", "labels", "w", "b", "hidden", "softmax", "loss"} <= set(sd.variableNames())
# 180 a variable by its name
assert sd.getVariable("hidden") is hidden or sd.getVariable("hidden").name() == "hidden"
# 183 shapes are known without a run
assert tuple(sd.getShapeForVarName("hidden")) == (-1, 3)
# 189 variables of two graphs do not meet
refused(lambda: x.add(SameDiff.create().var("other", DataType.FLOAT, 4)), "graph")
# 189 variables know their graph
assert x.getSameDiff() is sd
# 191 copies from one file give the same
sd.save(folder + "/pool.sdz", True)
pool = [SameDiff.load(folder + "/pool.sdz", True) for k in range(2)]
assert len({m.outputSingle(feeds, "softmax").tobytes() for m in pool}) == 1
# 191 several threads share a graph
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as threads:
    found = list(threads.map(lambda k: sd.outputSingle(feeds, "softmax").tobytes(), range(8)))
assert len(set(found)) == 1
# 203 a user op has its values, its gradient, its shape and its place in files
@UserDefinedOp
class Scaled(UserDefinedCustomOp):
    def __init__(self, sameDiff=None, x=None, factor=2.0):
        super().__init__(sameDiff, [] if x is None else [x])
        self.factor = factor
    def opName(self):
        return "documents_scaled_" + tag
    def getNumOutputs(self):
        return 1
    def calculateOutputDataTypes(self, inputTypes):
        return [inputTypes[0]]
    def calculateOutputShape(self, oc=None):
        return [self.inputArguments.get(0).shapeDescriptor()]
    def exec(self, opContext=None):
        a = opContext.getInputArray(0) if opContext is not None else self.inputArguments[0]
        return [a * self.factor]
    def doDiff(self, grad):
        return [grad[0].mul(self.factor)]
    def propertiesForFunction(self):
        return {"factor": self.factor}
    def setPropertiesForFunction(self, props):
        self.factor = props["factor"]
    def configureFromArguments(self):
        pass
    def configureWithSameDiff(self, sameDiff):
        self.sameDiff = sameDiff
v = sd.var("v", np.array([1.0, 2.0]))
outputs = sd.doUdf(Scaled(sd, v, 3.0))
outputs[0].mean("l").markAsLoss()
equal(outputs[0].eval(), [3, 6])
equal(sd.calculateGradients(feeds, "v")["v"], [1.5, 1.5])
assert outputs[0].getShape() == (2,)
sd.save(folder + "/udf.sdnb", False)
reloaded = SameDiff.load(folder + "/udf.sdnb", False)
equal(reloaded.getVariable(outputs[0].name()).eval(), [3, 6])
# 341 graphScope returns a GraphScope
assert isinstance(Nd4j.graphScope(), GraphScope)
# 342 begin records on this thread alone
import threading
a, seen = Nd4j.ones(2), []
with Nd4j.graphScope() as scope:
    scope.begin()
    other = threading.Thread(target=lambda: seen.append(a.add(1).toDoubleVector()))
    other.start()
    other.join()
    scope.end()
assert list(seen[0]) == [2, 2]
# 343 proxies know shape and type
with Nd4j.graphScope() as scope:
    scope.begin()
    made = Nd4j.matmul(Nd4j.ones(DataType.FLOAT, 2, 3), Nd4j.ones(DataType.FLOAT, 3, 4))
    assert isinstance(made, LazyINDArray) and tuple(made.shape) == (2, 4) and made.dataType() == DataType.FLOAT
    scope.end()
# 343 and how they lie in memory
with Nd4j.graphScope() as scope:
    scope.begin()
    made = Nd4j.matmul(Nd4j.ones(2, 3), Nd4j.ones(3, 4))
    early = made.shapeInfoToString()
    scope.end()
assert made.shapeInfoToString() == early
# 344 end gives real values
with Nd4j.graphScope() as scope:
    scope.begin()
    made = Nd4j.ones(2).add(1)
    scope.end()
    assert made.toDoubleVector() == [2, 2]
# 345 close ends a scope
scope = Nd4j.graphScope()
scope.begin()
scope.close()
refused(lambda: scope.end(), "not recording")
# 355 the scope of the document
a = Nd4j.rand(DataType.FLOAT, 128, 256)
b = Nd4j.rand(DataType.FLOAT, 256, 64)
with Nd4j.graphScope() as scope:
    scope.begin()

    mm = Nd4j.matmul(a, b)
    out = Nd4j.nn.relu(mm)

    scope.end()
print(out.shapeInfoToString())
equal(out, np.maximum(np.asarray(a) @ np.asarray(b), 0))
# 378 a compiled function runs its Python code once
calls = []
fn = Nd4j.compile(1, lambda inputs: (calls.append(1), [inputs[0].add(1)])[1])
for k in range(3):
    assert fn.execute(Nd4j.ones(2).mul(k))[0].getDouble(0) == k + 1
assert isinstance(fn, CompiledGraphFunction) and len(calls) == 1
# 383 the compiled function of the document
def body(inputs):
    mm = Nd4j.matmul(inputs[0], inputs[1])
    normed = Nd4j.layerNorm(mm, None, None, True, 1)
    result = Nd4j.nn.gelu(normed)
    return [result]
fn = Nd4j.compile(2, body)
activations, weights = Nd4j.rand(DataType.FLOAT, 4, 5), Nd4j.rand(DataType.FLOAT, 5, 3)
out1 = fn.execute(activations, weights)
out2 = fn.execute(activations.mul(2), weights)
equal(out1[0], body([activations, weights])[0])
equal(out2[0], body([activations.mul(2), weights])[0])
fn.close()
# 383 arrays stand in one list, too, and functions may take them one by one
fn = Nd4j.compile(2, lambda x, y: x.mmul(y))
a, b = Nd4j.rand(2, 3), Nd4j.rand(3, 4)
equal(fn.execute([a, b])[0], np.asarray(a) @ np.asarray(b))
equal(fn.execute(a, b)[0], fn(a, b)[0])
# 397 a closed function is refused
fn = Nd4j.compile(1, lambda inputs: [inputs[0].add(1)])
fn.execute(Nd4j.ones(2))
fn.close()
refused(lambda: fn.execute(Nd4j.ones(2)), "closed")
# 405 values are refused before the end
with Nd4j.graphScope() as scope:
    scope.begin()
    made = Nd4j.ones(2).add(1)
    refused(lambda: made.getDouble(0), "scope")
    scope.end()
assert made.getDouble(0) == 2
# 410 a scope in a scope is refused
with Nd4j.graphScope() as scope:
    scope.begin()
    refused(lambda: Nd4j.graphScope().begin(), "records already")
    scope.end()
# 411 conditions on values are refused in a scope
def asked():
    with Nd4j.graphScope() as scope:
        scope.begin()
        if Nd4j.ones(2).add(1).getDouble(0) > 0.5:
            scope.end()
refused(asked, "values")
# 412 what no kernel knows still has its value
with Nd4j.graphScope() as scope:
    scope.begin()
    made = Nd4j.linalg.cholesky(Nd4j.eye(3).mul(4))
    scope.end()
equal(made, np.eye(3) * 2)
# 419 namespaces
assert all(hasattr(sd, n) for n in ("math", "nn", "cnn", "rnn", "loss", "random"))
# 422 saving and loading
sd.save(folder + "/graph.fb", True)
equal(SameDiff.load(folder + "/graph.fb", True).outputSingle(feeds, "softmax"), sd.outputSingle(feeds, "softmax"))
"""


@promises("samediff", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(program, spelling, folder=str(tmp_path), tag=spelling, frozen=FROZEN)
