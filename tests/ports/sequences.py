"""Programs that learn sequences."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    LSTM,
    Activation,
    Adam,
    BackpropType,
    BooleanIndexing,
    Conditions,
    Convolution1DLayer,
    CSVSequenceRecordReader,
    DataSet,
    DataSetIterator,
    EmbeddingLayer,
    EvaluativeListener,
    FeedForwardToRnnPreProcessor,
    GradientNormalization,
    InputType,
    InvocationType,
    JavaRandom,
    ListBuilder,
    LossFunction,
    LossFunctions,
    MultiLayerNetwork,
    Nadam,
    Nd4j,
    NeuralNetConfiguration,
    NormalizerStandardize,
    NumberedFileInputSplit,
    OutputLayer,
    RmsProp,
    RNNFormat,
    RnnOutputLayer,
    RnnToFeedForwardPreProcessor,
    ScoreIterationListener,
    SequenceRecordReaderDataSetIterator,
    WeightInit,
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
