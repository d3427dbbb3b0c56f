"""Programs that learn sequences from iterators of their own."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    LSTM,
    Activation,
    Adam,
    ComputationGraph,
    DataSet,
    DataSetIterator,
    DataType,
    DuplicateToTimeSeriesVertex,
    FileStatsStorage,
    InputType,
    JavaRandom,
    LastTimeStepVertex,
    LossFunctions,
    ModelSerializer,
    MultiDataSet,
    MultiDataSetIterator,
    MultiLayerNetwork,
    Nd4j,
    NDArrayIndex,
    NeuralNetConfiguration,
    NormalizerSerializer,
    NormalizerStandardize,
    OptimizationAlgorithm,
    Pair,
    RmsProp,
    RnnOutputLayer,
    ScoreIterationListener,
    StatsListener,
    Text,
    WeightInit,
    WorkspaceMode,
)


class AnomalyDataSetReader:
    def __init__(self, file):
        self.skipNumLines, self.skipNumColumns, self.longestTimeSequence, self.shortest = 1, 2, 0, 1
        self.filePath = file
        self.doInitialize()

    def doInitialize(self):
        self.currentLines, dataLines = [], []
        lines = self.filePath.read_text().splitlines()
        for i in range(self.skipNumLines, len(lines)):
            tempStr = lines[i].replace('"', "")
            self.currentLines.append(tempStr)
            wary = tempStr.split(",")
            self.longestTimeSequence = max(self.longestTimeSequence, len(wary) - self.skipNumColumns)
            dataLines.append([Text(wary[j]) for j in range(self.skipNumColumns, len(wary))])
        self.lines = dataLines
        self.totalExamples = len(dataLines)

    def next(self, num):
        num = min(num, len(self.lines))
        features = Nd4j.create([num, self.shortest, self.longestTimeSequence], "f")
        featuresMask = Nd4j.ones(num, self.longestTimeSequence)
        for i in range(num):
            line = self.lines.pop(0)
            for index in range(len(line)):
                features.putScalar([i, 0, index], line[index].toDouble())
            for step in range(len(line), self.longestTimeSequence):
                featuresMask.putScalar(i, step, 0.0)
        return DataSet(features, features, featuresMask, featuresMask)

    def hasNext(self):
        return len(self.lines) > 0

    def reset(self):
        self.doInitialize()


class AnomalyDataSetIterator(DataSetIterator):
    def __init__(self, filePath, batchSize):
        self.recordReader = AnomalyDataSetReader(filePath)
        self.batchSize = batchSize
        self.last, self.useCurrent, self.preProcessor = None, False, None

    def next(self, i=None):
        if i is None and self.useCurrent:
            self.useCurrent = False
            return self.last
        ds = self.recordReader.next(i or self.batchSize)
        if self.preProcessor is not None:
            self.preProcessor.preProcess(ds)
        return ds

    def _first(self):
        if self.last is None:
            self.last = self.next()
            self.useCurrent = True
        return self.last

    def inputColumns(self):
        return self._first().numInputs()

    def totalOutcomes(self):
        return self._first().numOutcomes()

    def resetSupported(self):
        return True

    def asyncSupported(self):
        return True

    def reset(self):
        self.recordReader.reset()
        self.last, self.useCurrent = None, False

    def batch(self):
        return self.batchSize

    def setPreProcessor(self, dataSetPreProcessor):
        self.preProcessor = dataSetPreProcessor

    def getPreProcessor(self):
        return self.preProcessor

    def getLabels(self):
        return None

    def hasNext(self):
        return self.recordReader.hasNext()

    def getCurrentLines(self):
        return self.recordReader.currentLines


def sequence_anomalies(folder: Path):
    trainIterator = AnomalyDataSetIterator(folder / "ads.csv", 16)
    testIterator = AnomalyDataSetIterator(folder / "test.csv", 1)
    conf = (NeuralNetConfiguration.Builder()
            .trainingWorkspaceMode(WorkspaceMode.ENABLED).inferenceWorkspaceMode(WorkspaceMode.ENABLED)
            .seed(123456)
            .optimizationAlgo(OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT)
            .updater(RmsProp.Builder().learningRate(0.05).rmsDecay(0.002).build())
            .l2(0.0005)
            .weightInit(WeightInit.XAVIER)
            .activation(Activation.TANH)
            .list()
            .layer(LSTM.Builder().name("encoder0").nIn(trainIterator.inputColumns()).nOut(8).build())
            .layer(LSTM.Builder().name("encoder1").nOut(3).build())
            .layer(LSTM.Builder().name("decoder1").nOut(8).build())
            .layer(RnnOutputLayer.Builder().name("output").nOut(trainIterator.totalOutcomes())
                   .activation(Activation.IDENTITY).lossFunction(LossFunctions.LossFunction.MSE).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    statsStorage = FileStatsStorage(folder / "ui-stats.dl4j")
    normalizer = NormalizerStandardize()
    normalizer.fit(trainIterator)
    trainIterator.reset()
    trainIterator.setPreProcessor(normalizer)
    testIterator.setPreProcessor(normalizer)
    NormalizerSerializer.getDefault().write(normalizer, str(folder / "anomalyDetectionNormlizer.ty"))
    net.setListeners(StatsListener(statsStorage), ScoreIterationListener(10))
    net.fit(trainIterator, 6)
    ModelSerializer.writeModel(net, folder / "anomalyDetectionModel.gz", True)

    evalList, totalScore = [], 0.0
    queue = list(testIterator.getCurrentLines())
    while testIterator.hasNext():
        ds = testIterator.next()
        score = net.score(ds)
        currentLine = queue.pop(0)
        totalScore += score
        evalList.append(Pair(score, currentLine))
    evalList.sort(key=lambda pair: pair.getLeft())
    threshold = totalScore / len(evalList)
    anomalyData = [pair.getRight() for pair in evalList if pair.getLeft() > threshold]
    print(anomalyData)
    assert {line.split(",")[0] for line in anomalyData} == {"10", "11"}


class CustomSequenceIterator(MultiDataSetIterator):
    """Sums as texts: the question backwards, the answer one step ahead of what the decoder is given."""

    SEQ_VECTOR_DIM, numDigits = 14, 2

    def __init__(self, seed, batchSize, totalBatches):
        self.seed, self.batchSize, self.totalBatches = seed, batchSize, totalBatches
        self.oneHotOrder = [*"0123456789", " ", "+", "Go", "End"]
        self.toTestSet, self.currentBatch = False, 0
        self.reset()

    def generateTest(self, testSize):
        self.toTestSet = True
        testData = self.next(testSize)
        self.reset()
        return testData

    def next(self, num=None):
        sampleSize = num or self.batchSize
        encoderSeqList, decoderSeqList, outputSeqList = [], [], []
        while len(encoderSeqList) < sampleSize:
            num1 = self.randnumG.nextInt(10 ** self.numDigits)
            num2 = self.randnumG.nextInt(10 ** self.numDigits)
            encoderSeqList.append(self.mapToOneHot(list(f"{num1:2}+{num2:2}"[::-1])))
            answer = list(f"{num1 + num2:<3}")
            decoderSeqList.append(self.mapToOneHot(["Go", *([" "] * 3 if self.toTestSet else answer)]))
            outputSeqList.append(self.mapToOneHot([*answer, "End"]))
        encoderSeq = Nd4j.vstack(encoderSeqList)
        decoderSeq = Nd4j.vstack(decoderSeqList)
        outputSeq = Nd4j.vstack(outputSeqList)
        inputMasks = [Nd4j.ones(sampleSize, 5), Nd4j.ones(sampleSize, 4)]
        labelMasks = [Nd4j.ones(sampleSize, 4)]
        self.currentBatch += 1
        return MultiDataSet([encoderSeq, decoderSeq], [outputSeq], inputMasks, labelMasks)

    def mapToOneHot(self, toEncode):
        ret = Nd4j.zeros(1, self.SEQ_VECTOR_DIM, len(toEncode))
        for i in range(len(toEncode)):
            ret.putScalar(0, self.oneHotOrder.index(toEncode[i]), i, 1)
        return ret

    def oneHotDecode(self, toInterpret):
        oneHotIndices = Nd4j.argMax(toInterpret, 1)
        decodedString = []
        for i in range(oneHotIndices.size(0)):
            currentSlice = oneHotIndices.slice(i).dup().data().asInt()
            decodedString.append("".join(self.oneHotOrder[value] for value in currentSlice))
        return decodedString

    def reset(self):
        self.currentBatch, self.toTestSet = 0, False
        self.randnumG = JavaRandom(self.seed)

    def resetSupported(self):
        return True

    def asyncSupported(self):
        return False

    def hasNext(self):
        return self.currentBatch < self.totalBatches

    def getPreProcessor(self):
        return None

    def setPreProcessor(self, preProcessor):
        pass


def addition_seq2seq(folder: Path):
    Nd4j.setDefaultDataTypes(DataType.DOUBLE, DataType.DOUBLE)
    try:
        iterator = CustomSequenceIterator(1234, 10, 8)
        configuration = (NeuralNetConfiguration.Builder()
                         .weightInit(WeightInit.XAVIER)
                         .updater(Adam(0.01))
                         .seed(1234)
                         .graphBuilder()
                         .addInputs("additionIn", "sumOut")
                         .setInputTypes(InputType.recurrent(14), InputType.recurrent(14))
                         .addLayer("encoder", LSTM.Builder().nIn(14).nOut(16).activation(Activation.TANH).build(), "additionIn")
                         .addVertex("lastTimeStep", LastTimeStepVertex("additionIn"), "encoder")
                         .addVertex("duplicateTimeStep", DuplicateToTimeSeriesVertex("sumOut"), "lastTimeStep")
                         .addLayer("decoder", LSTM.Builder().nIn(14 + 16).nOut(16).activation(Activation.SOFTSIGN).build(),
                                   "sumOut", "duplicateTimeStep")
                         .addLayer("output", RnnOutputLayer.Builder().nIn(16).nOut(14).activation(Activation.SOFTMAX)
                                   .lossFunction(LossFunctions.LossFunction.MCXENT).build(), "decoder")
                         .setOutputs("output")
                         .build())
        net = ComputationGraph(configuration)
        net.init()
        net.setListeners(ScoreIterationListener(10))
        for _iEpoch in range(2):
            net.fit(iterator)
        assert iterator.generateTest(1).getFeatures()[0].dataType() is DataType.DOUBLE
        testData = iterator.generateTest(3)
        decoderInputTemplate = testData.getFeatures()[1].dup()
        for n in range(testData.getLabels()[0].size(2) - 1):
            currentOutput = net.output(False, testData.getFeatures()[0], decoderInputTemplate)[0]
            fromView = currentOutput.get(NDArrayIndex.all(), NDArrayIndex.all(), NDArrayIndex.interval(0, n, True))
            toView = decoderInputTemplate.get(NDArrayIndex.all(), NDArrayIndex.all(), NDArrayIndex.interval(1, n + 1, True))
            toView.assign(fromView.dup())
        predictions = net.output(False, testData.getFeatures()[0], decoderInputTemplate)[0]
        print(iterator.oneHotDecode(testData.getFeatures()[0]), iterator.oneHotDecode(predictions))
        assert all(answer.endswith("End") for answer in iterator.oneHotDecode(testData.getLabels()[0]))
        assert decoderInputTemplate.sum(1).equals(Nd4j.ones(3, 4))
    finally:
        Nd4j.setDefaultDataTypes(DataType.FLOAT, DataType.FLOAT)
