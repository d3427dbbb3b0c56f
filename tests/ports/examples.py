"""Further networks of the examples: pictures, videos, texts as numbers, several outputs."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    LSTM,
    Activation,
    AdaGrad,
    Adam,
    BackpropType,
    BalancedPathFilter,
    BaseImageLoader,
    CheckpointListener,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    ConvolutionLayer,
    ConvolutionMode,
    CSVRecordReader,
    DataSet,
    DataType,
    DenseLayer,
    DropoutLayer,
    Evaluation,
    FeedForwardToRnnPreProcessor,
    FileSplit,
    FileStatsStorage,
    FineTuneConfiguration,
    FlipImageTransform,
    GlobalPoolingLayer,
    GradientNormalization,
    ImagePreProcessingScaler,
    ImageRecordReader,
    InputType,
    JavaRandom,
    LayerWorkspaceMgr,
    LossFunctions,
    MergeVertex,
    MnistDataSetIterator,
    ModelSerializer,
    MultiDataSet,
    MultiDataSetIterator,
    MultiLayerNetwork,
    Nd4j,
    NDArrayIndex,
    Nesterovs,
    NeuralNetConfiguration,
    OutputLayer,
    Pair,
    ParentPathLabelGenerator,
    PerformanceListener,
    PipelineImageTransform,
    PoolingType,
    RecordReaderDataSetIterator,
    RnnOutputLayer,
    RnnToCnnPreProcessor,
    ScoreIterationListener,
    Sgd,
    StatsListener,
    SubsamplingLayer,
    TransferLearning,
    TransferLearningHelper,
    UIServer,
    WarpImageTransform,
    WeightInit,
)


def mnist_double_layer(folder: Path):
    mnistTrain = MnistDataSetIterator(64, True, 123)
    mnistTest = MnistDataSetIterator(64, False, 123)
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .activation(Activation.RELU)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.015, 0.98))
            .l2(0.015 * 0.005)
            .list()
            .layer(DenseLayer.Builder().nIn(28 * 28).nOut(32).build())
            .layer(DenseLayer.Builder().nIn(32).nOut(16).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).activation(Activation.SOFTMAX).nOut(10).build())
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    model.setListeners(ScoreIterationListener(5))
    model.fit(mnistTrain, 4)
    evaluation = model.evaluate(mnistTest)
    print(evaluation.stats())
    assert evaluation.accuracy() > 0.3


def image_drawer(folder: Path):
    width, height = 8, 6
    conf = (NeuralNetConfiguration.Builder()
            .seed(2345)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.01, 0.9))
            .list()
            .layer(DenseLayer.Builder().nIn(2).nOut(16).activation(Activation.RELU).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.L2).nOut(3).activation(Activation.IDENTITY).build())
            .build())
    nn = MultiLayerNetwork(conf)
    nn.init()
    xy = Nd4j.zeros(width * height, 2)
    for i in range(width):
        for j in range(height):
            xy.putScalar([i + width * j, 0], i / width - 0.5)
            xy.putScalar([i + width * j, 1], j / height - 0.5)
    origin = Nd4j.hstack(xy.getColumn(0, True), xy.getColumn(1, True), xy.getColumn(0, True).mul(-1)).add(0.5)
    ds = DataSet(xy, origin)
    before = nn.score(ds)
    batches = ds.batchBy(12)
    for _ in range(10):
        for batch in batches:
            nn.fit(batch)
    out = nn.output(xy)
    red = int(max(0, min(255, out.getDouble(0, 0) * 255)))
    assert nn.score(ds) < before and 0 <= red <= 255


def text_convolution(folder: Path):
    vectorSize, cnnLayerFeatureMaps, words = 8, 4, 12
    config = (NeuralNetConfiguration.Builder()
              .weightInit(WeightInit.RELU)
              .activation(Activation.LEAKYRELU)
              .updater(Adam(0.01))
              .convolutionMode(ConvolutionMode.Same)
              .l2(0.0001)
              .graphBuilder()
              .addInputs("input")
              .addLayer("cnn3", ConvolutionLayer.Builder().kernelSize(3, vectorSize).stride(1, vectorSize)
                        .nOut(cnnLayerFeatureMaps).build(), "input")
              .addLayer("cnn4", ConvolutionLayer.Builder().kernelSize(4, vectorSize).stride(1, vectorSize)
                        .nOut(cnnLayerFeatureMaps).build(), "input")
              .addVertex("merge", MergeVertex(), "cnn3", "cnn4")
              .addLayer("globalPool", GlobalPoolingLayer.Builder().poolingType(PoolingType.MAX).dropOut(0.5).build(), "merge")
              .addLayer("out", OutputLayer.Builder().lossFunction(LossFunctions.LossFunction.MCXENT).activation(Activation.SOFTMAX)
                        .nOut(2).build(), "globalPool")
              .setOutputs("out")
              .setInputTypes(InputType.convolutional(words, vectorSize, 1))
              .build())
    net = ComputationGraph(config)
    net.init()
    print("Number of parameters by layer:")
    for layer in net.getLayers():
        print("\t" + layer.conf().getLayer().getLayerName() + "\t" + str(layer.numParams()))
    features = Nd4j.randn(DataType.FLOAT, 6, 1, words, vectorSize)
    mask = Nd4j.ones(6, 1, words, 1)
    mask.get(NDArrayIndex.point(0), NDArrayIndex.all(), NDArrayIndex.interval(7, words), NDArrayIndex.all()).assign(0)
    features.get(NDArrayIndex.point(0), NDArrayIndex.all(), NDArrayIndex.interval(9, words), NDArrayIndex.all()).muli(20)
    labels = Nd4j.zeros(6, 2)
    for i in range(6):
        labels.putScalar([i, i % 2], 1.0)
    data = DataSet(features, labels, mask, None)
    net.setListeners(ScoreIterationListener(100))
    for _ in range(3):
        net.fit(data)
    predictions = net.outputSingle(features)
    net.setLayerMaskArrays([mask], None)
    masked = net.outputSingle(features)
    net.clearLayerMaskArrays()
    assert predictions.shape() == (6, 2) and not masked.getRow(0).equalsWithEps(predictions.getRow(0), 1e-7)
    assert masked.getRow(1).equalsWithEps(predictions.getRow(1), 1e-6)


class MultiRecordDataSetIterator(MultiDataSetIterator):
    """Pictures of texts, and the letters at each of their places."""

    def __init__(self, batchSize, numBatches):
        self.batchSize, self.numBatches = batchSize, numBatches
        self.batchNum = 0
        self.preProcessor = None

    def next(self, num=None):
        self.batchNum += 1
        n = num or self.batchSize
        pictures = Nd4j.rand(n, 1, 10, 16)
        labels = [Nd4j.zeros(n, 4) for _ in range(3)]
        for i in range(n):
            for place, array in enumerate(labels):
                letter = (i + place) % 4
                array.putScalar([i, letter], 1)
                pictures.get(NDArrayIndex.point(i), NDArrayIndex.point(0), NDArrayIndex.point(letter), NDArrayIndex.all()).addi(place + 1)
        data = MultiDataSet([pictures], labels)
        if self.preProcessor is not None:
            self.preProcessor.preProcess(data)
        return data

    def setPreProcessor(self, preProcessor):
        self.preProcessor = preProcessor

    def getPreProcessor(self):
        return self.preProcessor

    def resetSupported(self):
        return True

    def asyncSupported(self):
        return True

    def reset(self):
        self.batchNum = 0

    def hasNext(self):
        return self.batchNum < self.numBatches


def captcha(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .gradientNormalization(GradientNormalization.RenormalizeL2PerLayer)
            .l2(1e-3)
            .updater(Adam(1e-3))
            .weightInit(WeightInit.XAVIER_UNIFORM)
            .graphBuilder()
            .addInputs("trainFeatures")
            .setInputTypes(InputType.convolutional(10, 16, 1))
            .setOutputs("out1", "out2", "out3")
            .addLayer("cnn1", ConvolutionLayer.Builder([3, 3], [1, 1], [0, 0]).nOut(4).activation(Activation.RELU).build(), "trainFeatures")
            .addLayer("maxpool1", SubsamplingLayer.Builder(PoolingType.MAX, [2, 2], [2, 2], [0, 0]).build(), "cnn1")
            .addLayer("ffn0", DenseLayer.Builder().nOut(16).build(), "maxpool1")
            .addLayer("ffn1", DropoutLayer.Builder().dropOut(0.8).build(), "ffn0"))
    for place in ("out1", "out2", "out3"):
        conf.addLayer(place, OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                      .nOut(4).activation(Activation.SOFTMAX).build(), "ffn1")
    model = ComputationGraph(conf.build())
    model.init()
    print(model.summary(InputType.convolutional(10, 16, 1)))
    model.setListeners(ScoreIterationListener(10), CheckpointListener.Builder(str(folder)).keepLast(1).saveEveryNEpochs(1).build())
    trainMulIterator = MultiRecordDataSetIterator(8, 3)
    model.fit(trainMulIterator, 2)
    ModelSerializer.writeModel(model, str(folder / "captcha.zip"), True)
    sumCount = 0
    testMulIterator = MultiRecordDataSetIterator(4, 2)
    while testMulIterator.hasNext():
        mds = testMulIterator.next()
        output = model.output(mds.getFeatures())
        labels = mds.getLabels()
        for dataIndex in range(mds.getFeatures(0).size(0)):
            reLabel = "".join(str(Nd4j.argMax(digit.getRow(dataIndex)).getInt(0)) for digit in labels)
            peLabel = "".join(str(output[d].getRow(dataIndex).argMax().getInt(0)) for d in range(3))
            sumCount += reLabel == peLabel
    assert 0 <= sumCount <= 8 and CheckpointListener.loadCheckpointCG(folder, CheckpointListener.lastCheckpoint(folder).getCheckpointNum())


def image_pipeline(folder: Path):
    allowedExtensions = BaseImageLoader.ALLOWED_FORMATS
    randNumGen = JavaRandom(12345)
    filesInDir = FileSplit(folder / "mnist_png" / "training", allowedExtensions, randNumGen)
    labelMaker = ParentPathLabelGenerator()
    pathFilter = BalancedPathFilter(randNumGen, allowedExtensions, labelMaker)
    trainData, testData = filesInDir.sample(pathFilter, 80, 20)
    recordReader = ImageRecordReader(14, 14, 1, labelMaker)
    transform = PipelineImageTransform([Pair(FlipImageTransform(randNumGen), 0.5), Pair(WarpImageTransform(randNumGen, 2), 0.3)], False)
    recordReader.initialize(trainData, transform)
    outputNum = recordReader.numLabels()
    dataIter = RecordReaderDataSetIterator(recordReader, 10, 1, outputNum)
    scaler = ImagePreProcessingScaler(0, 1)
    scaler.fit(dataIter)
    dataIter.setPreProcessor(scaler)
    shown = 0
    while dataIter.hasNext():
        ds = dataIter.next()
        assert ds.getFeatures().rank() == 4 and ds.getFeatures().maxNumber().doubleValue() <= 1
        shown += ds.numExamples()
    assert shown > 20 and len(recordReader.getLabels()) == outputNum and testData.length() > 0
    dataIter.reset()
    saved = folder / "saved"
    saved.mkdir()
    counter = 0
    while dataIter.hasNext():
        dataIter.next().save(saved / f"dataset-{counter}.bin")
        counter += 1
    loaded = DataSet()
    loaded.load(saved / "dataset-0.bin")
    assert counter > 1 and loaded.getLabels().size(1) == outputNum


def video_frames(folder: Path):
    WIDTH = HEIGHT = 6
    frames = 8
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345)
            .l2(0.001)
            .updater(AdaGrad(0.04))
            .list()
            .layer(ConvolutionLayer.Builder(3, 3).nIn(3).nOut(4).stride(2, 2).activation(Activation.RELU)
                   .weightInit(WeightInit.RELU).build())
            .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(1, 1).build())
            .layer(DenseLayer.Builder().activation(Activation.RELU).nIn(4).nOut(5).weightInit(WeightInit.RELU).updater(AdaGrad(0.01))
                   .gradientNormalization(GradientNormalization.ClipElementWiseAbsoluteValue).gradientNormalizationThreshold(10).build())
            .layer(LSTM.Builder().activation(Activation.SOFTSIGN).nIn(5).nOut(5).weightInit(WeightInit.XAVIER).updater(AdaGrad(0.008)).build())
            .layer(RnnOutputLayer.Builder(LossFunctions.LossFunction.MCXENT).activation(Activation.SOFTMAX).nIn(5).nOut(4).build())
            .inputPreProcessor(0, RnnToCnnPreProcessor(HEIGHT, WIDTH, 3))
            .inputPreProcessor(2, CnnToFeedForwardPreProcessor(1, 1, 4))
            .inputPreProcessor(3, FeedForwardToRnnPreProcessor())
            .backpropType(BackpropType.TruncatedBPTT)
            .tBPTTForwardLength(frames // 2)
            .tBPTTBackwardLength(frames // 2)
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(1))
    for i in range(net.getnLayers()):
        print("Layer", i, "nParams", net.getLayer(i).numParams())
    features = Nd4j.rand(2, 3 * HEIGHT * WIDTH, frames)
    labels = Nd4j.zeros(2, 4, frames)
    for t in range(frames):
        labels.putScalar([0, t % 4, t], 1)
        labels.putScalar([1, 0, t], 1)
    labelsMask = Nd4j.ones(2, frames)
    labelsMask.putScalar(1, 3, 0.0)
    ds = DataSet(features, labels, Nd4j.ones(2, frames), labelsMask)
    net.fit(ds)
    assert net.getIterationCount() == 2
    evaluation = Evaluation(4)
    predicted = net.output(ds.getFeatures(), False)
    evaluation.evalTimeSeries(ds.getLabels(), predicted, ds.getLabelsMaskArray())
    print(evaluation.stats())
    assert evaluation.getNumRowCounter() == 15


def edit_at_bottleneck(folder: Path):
    pretrained = ComputationGraph(NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).activation(Activation.RELU).graphBuilder()
                                  .addInputs("in").setInputTypes(InputType.convolutional(8, 8, 1))
                                  .addLayer("block5_pool", ConvolutionLayer.Builder(3, 3).nOut(3).build(), "in")
                                  .addLayer("fc1", DenseLayer.Builder().nOut(6).build(), "block5_pool")
                                  .addLayer("fc2", DenseLayer.Builder().nOut(6).build(), "fc1")
                                  .addLayer("predictions", OutputLayer.Builder().nOut(10).activation(Activation.SOFTMAX).build(), "fc2")
                                  .setOutputs("predictions").build())
    pretrained.init()
    fineTuneConf = (FineTuneConfiguration.Builder()
                    .activation(Activation.LEAKYRELU).weightInit(WeightInit.RELU).updater(Nesterovs(5e-5)).dropOut(0.5).seed(12).build())
    transfer = (TransferLearning.GraphBuilder(pretrained)
                .fineTuneConfiguration(fineTuneConf)
                .setFeatureExtractor("block5_pool")
                .nOutReplace("fc2", 7, WeightInit.XAVIER)
                .removeVertexAndConnections("predictions")
                .addLayer("fc3", DenseLayer.Builder().activation(Activation.TANH).nIn(7).nOut(5).build(), "fc2")
                .addLayer("newpredictions", OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                          .activation(Activation.SOFTMAX).nIn(5).nOut(3).build(), "fc3")
                .setOutputs("newpredictions")
                .build())
    print(transfer.summary())
    before = transfer.getLayer("block5_pool").params().dup()
    fc1 = transfer.getLayer("fc1").getParam("W").dup()
    helper = TransferLearningHelper(transfer)
    labels = Nd4j.eye(3)
    data = MultiDataSet([Nd4j.rand(3, 1, 8, 8)], [labels])
    helper.fitFeaturized(helper.featurize(data))
    for _ in range(2):
        transfer.fit(DataSet(Nd4j.rand(3, 1, 8, 8), labels))
    assert transfer.getLayer("block5_pool").params().equals(before) and not transfer.getLayer("fc1").getParam("W").equals(fc1)
    assert transfer.outputSingle(Nd4j.rand(2, 1, 8, 8)).shape() == (2, 3)


def ui_storage(folder: Path):
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).updater(Adam(1e-3)).list()
                            .layer(DenseLayer.Builder().nIn(4).nOut(5).activation(Activation.TANH).build())
                            .layer(OutputLayer.Builder().nOut(3).activation(Activation.SOFTMAX).build()).build())
    net.init()
    statsStorage = FileStatsStorage(folder / "ui-stats.dl4j")
    listenerFrequency = 1
    net.setListeners(StatsListener(statsStorage, listenerFrequency), PerformanceListener(100))
    reader = CSVRecordReader()
    reader.initialize(FileSplit(folder / "iris.txt"))
    net.fit(RecordReaderDataSetIterator(reader, 50, 4, 3), 2)
    statsStorage.close()
    again = FileStatsStorage(folder / "ui-stats.dl4j")
    assert len(again.listSessionIDs()) == 1
    uiServer = UIServer.getInstance()
    uiServer.attach(again)
    assert uiServer.isAttached(again)
    uiServer.stop()


ALL_LAYERS = ["conv1", "conv2", "pool1", "conv3"]


def style_transfer(folder: Path):
    conf = (
        NeuralNetConfiguration.Builder().seed(1).activation(Activation.RELU).convolutionMode(ConvolutionMode.Same)
        .graphBuilder().addInputs("input").setInputTypes(InputType.convolutional(8, 8, 3))
        .addLayer("conv1", ConvolutionLayer.Builder(3, 3).nOut(4).build(), "input")
        .addLayer("conv2", ConvolutionLayer.Builder(3, 3).nOut(4).build(), "conv1")
        .addLayer("pool1", SubsamplingLayer.Builder(PoolingType.MAX, [2, 2], [2, 2]).build(), "conv2")
        .addLayer("conv3", ConvolutionLayer.Builder(3, 3).nOut(3).build(), "pool1")
        .setOutputs("conv3").build())
    vgg16FineTune = ComputationGraph(conf)
    vgg16FineTune.init()
    contentImage, styleImage = Nd4j.rand(1, 3, 8, 8), Nd4j.rand(1, 3, 8, 8)
    combination = Nd4j.rand(1, 3, 8, 8)
    activationsContentMap = vgg16FineTune.feedForward(contentImage, True)
    activationsStyleMap = vgg16FineTune.feedForward(styleImage, True)
    styleGram = gramMatrix(activationsStyleMap.get("conv2").dup())
    adamUpdater = Adam(0.1).instantiate(Nd4j.create(1, 2 * 3 * 8 * 8), True)
    losses = []
    for itr in range(8):
        activationsCombMap = vgg16FineTune.feedForward([combination], True, False)
        contentDerivative = activationsCombMap.get("conv3").sub(activationsContentMap.get("conv3"))
        difference = gramMatrix(activationsCombMap.get("conv2")).sub(styleGram)
        losses.append(contentDerivative.norm2Number().doubleValue() + difference.norm2Number().doubleValue())
        styleDerivative = difference.mmul(activationsCombMap.get("conv2").reshape(4, 64)).muli(1 / 64).reshape(1, 4, 8, 8)
        contentBackProb = backPropagate(vgg16FineTune, contentDerivative, 3)
        styleBackProb = backPropagate(vgg16FineTune, styleDerivative, 1)
        backPropAllValues = contentBackProb.muli(1.0).addi(styleBackProb.muli(1.0))
        adamUpdater.applyUpdater(backPropAllValues, itr, 0)
        combination.subi(backPropAllValues)
    assert losses[-1] < losses[0]


def gramMatrix(activation):
    flattened = activation.reshape(activation.size(1), -1)
    return flattened.mmul(flattened.transpose()).div(flattened.size(1))


def backPropagate(graph, dLdANext, startFrom):
    for i in range(startFrom, -1, -1):
        layer = graph.getLayer(ALL_LAYERS[i])
        dLdANext = layer.backpropGradient(dLdANext, LayerWorkspaceMgr.noWorkspaces()).getSecond()
    return dLdANext
