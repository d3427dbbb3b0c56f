"""Programs without labels, with labels of other kinds, and with gradients from outside."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    AdaGrad,
    Adam,
    BaseTrainingListener,
    BernoulliReconstructionDistribution,
    DataSet,
    DataSetIterator,
    DataType,
    DenseLayer,
    JavaRandom,
    KFoldIterator,
    LossFunctions,
    LossMCXENT,
    LossMixtureDensity,
    MnistDataSetIterator,
    MultiLayerNetwork,
    Nadam,
    Nd4j,
    NDArrayIndex,
    NeuralNetConfiguration,
    OutputLayer,
    Pair,
    PerformanceListener,
    RmsProp,
    ScoreIterationListener,
    Sgd,
    VariationalAutoencoder,
    WeightInit,
)


def _digits(batchSize, train=True):
    return MnistDataSetIterator(batchSize, 64, False, train, False, 12345)


def mnist_autoencoder(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .weightInit(WeightInit.XAVIER)
            .updater(AdaGrad(0.05))
            .activation(Activation.RELU)
            .l2(0.0001)
            .list()
            .layer(DenseLayer.Builder().nIn(784).nOut(25).build())
            .layer(DenseLayer.Builder().nIn(25).nOut(10).build())
            .layer(DenseLayer.Builder().nIn(10).nOut(25).build())
            .layer(OutputLayer.Builder().nIn(25).nOut(784).activation(Activation.LEAKYRELU)
                   .lossFunction(LossFunctions.LossFunction.MSE).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.setListeners([ScoreIterationListener(10)])
    iter = MnistDataSetIterator(32, 64, False)
    featuresTrain, featuresTest, labelsTest = [], [], []
    r = JavaRandom(12345)
    while iter.hasNext():
        ds = iter.next()
        split = ds.splitTestAndTrain(24, r)
        featuresTrain.append(split.getTrain().getFeatures())
        dsTest = split.getTest()
        featuresTest.append(dsTest.getFeatures())
        indexes = Nd4j.argMax(dsTest.getLabels(), 1)
        labelsTest.append(indexes)
    for _epoch in range(3):
        for data in featuresTrain:
            net.fit(data, data)

    listsByDigit = {i: [] for i in range(10)}
    for i in range(len(featuresTest)):
        testData, labels = featuresTest[i], labelsTest[i]
        for j in range(testData.rows()):
            example = testData.getRow(j, True)
            digit = int(labels.getDouble(j))
            score = net.score(DataSet(example, example))
            listsByDigit[digit].append(Pair.of(score, example))
    for digitAllPairs in listsByDigit.values():
        digitAllPairs.sort(key=lambda pair: pair.getLeft())
    best = [pairs[0].getRight() for pairs in listsByDigit.values() if pairs]
    assert sum(map(len, listsByDigit.values())) == 16 and all(b.length() == 784 for b in best)
    assert 0 <= best[0].getDouble(400) <= 1


def vae_2d_plots(folder: Path):
    minibatchSize, rngSeed, plotEveryNMinibatches = 32, 12345, 2
    trainIter = _digits(minibatchSize)
    Nd4j.getRandom().setSeed(rngSeed)
    conf = (NeuralNetConfiguration.Builder()
            .seed(rngSeed)
            .updater(RmsProp(1e-3))
            .weightInit(WeightInit.XAVIER)
            .l2(1e-4)
            .list()
            .layer(VariationalAutoencoder.Builder()
                   .activation(Activation.LEAKYRELU)
                   .encoderLayerSizes(16, 16)
                   .decoderLayerSizes(16, 16)
                   .pzxActivationFunction(Activation.IDENTITY)
                   .reconstructionDistribution(BernoulliReconstructionDistribution(Activation.SIGMOID.getActivationFunction()))
                   .nIn(28 * 28)
                   .nOut(2)
                   .build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    vae = net.getLayer(0)
    testdata = _digits(64, False).next()
    testFeatures = testdata.getFeatures()
    latentSpaceGrid = getLatentSpaceGrid(-5, 5, 4)
    latentSpaceVsEpoch, digitsGrid = [], []
    latentSpaceValues = vae.activate(testFeatures, False, None)
    latentSpaceVsEpoch.append(latentSpaceValues)
    net.setListeners(PlottingListener(plotEveryNMinibatches, testFeatures, latentSpaceGrid, latentSpaceVsEpoch, digitsGrid))
    for _i in range(3):
        net.pretrain(trainIter)
    assert len(latentSpaceVsEpoch) == 4 and len(digitsGrid) == 3
    assert digitsGrid[0].shape() == (16, 784) and 0 < digitsGrid[0].getDouble(0, 400) < 1
    assert not latentSpaceVsEpoch[-1].equals(latentSpaceValues)


def getLatentSpaceGrid(plotMin, plotMax, plotSteps):
    data = Nd4j.create(plotSteps * plotSteps, 2)
    linspaceRow = Nd4j.linspace(plotMin, plotMax, plotSteps, DataType.FLOAT)
    for i in range(plotSteps):
        data.get(NDArrayIndex.interval(i * plotSteps, (i + 1) * plotSteps), NDArrayIndex.point(0)).assign(linspaceRow)
        yStart = plotSteps - i - 1
        rows = NDArrayIndex.interval(yStart * plotSteps, (yStart + 1) * plotSteps)
        data.get(rows, NDArrayIndex.point(1)).assign(linspaceRow.getDouble(i))
    return data


class PlottingListener(BaseTrainingListener):
    def __init__(self, plotEveryNMinibatches, testFeatures, latentSpaceGrid, latentSpaceVsEpoch, digitsGrid):
        self.plotEveryNMinibatches = plotEveryNMinibatches
        self.testFeatures, self.latentSpaceGrid = testFeatures, latentSpaceGrid
        self.latentSpaceVsEpoch, self.digitsGrid = latentSpaceVsEpoch, digitsGrid

    def iterationDone(self, model, iterationCount, epoch):
        if not isinstance(model, VariationalAutoencoder):
            return
        vae = model
        if iterationCount % self.plotEveryNMinibatches == 0:
            latentSpaceValues = vae.activate(self.testFeatures, False, None)
            self.latentSpaceVsEpoch.append(latentSpaceValues)
            out = vae.generateAtMeanGivenZ(self.latentSpaceGrid)
            self.digitsGrid.append(out)


def vae_anomalies(folder: Path):
    trainIter = _digits(32)
    Nd4j.getRandom().setSeed(12345)
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .updater(Adam(1e-3))
            .weightInit(WeightInit.XAVIER)
            .l2(1e-4)
            .list()
            .layer(VariationalAutoencoder.Builder()
                   .activation(Activation.LEAKYRELU)
                   .encoderLayerSizes(16, 16)
                   .decoderLayerSizes(16, 16)
                   .pzxActivationFunction(Activation.IDENTITY)
                   .reconstructionDistribution(BernoulliReconstructionDistribution(Activation.SIGMOID))
                   .nIn(28 * 28)
                   .nOut(4)
                   .build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(100))
    for _i in range(2):
        net.pretrain(trainIter)

    testIter = _digits(32, False)
    vae = net.getLayer(0)
    listsByDigit = {i: [] for i in range(10)}
    while testIter.hasNext():
        ds = testIter.next()
        features = ds.getFeatures()
        labels = Nd4j.argMax(ds.getLabels(), 1)
        reconstructionErrorEachExample = vae.reconstructionLogProbability(features, 4)
        for j in range(features.rows()):
            example = features.getRow(j, True)
            label = int(labels.getDouble(j))
            score = reconstructionErrorEachExample.getDouble(j)
            listsByDigit[label].append(Pair(score, example))
    for pairs in listsByDigit.values():
        pairs.sort(key=lambda pair: -pair.getFirst())
    reconstructions = []
    for pairs in listsByDigit.values():
        b, w = pairs[0].getSecond(), pairs[len(pairs) - 1].getSecond()
        mgr = None
        vae.setInput(b, mgr)
        pzxMeanBest = vae.preOutput(False, mgr)
        reconstructions.append(vae.generateAtMeanGivenZ(pzxMeanBest))
        vae.setInput(w, mgr)
        pzxMeanWorst = vae.preOutput(False, mgr)
        reconstructions.append(vae.generateAtMeanGivenZ(pzxMeanWorst))
    assert len(reconstructions) == 20 and reconstructions[0].shape() == (1, 784)


def weighted_loss(folder: Path):
    weightsArray = Nd4j.create([0.5, 0.5, 1.0])
    conf = (NeuralNetConfiguration.Builder()
            .activation(Activation.RELU)
            .weightInit(WeightInit.XAVIER)
            .updater(Sgd(0.1))
            .list()
            .layer(DenseLayer.Builder().nIn(4).nOut(5).build())
            .layer(DenseLayer.Builder().nIn(5).nOut(5).build())
            .layer(OutputLayer.Builder().lossFunction(LossMCXENT(weightsArray)).activation(Activation.SOFTMAX).nIn(5).nOut(3).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    assert model.output(Nd4j.rand(2, 4)).sumNumber() == 2 or abs(model.output(Nd4j.rand(2, 4)).sumNumber() - 2) < 1e-5


class GaussianMixtureIterator(DataSetIterator):
    miniBatchSize, numExamplesToFetch = 100, 400

    def __init__(self, nMixturesPerLabel):
        self.mRNG, self.mMixturesPerLabel, self.examplesSoFar = JavaRandom(7), nMixturesPerLabel, 0

    def hasNext(self):
        return self.examplesSoFar < self.numExamplesToFetch

    def next(self, num=None):
        num = num or self.miniBatchSize
        if self.examplesSoFar + num > self.numExamplesToFetch:
            raise StopIteration
        self.examplesSoFar += num
        input = Nd4j.zeros(num, self.inputColumns())
        output = Nd4j.zeros(num, self.totalOutcomes())
        for i in range(num):
            x = self.mRNG.nextDouble() - 0.5
            mid = self.mRNG.nextBoolean()
            meanFactor = -0.5 if mid else 0.5 * x
            input.putScalar([i, 0], x * 10)
            output.putScalar([i, 0], meanFactor + 0.1 * self.mRNG.nextGaussian())
            output.putScalar([i, 1], meanFactor + 0.1 * self.mRNG.nextGaussian())
        return DataSet(input, output)

    def inputColumns(self):
        return 1

    def totalOutcomes(self):
        return 2

    def resetSupported(self):
        return True

    def asyncSupported(self):
        return False

    def reset(self):
        self.examplesSoFar = 0

    def batch(self):
        return 1


def mixture_density(folder: Path):
    mixturesToFit, outputLabels, hiddenLayerSize = 2, 2, 8
    loss = LossMixtureDensity.builder().gaussians(mixturesToFit).labelWidth(outputLabels).build()
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .weightInit(WeightInit.XAVIER)
            .updater(Nadam())
            .list()
            .layer(DenseLayer.Builder().nIn(1).nOut(hiddenLayerSize).activation(Activation.TANH).build())
            .layer(DenseLayer.Builder().nIn(hiddenLayerSize).nOut(hiddenLayerSize).activation(Activation.TANH).build())
            .layer(OutputLayer.Builder().nIn(hiddenLayerSize).nOut(mixturesToFit * (2 + outputLabels)).activation(Activation.IDENTITY)
                   .lossFunction(loss).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(PerformanceListener(32))
    iter = GaussianMixtureIterator(mixturesToFit)
    scores = []
    for _i in range(3):
        while iter.hasNext():
            ds = iter.next()
            net.fit(ds)
            scores.append(net.score())
        iter.reset()
    assert scores[-1] < scores[0]
    input = Nd4j.zeros(1).reshape(1, 1)
    input.putScalar(0, 2.5)
    output = net.activateSelectedLayers(0, net.getnLayers() - 1, input)
    mixtures: LossMixtureDensity.MixtureDensityComponents = loss.extractComponents(output)
    total = 0.0
    for mixtureNumber in range(mixturesToFit):
        total += mixtures.getAlpha().getDouble(0, mixtureNumber)
        assert mixtures.getSigma().getDouble(0, mixtureNumber) > 0
        for labelNumber in range(outputLabels):
            print(mixtures.getMu().getDouble(0, mixtureNumber, labelNumber))
    assert abs(total - 1) < 1e-5


def k_folds(folder: Path):
    x = Nd4j.create([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 5.0]])
    y = Nd4j.create([[1.0], [2.0], [3.0], [4.0]])
    ds = DataSet(x, y)
    kIter = KFoldIterator(2, ds)
    seen = []
    while kIter.hasNext():
        now = kIter.next()
        test = kIter.testFold()
        seen.append((now.getLabels().sumNumber(), test.getLabels().sumNumber()))
    assert sorted(seen) == [(3.0, 7.0), (7.0, 3.0)]


def external_errors(folder: Path):
    nIn, nOut = 4, 3
    Nd4j.getRandom().setSeed(12345)
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .activation(Activation.TANH)
            .weightInit(WeightInit.XAVIER)
            .updater(Nadam())
            .list()
            .layer(DenseLayer.Builder().nIn(nIn).nOut(3).build())
            .layer(DenseLayer.Builder().nIn(3).nOut(3).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    minibatch = 32
    input = Nd4j.rand(minibatch, nIn)
    model.setInput(input)
    model.feedForward(True, False)
    externalError = Nd4j.rand(minibatch, nOut)
    p = model.backpropGradient(externalError, None)
    gradient = p.getFirst()
    iteration, epoch = 0, 0
    model.getUpdater().update(model, gradient, iteration, epoch, minibatch, None)
    updateVector = gradient.gradient()
    before = model.params().dup()
    model.params().subi(updateVector)
    assert model.params().sub(before).addi(updateVector).normmaxNumber() < 1e-6 < updateVector.normmaxNumber()
