"""Programs that learn sequences."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    LSTM,
    Activation,
    Adam,
    BackpropType,
    BooleanIndexing,
    ComputationGraph,
    Conditions,
    Convolution1DLayer,
    CSVSequenceRecordReader,
    DataSet,
    DataSetIterator,
    DataType,
    DuplicateToTimeSeriesVertex,
    EmbeddingLayer,
    EvaluativeListener,
    FeedForwardToRnnPreProcessor,
    FileStatsStorage,
    GradientNormalization,
    InputType,
    InvocationType,
    JavaRandom,
    LastTimeStepVertex,
    ListBuilder,
    LossFunction,
    LossFunctions,
    ModelSerializer,
    MultiDataSet,
    MultiDataSetIterator,
    MultiLayerNetwork,
    Nadam,
    Nd4j,
    NDArrayIndex,
    NeuralNetConfiguration,
    NormalizerSerializer,
    NormalizerStandardize,
    NumberedFileInputSplit,
    OptimizationAlgorithm,
    OutputLayer,
    Pair,
    RmsProp,
    RNNFormat,
    RnnOutputLayer,
    RnnToFeedForwardPreProcessor,
    ScoreIterationListener,
    SequenceRecordReaderDataSetIterator,
    StatsListener,
    Text,
    WeightInit,
    WorkspaceMode,
)


def memorize_sequence(folder: Path):
    LEARNSTRING = list("*Der Cottbuser")
    LEARNSTRING_CHARS_LIST = list(dict.fromkeys(LEARNSTRING))
    HIDDEN_LAYER_WIDTH, HIDDEN_LAYER_CONT = 20, 2

    builder = NeuralNetConfiguration.Builder()
    builder.seed(123)
    builder.biasInit(0)
    builder.miniBatch(False)
    builder.updater(RmsProp(0.01))
    builder.weightInit(WeightInit.XAVIER)
    listBuilder = builder.list()
    assert isinstance(listBuilder, ListBuilder)
    for i in range(HIDDEN_LAYER_CONT):
        hiddenLayerBuilder = LSTM.Builder()
        hiddenLayerBuilder.nIn(len(LEARNSTRING_CHARS_LIST) if i == 0 else HIDDEN_LAYER_WIDTH)
        hiddenLayerBuilder.nOut(HIDDEN_LAYER_WIDTH)
        hiddenLayerBuilder.activation(Activation.TANH)
        listBuilder.layer(i, hiddenLayerBuilder.build())
    outputLayerBuilder = RnnOutputLayer.Builder(LossFunction.MCXENT)
    outputLayerBuilder.activation(Activation.SOFTMAX)
    outputLayerBuilder.nIn(HIDDEN_LAYER_WIDTH)
    outputLayerBuilder.nOut(len(LEARNSTRING_CHARS_LIST))
    listBuilder.layer(HIDDEN_LAYER_CONT, outputLayerBuilder.build())
    conf = listBuilder.build()
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(50))

    input = Nd4j.zeros(1, len(LEARNSTRING_CHARS_LIST), len(LEARNSTRING))
    labels = Nd4j.zeros(1, len(LEARNSTRING_CHARS_LIST), len(LEARNSTRING))
    for samplePos, currentChar in enumerate(LEARNSTRING):
        nextChar = LEARNSTRING[(samplePos + 1) % len(LEARNSTRING)]
        input.putScalar([0, LEARNSTRING_CHARS_LIST.index(currentChar), samplePos], 1)
        labels.putScalar([0, LEARNSTRING_CHARS_LIST.index(nextChar), samplePos], 1)
    trainingData = DataSet(input, labels)
    for _epoch in range(60):
        net.fit(trainingData)
        net.rnnClearPreviousState()

    testInit = Nd4j.zeros(1, len(LEARNSTRING_CHARS_LIST), 1)
    testInit.putScalar(LEARNSTRING_CHARS_LIST.index(LEARNSTRING[0]), 1)
    output = net.rnnTimeStep(testInit)
    sampled = ""
    for _ignored in LEARNSTRING:
        sampledCharacterIdx = Nd4j.argMax(output, 1).getInt(0)
        sampled += LEARNSTRING_CHARS_LIST[sampledCharacterIdx]
        nextInput = Nd4j.zeros(1, len(LEARNSTRING_CHARS_LIST), 1)
        nextInput.putScalar(sampledCharacterIdx, 1)
        output = net.rnnTimeStep(nextInput)
    print(sampled)
    assert sampled.startswith("Der")


def rnn_embedding(folder: Path):
    nClassesIn, batchSize, timeSeriesLength = 10, 3, 8
    inEmbedding = Nd4j.create(batchSize, 1, timeSeriesLength)
    outLabels = Nd4j.create(batchSize, 4, timeSeriesLength)
    r = JavaRandom(12345)
    for i in range(batchSize):
        for j in range(timeSeriesLength):
            classIdx = r.nextInt(nClassesIn)
            inEmbedding.putScalar([i, 0, j], classIdx)
            labelIdx = r.nextInt(4)
            outLabels.putScalar([i, labelIdx, j], 1.0)
    conf = (NeuralNetConfiguration.Builder()
            .activation(Activation.RELU)
            .list()
            .layer(EmbeddingLayer.Builder().nIn(nClassesIn).nOut(5).build())
            .layer(LSTM.Builder().nIn(5).nOut(7).activation(Activation.TANH).build())
            .layer(RnnOutputLayer.Builder(LossFunctions.LossFunction.MCXENT).nIn(7).nOut(4).activation(Activation.SOFTMAX).build())
            .inputPreProcessor(0, RnnToFeedForwardPreProcessor())
            .inputPreProcessor(1, FeedForwardToRnnPreProcessor())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setInput(inEmbedding)
    net.setLabels(outLabels)
    net.computeGradientAndScore()
    print(net.score())
    assert net.gradient().gradient().normmaxNumber() > 0


class CharacterIterator(DataSetIterator):
    """Pieces of a text, in a form that next characters can be predicted from."""

    def __init__(self, text, miniBatchSize, exampleLength, validCharacters, rng):
        self.validCharacters, self.exampleLength, self.miniBatchSize, self.rng = validCharacters, exampleLength, miniBatchSize, rng
        self.charToIdxMap = {c: i for i, c in enumerate(validCharacters)}
        self.fileCharacters = [c for c in text if c in self.charToIdxMap]
        self.exampleStartOffsets = []
        self.initializeOffsets()

    def convertIndexToCharacter(self, idx):
        return self.validCharacters[idx]

    def convertCharacterToIndex(self, c):
        return self.charToIdxMap[c]

    def getRandomCharacter(self):
        return self.validCharacters[int(self.rng.nextDouble() * len(self.validCharacters))]

    def hasNext(self):
        return len(self.exampleStartOffsets) > 0

    def next(self, num=None):
        currMinibatchSize = min(num or self.miniBatchSize, len(self.exampleStartOffsets))
        input = Nd4j.create([currMinibatchSize, len(self.validCharacters), self.exampleLength], "f")
        labels = Nd4j.create([currMinibatchSize, len(self.validCharacters), self.exampleLength], "f")
        for i in range(currMinibatchSize):
            startIdx = self.exampleStartOffsets.pop(0)
            currCharIdx = self.charToIdxMap[self.fileCharacters[startIdx]]
            for c in range(self.exampleLength - 1):
                nextCharIdx = self.charToIdxMap[self.fileCharacters[startIdx + c + 1]]
                input.putScalar([i, currCharIdx, c], 1.0)
                labels.putScalar([i, nextCharIdx, c], 1.0)
                currCharIdx = nextCharIdx
        return DataSet(input, labels)

    def inputColumns(self):
        return len(self.validCharacters)

    def totalOutcomes(self):
        return len(self.validCharacters)

    def reset(self):
        self.exampleStartOffsets.clear()
        self.initializeOffsets()

    def initializeOffsets(self):
        for i in range((len(self.fileCharacters) - 1) // self.exampleLength - 2):
            self.exampleStartOffsets.append(i * self.exampleLength)
        self.rng.shuffle(self.exampleStartOffsets)

    def resetSupported(self):
        return True

    def asyncSupported(self):
        return True

    def batch(self):
        return self.miniBatchSize

    def setPreProcessor(self, preProcessor):
        raise NotImplementedError("Not implemented")

    def getPreProcessor(self):
        raise NotImplementedError("Not implemented")

    def getLabels(self):
        raise NotImplementedError("Not implemented")


def generate_text(folder: Path):
    rng = JavaRandom(12345)
    iter = CharacterIterator("The quick brown fox jumps over the lazy dog. " * 30, 4, 40, "Theabcdfgijklmnopqrstuvwxyz. ", rng)
    nOut = iter.totalOutcomes()
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .l2(0.0001)
            .weightInit(WeightInit.XAVIER)
            .updater(Adam(0.02))
            .list()
            .layer(LSTM.Builder().nIn(iter.inputColumns()).nOut(20).activation(Activation.TANH).build())
            .layer(LSTM.Builder().nIn(20).nOut(20).activation(Activation.TANH).build())
            .layer(RnnOutputLayer.Builder(LossFunction.MCXENT).activation(Activation.SOFTMAX).nIn(20).nOut(nOut).build())
            .backpropType(BackpropType.TruncatedBPTT).tBPTTForwardLength(20).tBPTTBackwardLength(20)
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(10))
    first = net.score(iter.next())
    for _epoch in range(3):
        while iter.hasNext():
            ds = iter.next()
            net.fit(ds)
        iter.reset()
    assert net.score() < first
    samples = sampleCharactersFromNetwork("The ", net, iter, rng, 30, 2)
    for sample in samples:
        print(sample)
    assert len(samples[0]) == len(samples[1]) == 34


def sampleCharactersFromNetwork(initialization, net, iter, rng, charactersToSample, numSamples):
    initializationInput = Nd4j.zeros(numSamples, iter.inputColumns(), len(initialization))
    for i in range(len(initialization)):
        idx = iter.convertCharacterToIndex(initialization[i])
        for j in range(numSamples):
            initializationInput.putScalar([j, idx, i], 1.0)
    sb = [initialization] * numSamples
    net.rnnClearPreviousState()
    output = net.rnnTimeStep(initializationInput)
    output = output.tensorAlongDimension(output.size(2) - 1, 1, 0)
    for _i in range(charactersToSample):
        nextInput = Nd4j.zeros(numSamples, iter.inputColumns())
        cumsum = Nd4j.cumsum(output, 1)
        for s in range(numSamples):
            index = BooleanIndexing.firstIndex(cumsum.getRow(s), Conditions.greaterThan(rng.nextDouble())).getInt(0)
            nextInput.putScalar([s, index], 1.0)
            sb[s] += iter.convertIndexToCharacter(index)
        output = net.rnnTimeStep(nextInput)
    return sb


def _uci_iterator(folder, part, count):
    features = CSVSequenceRecordReader()
    features.initialize(NumberedFileInputSplit(str(folder / part / "features") + "/%d.csv", 0, count - 1))
    labels = CSVSequenceRecordReader()
    labels.initialize(NumberedFileInputSplit(str(folder / part / "labels") + "/%d.csv", 0, count - 1))
    return SequenceRecordReaderDataSetIterator(features, labels, 10, 3, False,
                                               SequenceRecordReaderDataSetIterator.AlignmentMode.ALIGN_END)


def uci_sequences(folder: Path):
    trainData = _uci_iterator(folder, "train", 45)
    normalizer = NormalizerStandardize()
    normalizer.fit(trainData)
    trainData.reset()
    trainData.setPreProcessor(normalizer)
    testData = _uci_iterator(folder, "test", 15)
    testData.setPreProcessor(normalizer)
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .weightInit(WeightInit.XAVIER)
            .updater(Nadam(0.02))
            .gradientNormalization(GradientNormalization.ClipElementWiseAbsoluteValue)
            .gradientNormalizationThreshold(0.5)
            .list()
            .layer(LSTM.Builder().activation(Activation.TANH).nIn(1).nOut(10).build())
            .layer(RnnOutputLayer.Builder(LossFunctions.LossFunction.MCXENT)
                   .activation(Activation.SOFTMAX).nIn(10).nOut(3).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(20), EvaluativeListener(testData, 1, InvocationType.EPOCH_END))
    net.fit(trainData, 4)
    eval = net.evaluate(testData)
    print(eval.stats())
    assert eval.accuracy() > 0.8


def uci_convolution(folder: Path):
    trainData = _uci_iterator(folder, "train", 45)
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .weightInit(WeightInit.XAVIER)
            .updater(Nadam())
            .list()
            .layer(Convolution1DLayer.Builder().kernelSize(3).stride(1).activation(Activation.TANH).nOut(1).build())
            .layer(RnnOutputLayer.Builder(LossFunctions.LossFunction.MCXENT).activation(Activation.SOFTMAX).nOut(3).build())
            .setInputType(InputType.recurrent(1, 20, RNNFormat.NCW))
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    assert net.output(trainData.next().getFeatures()).shape() == (10, 3, 18)
    dense = (NeuralNetConfiguration.Builder().seed(123).updater(Nadam()).list()
             .layer(Convolution1DLayer.Builder().kernelSize(3).stride(1).activation(Activation.TANH).nOut(1).build())
             .layer(OutputLayer.Builder(LossFunctions.LossFunction.MCXENT).activation(Activation.SOFTMAX).nOut(3).build())
             .setInputType(InputType.recurrent(1, -1, RNNFormat.NCW))
             .build())
    assert MultiLayerNetwork(dense).init() is not None


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
