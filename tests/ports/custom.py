"""Programs with activations, losses and layers of their own."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from dl4py import (
    Activation,
    Adam,
    BaseActivationFunction,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    ConvolutionLayer,
    ConvolutionMode,
    DataSet,
    DataType,
    DefaultParamInitializer,
    DenseLayer,
    FeedForwardToCnnPreProcessor,
    GradientCheckUtil,
    ILossFunction,
    InputType,
    JavaRandom,
    ListDataSetIterator,
    LossFunctions,
    MnistDataSetIterator,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    Nd4j,
    NdIndexIterator,
    Nesterovs,
    NeuralNetConfiguration,
    NoOp,
    NormalDistribution,
    OutputLayer,
    Pair,
    RmsProp,
    SameDiffLambdaLayer,
    SameDiffLambdaVertex,
    SameDiffLayer,
    ScoreIterationListener,
    SubsamplingLayer,
    Transforms,
    WeightInit,
    layer,
    vertex,
)
from dl4py.samediff.nd4j.op_classes import TanDerivative, Tanh


def _sums(batchSize, rng):
    rows = [[3 * rng.nextDouble(), 3 * rng.nextDouble()] for _i in range(60)]
    dataSet = DataSet(Nd4j.create(rows), Nd4j.create([[a + b] for a, b in rows]))
    return ListDataSetIterator(dataSet.asList(), batchSize)


class CustomActivationDefinition(BaseActivationFunction):
    def getActivation(self, x, training):
        Nd4j.getExecutioner().execAndReturn(Tanh(x.muli(2 / 3.0)))
        x.muli(1.7159)
        return x

    def backprop(self, x, epsilon):
        dLdz = Nd4j.getExecutioner().exec(TanDerivative(x.muli(2 / 3.0)))
        dLdz.muli(2 / 3.0)
        dLdz.muli(1.7159)
        dLdz.muli(epsilon)
        return Pair(dLdz, None)


def custom_activation(folder: Path):
    iterator = _sums(20, JavaRandom(1234))
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder()
                            .seed(1234)
                            .weightInit(WeightInit.XAVIER)
                            .updater(Nesterovs(0.0001, 0.9))
                            .list()
                            .layer(0, DenseLayer.Builder().nIn(2).nOut(10).activation(CustomActivationDefinition()).build())
                            .layer(1, OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.IDENTITY)
                                   .nIn(10).nOut(1).build())
                            .build())
    net.init()
    net.setListeners(ScoreIterationListener(100))
    net.fit(iterator, 2)
    assert np.isfinite(net.score())         # what the program calls the derivative is none


class CustomLossDefinition(ILossFunction):
    def scoreArray(self, labels, preOutput, activationFn, mask):
        output = activationFn.getActivation(preOutput.dup(), True)
        yMinusyHat = Transforms.abs(labels.sub(output))
        scoreArr = yMinusyHat.mul(yMinusyHat)
        scoreArr.addi(yMinusyHat)
        if mask is not None:
            scoreArr.muliColumnVector(mask)
        return scoreArr

    def computeScore(self, labels, preOutput, activationFn, mask, average):
        scoreArr = self.scoreArray(labels, preOutput, activationFn, mask)
        score = scoreArr.sumNumber()
        if average:
            score /= scoreArr.size(0)
        return score

    def computeScoreArray(self, labels, preOutput, activationFn, mask):
        return self.scoreArray(labels, preOutput, activationFn, mask).sum(1)

    def computeGradient(self, labels, preOutput, activationFn, mask):
        output = activationFn.getActivation(preOutput.dup(), True)
        yMinusyHat = labels.sub(output)
        dldyhat = yMinusyHat.mul(-2).sub(Transforms.sign(yMinusyHat))
        dLdPreOut = activationFn.backprop(preOutput.dup(), dldyhat).getFirst()
        if mask is not None:
            dLdPreOut.muliColumnVector(mask)
        return dLdPreOut

    def computeGradientAndScore(self, labels, preOutput, activationFn, mask, average):
        return Pair(self.computeScore(labels, preOutput, activationFn, mask, average),
                    self.computeGradient(labels, preOutput, activationFn, mask))

    def name(self):
        return "CustomLossL1L2"


def custom_loss(folder: Path):
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder()
                            .dataType(DataType.DOUBLE)
                            .seed(12345)
                            .weightInit(WeightInit.XAVIER)
                            .updater(Nesterovs(0.001, 0.95))
                            .list()
                            .layer(DenseLayer.Builder().nIn(2).nOut(10).activation(Activation.TANH).build())
                            .layer(OutputLayer.Builder(CustomLossDefinition()).activation(Activation.IDENTITY).nIn(10).nOut(1).build())
                            .build())
    net.init()
    net.setListeners(ScoreIterationListener(100))
    net.fit(_sums(20, JavaRandom(12345)), 10)

    epsilon, maxRelError, totalNFailures = 1e-3, 1, 0
    lossfn = CustomLossDefinition()
    for activationFn in ("identity", "tanh", "sigmoid", "softmax"):
        activation = Activation.fromString(activationFn).getActivationFunction()
        for labelLength in (1, 3):
            if activation.toString() == "softmax" and labelLength == 1:
                continue
            label = activation.getActivation(Nd4j.rand(NormalDistribution(), 1, labelLength), False)
            preOut = Nd4j.rand(NormalDistribution(), 1, labelLength)
            computedGradient = lossfn.computeGradient(label, preOut, activation, None)
            iterPreOut = NdIndexIterator(preOut.shape())
            while iterPreOut.hasNext():
                next = iterPreOut.next()
                originalValue = preOut.getDouble(next)
                preOut.putScalar(next, originalValue + epsilon)
                scorePlus = lossfn.computeScore(label, preOut, activation, None, False)
                preOut.putScalar(next, originalValue - epsilon)
                scoreMinus = lossfn.computeScore(label, preOut, activation, None, False)
                preOut.putScalar(next, originalValue)
                numericalGradient = (scorePlus - scoreMinus) / (2 * epsilon)
                analyticGradient = computedGradient.getDouble(next)
                totalNFailures += abs(analyticGradient - numericalGradient) > maxRelError * abs(numericalGradient) + 1e-3
    assert totalNFailures == 0


@layer("ports.MinimalSameDiffDense")
class MinimalSameDiffDense(SameDiffLayer):
    def __init__(self, nIn: int = 0, nOut: int = 0, activation: Activation = None, weightInit: WeightInit = None):
        super().__init__()
        self.nIn = nIn
        self.nOut = nOut
        self.activation = activation
        self.weightInit = weightInit

    def getOutputType(self, layerIndex, inputType):
        return InputType.feedForward(self.nOut)

    def defineParameters(self, params):
        params.addWeightParam(DefaultParamInitializer.WEIGHT_KEY, self.nIn, self.nOut)
        params.addBiasParam(DefaultParamInitializer.BIAS_KEY, 1, self.nOut)

    def defineLayer(self, sd, layerInput, paramTable, mask):
        weights = paramTable[DefaultParamInitializer.WEIGHT_KEY]
        bias = paramTable[DefaultParamInitializer.BIAS_KEY]
        mmul = sd.mmul("mmul", layerInput, weights)
        z = mmul.add("z", bias)
        return self.activation.asSameDiff("out", sd, z)

    def initializeParameters(self, params):
        params[DefaultParamInitializer.BIAS_KEY].assign(0)
        self.initWeights(self.nIn, self.nOut, self.weightInit, params[DefaultParamInitializer.WEIGHT_KEY])

    def getNIn(self):
        return self.nIn

    def setNIn(self, nIn):
        self.nIn = nIn


def samediff_layer(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .updater(Adam(1e-2))
            .seed(12345)
            .list()
            .layer(MinimalSameDiffDense(784, 16, Activation.TANH, WeightInit.XAVIER))
            .layer(MinimalSameDiffDense(16, 16, Activation.TANH, WeightInit.XAVIER))
            .layer(OutputLayer.Builder().nIn(16).nOut(10).activation(Activation.SOFTMAX).weightInit(WeightInit.XAVIER)
                   .lossFunction(LossFunctions.LossFunction.MCXENT).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(50))
    net.fit(MnistDataSetIterator(32, True, 12345), 2)
    e = net.evaluate(MnistDataSetIterator(32, False, 12345))
    print(e.stats())
    f = folder / "SameDiffExample1Model.zip"
    net.save(f)
    loaded = MultiLayerNetwork.load(f, True)
    testFeatures = Nd4j.rand(3, 784)
    fromOriginalNet = net.output(testFeatures)
    fromLoadedNet = loaded.output(testFeatures)
    assert fromOriginalNet.equals(fromLoadedNet) and e.accuracy() > 0.4
    conf = (NeuralNetConfiguration.Builder()
            .dataType(DataType.DOUBLE)
            .updater(NoOp())
            .seed(12345)
            .list()
            .layer(MinimalSameDiffDense(4, 5, Activation.TANH, WeightInit.XAVIER))
            .layer(OutputLayer.Builder().nIn(5).nOut(2).activation(Activation.SOFTMAX).lossFunction(LossFunctions.LossFunction.MCXENT).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    features = Nd4j.rand(DataType.DOUBLE, 3, 4)
    labels = Nd4j.create([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert GradientCheckUtil.checkGradients(net, 1e-6, 1e-3, 1e-8, False, True, features, labels)


@layer("ports.L2NormalizeLambdaLayer")
class L2NormalizeLambdaLayer(SameDiffLambdaLayer):
    def __init__(self, *dimensions):
        super().__init__()
        self.dimensions = list(dimensions)

    def defineLayer(self, sameDiff, layerInput):
        norm2 = layerInput.norm2(True, *self.dimensions)
        return layerInput.div(norm2)

    def getDimensions(self):
        return self.dimensions

    def setDimensions(self, dimensions):
        self.dimensions = dimensions


@vertex("ports.MergeLambdaVertex")
class MergeLambdaVertex(SameDiffLambdaVertex):
    def defineVertex(self, sameDiff, inputs):
        input1 = inputs.getInput(0)
        input2 = inputs.getInput(1)
        average = sameDiff.math.mergeAvg(input1, input2)
        return average


def lambda_layer_and_vertex(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .updater(Adam(1e-1))
            .seed(12345)
            .activation(Activation.TANH)
            .convolutionMode(ConvolutionMode.Same)
            .list()
            .layer(ConvolutionLayer.Builder().nIn(1).nOut(4).kernelSize(2, 2).stride(1, 1).build())
            .layer(SubsamplingLayer.Builder().kernelSize(2, 2).stride(2, 2).build())
            .layer(L2NormalizeLambdaLayer(1, 2, 3))
            .layer(OutputLayer.Builder().nIn(14 * 14 * 4).nOut(10).activation(Activation.SOFTMAX).weightInit(WeightInit.XAVIER)
                   .lossFunction(LossFunctions.LossFunction.MCXENT).build())
            .inputPreProcessor(0, FeedForwardToCnnPreProcessor(28, 28, 1))
            .inputPreProcessor(3, CnnToFeedForwardPreProcessor(14, 14, 4))
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.fit(MnistDataSetIterator(32, True, 12345), 1)
    f = folder / "SameDiffExample2Model.zip"
    net.save(f)
    testFeatures = Nd4j.rand(2, 784)
    assert net.output(testFeatures).equals(MultiLayerNetwork.load(f, True).output(testFeatures))

    conf = (NeuralNetConfiguration.Builder()
            .dataType(DataType.DOUBLE)
            .updater(NoOp())
            .seed(12345)
            .activation(Activation.TANH)
            .graphBuilder()
            .addInputs("in")
            .addLayer("0", DenseLayer.Builder().nIn(5).nOut(4).activation(Activation.TANH).build(), "in")
            .addLayer("1", DenseLayer.Builder().nIn(5).nOut(4).activation(Activation.TANH).build(), "in")
            .addVertex("merge", MergeLambdaVertex(), "0", "1")
            .addLayer("out", OutputLayer.Builder().nIn(4).nOut(3).activation(Activation.SOFTMAX).weightInit(WeightInit.XAVIER)
                      .lossFunction(LossFunctions.LossFunction.MCXENT).build(), "merge")
            .setOutputs("out")
            .build())
    net = ComputationGraph(conf)
    net.init()
    f = folder / "SameDiffExample3Model.zip"
    net.save(f)
    loaded = ComputationGraph.load(f, True)
    testFeatures = Nd4j.rand(2, 5)
    fromOriginalNet = net.outputSingle(testFeatures)
    fromLoadedNet = loaded.outputSingle(testFeatures)
    assert fromOriginalNet.equals(fromLoadedNet)


@layer("ports.CustomLayer")
class CustomLayer(SameDiffLayer):
    """In DL4J a configuration and an implementation with its own back-propagation; here what it computes is all there is to write."""

    nIn: int = 0
    nOut: int = 0
    activation: Activation = Activation.TANH
    secondActivationFunction: Activation = Activation.SIGMOID

    def getOutputType(self, layerIndex, inputType):
        return InputType.feedForward(self.nOut)

    def defineParameters(self, params):
        params.addWeightParam("W", self.nIn, self.nOut)
        params.addBiasParam("b", 1, self.nOut)

    def initializeParameters(self, params):
        params["b"].assign(0)
        self.initWeights(self.nIn, self.nOut, self.weightInit, params["W"])

    def defineLayer(self, sd, layerInput, paramTable, mask):
        output = layerInput.mmul(paramTable["W"]).add(paramTable["b"])
        half = self.nOut // 2
        firstHalf, secondHalf = output[:, :half], output[:, half:]
        return sd.concat(1, self.activation.asSameDiff(sd, firstHalf), self.secondActivationFunction.asSameDiff(sd, secondHalf))


def custom_layer(folder: Path):
    config = (NeuralNetConfiguration.Builder()
              .updater(RmsProp(0.95))
              .weightInit(WeightInit.XAVIER)
              .l2(0.03)
              .list()
              .layer(0, DenseLayer.Builder().activation(Activation.TANH).nIn(5).nOut(6).build())
              .layer(1, CustomLayer.Builder().activation(Activation.TANH).secondActivationFunction(Activation.SIGMOID)
                     .nIn(6).nOut(7).build())
              .layer(2, OutputLayer.Builder(LossFunctions.LossFunction.MCXENT).activation(Activation.SOFTMAX).nIn(7).nOut(8).build())
              .build())
    customLayerL2 = config.getConf(1).getLayer().getRegularization()[0].getL2().valueAt(0, 0)
    assert customLayerL2 == 0.03 and isinstance(config.getConf(1).getLayer().getUpdater(), RmsProp)
    fromJson = MultiLayerConfiguration.fromJson(config.toJson())
    fromYaml = MultiLayerConfiguration.fromYaml(config.toYaml())
    assert config.equals(fromJson) and config.equals(fromYaml)
    net = MultiLayerNetwork(config)
    net.init()
    testFeatures = Nd4j.rand(5, 5)
    testLabels = Nd4j.zeros(5, 8)
    r = JavaRandom(12345)
    for i in range(5):
        testLabels.putScalar(i, r.nextInt(8), 1)
    activations = net.feedForward(testFeatures)
    assert activations[2].shape() == (5, 7)
    net.fit(DataSet(testFeatures, testLabels))
    net.save(folder / "CustomLayerModel.zip", True)
    restored = MultiLayerNetwork.load(folder / "CustomLayerModel.zip", True)
    assert net.output(testFeatures).equals(restored.output(testFeatures))
    assert np.isfinite(net.score())
