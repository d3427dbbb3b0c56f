"""What DL4J's document that introduces SameDiff promises, by the line that says it."""
from __future__ import annotations

from .promises import keep, promises

PROMISES = """
# 13 elements of networks come from ops alone
equal(sd.math.sin(w).add(w).eval(), np.sin(w.getArr()) + w.getArr())
# 42 custom layers stand in networks
class Own(SameDiffLambdaLayer):
    def defineLayer(self, sd, layerInput):
        return layerInput.mul(2.0)
    def getOutputType(self, layerIndex, inputType):
        return inputType
net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list().layer(Own())
    .layer(OutputLayer.Builder().nIn(3).nOut(2).activation("softmax").build()).setInputType(InputType.feedForward(3)).build())
net.init()
equal(net.feedForward(np.ones((1, 3)))[1], np.full((1, 3), 2))
# 44 from simple ops to an LSTM
assert x.add(1.0).getShape() == (-1, 4) and sd.math.sin(x).getShape() == (-1, 4)
assert callable(sd.rnn.lstmLayer) and callable(sd.rnn.lstmCell)
# 50 graphs are imported
assert callable(SameDiff.importFrozenTF) and callable(SameDiff.importOnnx)
# 56 custom vertices stand in networks
class Product(SameDiffLambdaVertex):
    def defineVertex(self, sd, inputs):
        return inputs.getInput(0).mul(inputs.getInput(1))
    def getOutputType(self, layerIndex, *inputTypes):
        return inputTypes[0]
net = ComputationGraph(NeuralNetConfiguration.Builder().graphBuilder().addInputs("a", "b").addVertex("p", Product(), "a", "b")
    .addLayer("o", OutputLayer.Builder().nIn(3).nOut(2).activation("softmax").build(), "p").setOutputs("o")
    .setInputTypes(InputType.feedForward(3), InputType.feedForward(3)).build())
net.init()
equal(net.feedForward([np.full((1, 3), 2.0), np.full((1, 3), 5.0)])["p"], np.full((1, 3), 10))
# 78 an instance
assert SameDiff.create().variables() == []
# 85 a placeholder with an open size
input = SameDiff.create().placeHolder("input", DataType.FLOAT, -1, 784)
assert tuple(input.getShape()) == (-1, 784) and input.isPlaceHolder()
# 95 a variable from a scheme, without a name
samediff = SameDiff.create()
weights_1 = samediff.var(XavierInitScheme('c', 784, 100), DataType.FLOAT, 784, 100)
assert weights_1.getShape() == (784, 100) and weights_1.name() and weights_1.getArr().std() > 0
# 96 a scheme of one size
bias_1 = SameDiff.create().var(XavierInitScheme('c', 100), DataType.FLOAT, 100)
assert bias_1.getShape() == (100,) and bias_1.getArr().std() > 0
# 98 variables keep their values
first = w.getArr().copy()
sd.output(feeds, "softmax")
equal(w.getArr(), first)
# 99 and are trained
first = w.getArr().copy()
sd.setTrainingConfig(config)
sd.fit(batches, 1)
assert (w.getArr() != first).any()
# 104 products, sums, activations
equal(sd.nn.relu(x.mmul(w).add(b)).eval({"input": feeds["input"]}), sd.outputSingle(feeds, "hidden"))
# 108 calls in a row
equal(sd.nn.relu(sd.var("a", np.eye(2)).mmul(sd.var("c", np.array([[1.0], [-1.0]]))).add(1.0)).eval(), [[2], [0]])
# 117 results have the name that is given
assert sd.nn.softmax("output", hidden).name() == "output"
# 126 a placeholder without a type
lables = sd.placeHolder("lables", 10)
assert lables.getShape() == (10,) and lables.dataType() == DataType.FLOAT
# 130 the cross-entropy of probabilities
p, q = sd.placeHolder("p", -1, 3), sd.placeHolder("q", -1, 3)
found = sd.loss.crossEntropy(p, q).eval({"p": np.array([[0.2, 0.3, 0.5]]), "q": np.array([[0, 0, 1]])})
equal(found, -np.log(0.5))
# 138 the configuration of the document
config = (TrainingConfig.Builder()
    .l2(1e-4)
    .updater(Adam(1e-3))
    .dataSetFeatureMapping("input")
    .dataSetLabelsMapping("lables")
    .build())
assert config.getDataSetLabelMapping() == ["lables"] and config.getUpdater() == Adam(1e-3) and config.getRegularization()
# 144 the configuration is set
sd.setTrainingConfig(config)
assert sd.getTrainingConfig() is config
# 148 losses are found by themselves
assert sd.getLossVariables() == ["loss"]
# 153 fit trains for epochs
sd.setTrainingConfig(config)
assert len(sd.fit(batches, 2).lossCurve()) == 2
# 158 evaluation of one output
sd.setTrainingConfig(config)
evaluation = Evaluation()
sd.evaluate(batches, "softmax", evaluation)
assert 0 <= evaluation.accuracy() <= 1
# 160 an unknown output is an error
sd.setTrainingConfig(config)
refused(lambda: sd.evaluate(batches, "outptu", Evaluation()), "outptu")
# 168 flat files, written and read
modelFileName = folder + "/sameDiffModel.fd"
sd.asFlatFile(modelFileName)
samediffFromFile = SameDiff.fromFlatFile(modelFileName)
equal(samediffFromFile.outputSingle(feeds, "softmax"), sd.outputSingle(feeds, "softmax"))
# 209 an iterator of MNIST has these arguments
import inspect
inspect.signature(MnistDataSetIterator).bind(32, True, 12345)
# 219 evaluation without labels in the graph
made = SameDiff.create()
made.nn.softmax("output", made.placeHolder("input", DataType.FLOAT, -1, 4).mmul(made.constant("k", w.getArr())))
made.setTrainingConfig(TrainingConfig.builder().updater(Adam(1e-3)).dataSetFeatureMapping("input").markLabelsUnused().build())
evaluation = Evaluation()
made.evaluate(batches, "output", evaluation)
assert evaluation.accuracy() >= 0
# 219 and without a configuration, where one placeholder is all there is
made = SameDiff.create()
made.nn.softmax("output", made.placeHolder("input", DataType.FLOAT, -1, 4).mmul(made.constant("k", w.getArr())))
evaluation = Evaluation()
made.evaluate(batches, "output", evaluation)
assert "Accuracy" in evaluation.stats()
# 222 statistics as text
sd.setTrainingConfig(config)
evaluation = Evaluation()
sd.evaluate(batches, "softmax", evaluation)
assert "Accuracy" in evaluation.stats() and "F1" in evaluation.stats()
"""


@promises("overview", PROMISES)
def test_promise(program, spelling, tmp_path):
    keep(program, spelling, folder=str(tmp_path), tag=spelling)
