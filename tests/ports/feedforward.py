"""Programs with dense layers, for classes and numbers."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    CSVRecordReader,
    DataNormalization,
    DataSet,
    DenseLayer,
    Evaluation,
    FileSplit,
    JavaRandom,
    ListDataSetIterator,
    LossFunction,
    LossFunctions,
    MultiLayerNetwork,
    Nd4j,
    Nesterovs,
    NeuralNetConfiguration,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    OutputLayer,
    RecordMetaData,
    RecordReaderDataSetIterator,
    ScoreIterationListener,
    Sgd,
    Transforms,
    UniformDistribution,
    WeightInit,
)


def linear_data_classifier(folder: Path):
    batchSize, learningRate, nEpochs = 50, 0.01, 30
    numInputs, numOutputs, numHiddenNodes = 2, 2, 20

    rr = CSVRecordReader()
    rr.initialize(FileSplit(folder / "linear_data_train.csv"))
    trainIter = RecordReaderDataSetIterator(rr, batchSize, 0, 2)
    rrTest = CSVRecordReader()
    rrTest.initialize(FileSplit(folder / "linear_data_eval.csv"))
    testIter = RecordReaderDataSetIterator(rrTest, batchSize, 0, 2)

    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(learningRate, 0.9))
            .list()
            .layer(DenseLayer.Builder().nIn(numInputs).nOut(numHiddenNodes).activation(Activation.RELU).build())
            .layer(OutputLayer.Builder(LossFunction.NEGATIVELOGLIKELIHOOD).activation(Activation.SOFTMAX)
                   .nIn(numHiddenNodes).nOut(numOutputs).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    model.setListeners(ScoreIterationListener(10))
    model.fit(trainIter, nEpochs)

    eval = Evaluation(numOutputs)
    while testIter.hasNext():
        t = testIter.next()
        features = t.getFeatures()
        labels = t.getLabels()
        predicted = model.output(features, False)
        eval.eval(labels, predicted)
    print(eval.stats())
    assert eval.accuracy() > 0.95


def moon_classifier(folder: Path):
    rr = CSVRecordReader()
    rr.initialize(FileSplit(folder / "moon_data_train.csv"))
    trainIter = RecordReaderDataSetIterator(rr, 50, 0, 2)
    rrTest = CSVRecordReader()
    rrTest.initialize(FileSplit(folder / "moon_data_eval.csv"))
    testIter = RecordReaderDataSetIterator(rrTest, 50, 0, 2)
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.05, 0.9))
            .list()
            .layer(DenseLayer.Builder().nIn(2).nOut(20).activation(Activation.RELU).build())
            .layer(OutputLayer.Builder(LossFunction.NEGATIVELOGLIKELIHOOD).weightInit(WeightInit.XAVIER)
                   .activation(Activation.SOFTMAX).nIn(20).nOut(2).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    model.setListeners(ScoreIterationListener(100))
    model.fit(trainIter, 60)
    eval = model.evaluate(testIter)
    print(eval.stats())
    assert eval.accuracy() > 0.9

    nPointsPerAxis = 10             # the grid that the program draws
    x = Nd4j.linspace(-1.5, 2.5, nPointsPerAxis)
    grid = Nd4j.meshgrid(x, x)
    points = Nd4j.vstack(grid[0].ravel(), grid[1].ravel()).transpose()
    assert model.output(points).shape() == (100, 2)


def iris_classifier(folder: Path):
    numLinesToSkip = 0
    delimiter = ","
    recordReader = CSVRecordReader(numLinesToSkip, delimiter)
    recordReader.initialize(FileSplit(folder / "iris.txt"))
    labelIndex, numClasses, batchSize = 4, 3, 150
    iterator = RecordReaderDataSetIterator(recordReader, batchSize, labelIndex, numClasses)
    allData = iterator.next()
    allData.shuffle(123)
    testAndTrain = allData.splitTestAndTrain(0.65)
    trainingData = testAndTrain.getTrain()
    testData = testAndTrain.getTest()

    normalizer: DataNormalization = NormalizerStandardize()
    normalizer.fit(trainingData)
    normalizer.transform(trainingData)
    normalizer.transform(testData)

    conf = (NeuralNetConfiguration.Builder()
            .seed(6)
            .activation(Activation.TANH)
            .weightInit(WeightInit.XAVIER)
            .updater(Sgd(0.1))
            .l2(1e-4)
            .list()
            .layer(DenseLayer.Builder().nIn(4).nOut(3).build())
            .layer(DenseLayer.Builder().nIn(3).nOut(3).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                   .activation(Activation.SOFTMAX).nIn(3).nOut(3).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    model.setListeners(ScoreIterationListener(100))
    for _i in range(400):
        model.fit(trainingData)

    eval = Evaluation(3)
    output = model.output(testData.getFeatures())
    eval.eval(testData.getLabels(), output)
    print(eval.stats())
    assert eval.accuracy() > 0.9


def evaluation_meta_data(folder: Path):
    recordReader = CSVRecordReader(0, ",")
    recordReader.initialize(FileSplit(folder / "iris.txt"))
    iterator = RecordReaderDataSetIterator(recordReader, 150, 4, 3)
    iterator.setCollectMetaData(True)
    allData = iterator.next()
    allData.shuffle(123)
    testAndTrain = allData.splitTestAndTrain(0.65)
    trainingData = testAndTrain.getTrain()
    testData = testAndTrain.getTest()

    trainMetaData = trainingData.getExampleMetaData(RecordMetaData)
    testMetaData = testData.getExampleMetaData(RecordMetaData)
    for recordMetaData in trainMetaData:
        assert recordMetaData.getLocation() and recordMetaData.getURI()

    normalizer = NormalizerStandardize()
    normalizer.fit(trainingData)
    normalizer.transform(trainingData)
    normalizer.transform(testData)
    conf = (NeuralNetConfiguration.Builder()
            .seed(6)
            .activation(Activation.TANH)
            .weightInit(WeightInit.XAVIER)
            .updater(Sgd(0.1))
            .l2(1e-4)
            .list()
            .layer(DenseLayer.Builder().nIn(4).nOut(3).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                   .activation(Activation.SOFTMAX).nIn(3).nOut(3).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    for _i in range(50):
        model.fit(trainingData)

    eval = Evaluation(3)
    output = model.output(testData.getFeatures())
    eval.eval(testData.getLabels(), output, testMetaData)
    print(eval.stats())
    predictionErrors = eval.getPredictionErrors()
    predictionErrorMetaData = []
    for p in predictionErrors:
        meta = p.getRecordMetaData(RecordMetaData)
        print(f"Predicted class: {p.getPredictedClass()}, actual class: {p.getActualClass()}\t{meta.getLocation()}")
        predictionErrorMetaData.append(meta)

    predictionErrorExamples = iterator.loadFromMetaData(predictionErrorMetaData)
    normalizer.transform(predictionErrorExamples)
    predictionErrorRawData = recordReader.loadFromMetaData(predictionErrorMetaData)
    for i in range(len(predictionErrors)):
        p = predictionErrors[i]
        features = predictionErrorExamples.getFeatures().getRow(i, True)
        labels = predictionErrorExamples.getLabels().getRow(i, True)
        rawData = predictionErrorRawData[i].getRecord()
        networkPrediction = model.output(features)
        assert labels.argMax(1).getInt(0) == p.getActualClass() == rawData[4].toInt()
        assert networkPrediction.argMax(1).getInt(0) == p.getPredictedClass()
    assert predictionErrors and len(eval.getPredictionsByActualClass(2)) == len(
        [m for m in range(len(testMetaData)) if testData.getLabels().getInt(m, 2) == 1])
    assert len(eval.getPredictionByPredictedClass(2)) >= len(eval.getPredictions(1, 2))


def model_xor(folder: Path):
    input = Nd4j.zeros(4, 2)
    labels = Nd4j.zeros(4, 2)
    input.putScalar([0, 0], 0)
    input.putScalar([0, 1], 0)
    labels.putScalar([0, 0], 1)
    labels.putScalar([0, 1], 0)
    input.putScalar([1, 0], 1)
    labels.putScalar([1, 1], 1)
    input.putScalar([2, 1], 1)
    labels.putScalar([2, 1], 1)
    input.putScalar([3, 0], 1)
    input.putScalar([3, 1], 1)
    labels.putScalar([3, 0], 1)
    ds = DataSet(input, labels)
    conf = (NeuralNetConfiguration.Builder()
            .updater(Sgd(0.1))
            .seed(1234)
            .biasInit(0)
            .miniBatch(False)
            .list()
            .layer(DenseLayer.Builder().nIn(2).nOut(4).activation(Activation.SIGMOID)
                   .weightInit(UniformDistribution(0, 1)).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).nOut(2)
                   .activation(Activation.SOFTMAX).weightInit(UniformDistribution(0, 1)).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(1000))
    for layer in net.getLayers():
        print(layer.numParams())
    print(net.summary())
    for _i in range(4000):
        net.fit(ds)
    output = net.output(ds.getFeatures())
    eval = Evaluation()
    eval.eval(ds.getLabels(), output)
    print(eval.stats())
    assert eval.accuracy() == 1.0


class SinXDivXMathFunction:
    def getFunctionValues(self, x):
        return Transforms.sin(x, True).divi(x)

    def getName(self):
        return "SinXDivX"


def _shuffled(dataSet, batchSize, rng):
    listDs = dataSet.asList()
    rng.shuffle(listDs)
    return ListDataSetIterator(listDs, batchSize)


def math_functions(folder: Path):
    fn = SinXDivXMathFunction()
    nSamples, nEpochs, plotFrequency = 100, 60, 20
    rng = JavaRandom(12345)
    x = Nd4j.linspace(-10, 10, nSamples).reshape(nSamples, 1)
    iterator = _shuffled(DataSet(x, fn.getFunctionValues(x)), 20, rng)
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.01, 0.9))
            .list()
            .layer(DenseLayer.Builder().nIn(1).nOut(20).activation(Activation.TANH).build())
            .layer(DenseLayer.Builder().nIn(20).nOut(20).activation(Activation.TANH).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.IDENTITY).nIn(20).nOut(1).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(50))
    networkPredictions = [None] * (nEpochs // plotFrequency)
    for i in range(nEpochs):
        iterator.reset()
        net.fit(iterator)
        if (i + 1) % plotFrequency == 0:
            networkPredictions[i // plotFrequency] = net.output(x, False)
    xd = x.data().asDouble()
    yd = networkPredictions[-1].data().asDouble()
    truth = fn.getFunctionValues(x).data().asDouble()
    assert len(xd) == 100 and sum(abs(a - b) for a, b in zip(yd, truth)) / 100 < 0.1


def sum_model(folder: Path):
    rng = JavaRandom(12345)
    nSamples = 200
    input1, input2, sum = [], [], []
    for _i in range(nSamples):
        input1.append(3 * rng.nextDouble())
        input2.append(3 * rng.nextDouble())
        sum.append(input1[-1] + input2[-1])
    inputNDArray1 = Nd4j.create(input1, nSamples, 1)
    inputNDArray2 = Nd4j.create(input2, nSamples, 1)
    inputNDArray = Nd4j.hstack(inputNDArray1, inputNDArray2)
    outPut = Nd4j.create(sum, nSamples, 1)
    iterator = _shuffled(DataSet(inputNDArray, outPut), 20, rng)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder()
                            .seed(12345)
                            .weightInit(WeightInit.XAVIER)
                            .updater(Nesterovs(0.01, 0.9))
                            .list()
                            .layer(0, DenseLayer.Builder().nIn(2).nOut(10).activation(Activation.TANH).build())
                            .layer(1, OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.IDENTITY)
                                   .nIn(10).nOut(1).build())
                            .build())
    net.init()
    net.setListeners(ScoreIterationListener(100))
    for _i in range(60):
        iterator.reset()
        net.fit(iterator)
    input = Nd4j.create([0.111111, 0.3333333333333], 1, 2)
    out = net.output(input, False)
    print(out)
    assert abs(out.getDouble(0) - 0.4444) < 0.15


def csv_data_model(folder: Path):
    rr = CSVRecordReader()
    rr.initialize(FileSplit(folder / "CSVPlotData.csv"))
    iter = RecordReaderDataSetIterator(rr, 1000, 1, 1, True)
    ds = iter.next()
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.0001, 0.9))
            .list()
            .layer(DenseLayer.Builder().nIn(1).nOut(1).activation(Activation.IDENTITY).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.IDENTITY).nIn(1).nOut(1).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(100))
    for _i in range(200):
        net.fit(ds)
    preProcessor = NormalizerMinMaxScaler()
    preProcessor.fit(ds)
    nSamples = 50
    x = Nd4j.linspace(preProcessor.getMin().getInt(0), preProcessor.getMax().getInt(0), nSamples).reshape(nSamples, 1)
    y = net.output(x)
    modeloutput = DataSet(x, y)
    features, outputs = modeloutput.getFeatures(), modeloutput.getLabels()
    for i in range(features.rows()):
        assert abs(outputs.getDouble(i) - 3 * features.getDouble(i) - 2) < 8
