"""Programs with convolutions, and their data in pictures and idx files."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    ActivationLayer,
    Adam,
    BatchNormalization,
    CenterLossOutputLayer,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    ConvolutionLayer,
    ConvolutionMode,
    DenseLayer,
    ElementWiseVertex,
    Evaluation,
    FileSplit,
    ImagePreProcessingScaler,
    ImageRecordReader,
    InputType,
    JavaRandom,
    LossFunctions,
    MapSchedule,
    MnistDataSetIterator,
    ModelSerializer,
    MultiLayerNetwork,
    NativeImageLoader,
    Nd4j,
    Nesterovs,
    NeuralNetConfiguration,
    OutputLayer,
    Pair,
    ParallelWrapper,
    ParentPathLabelGenerator,
    RecordReaderDataSetIterator,
    ScheduleType,
    ScoreIterationListener,
    Sgd,
    SubsamplingLayer,
    WeightInit,
)


def center_loss(folder: Path):
    outputNum, batchSize, nEpochs, seed, lambda_, alpha = 10, 64, 1, 123, 1.0, 0.1
    mnistTrain = MnistDataSetIterator(batchSize, True, 12345)
    mnistTest = MnistDataSetIterator(10000, False, 12345)
    conf = (NeuralNetConfiguration.Builder()
            .seed(seed)
            .l2(0.0005)
            .activation(Activation.LEAKYRELU)
            .weightInit(WeightInit.RELU)
            .updater(Adam(0.01))
            .list()
            .layer(ConvolutionLayer.Builder(5, 5).stride(1, 1).nOut(4).activation(Activation.LEAKYRELU).build())
            .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
            .layer(DenseLayer.Builder().nOut(16).build())
            .layer(DenseLayer.Builder().activation(Activation.IDENTITY).weightInit(WeightInit.XAVIER).nOut(2).l2(0.1).build())
            .layer(CenterLossOutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                   .nIn(2).nOut(outputNum)
                   .weightInit(WeightInit.XAVIER).activation(Activation.SOFTMAX)
                   .alpha(alpha).lambda_(lambda_)
                   .build())
            .setInputType(InputType.convolutionalFlat(28, 28, 1))
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    model.setListeners(ScoreIterationListener(100))
    embeddingByEpoch = []
    testData = mnistTest.next()
    for _i in range(nEpochs):
        model.fit(mnistTrain)
        embedding = model.feedForwardToLayer(3, testData.getFeatures())[4]
        embeddingByEpoch.append(Pair(embedding, testData.getLabels()))
    embedding = embeddingByEpoch[0].getFirst()
    assert embedding.rows() == embeddingByEpoch[0].getSecond().rows() == 64 and embedding.columns() == 2
    assert embedding.maxNumber() > embedding.minNumber()


def lenet_on_png_files(folder: Path):
    height, width, channels, outputNum, batchSize, nEpochs, seed = 28, 28, 1, 10, 54, 1, 1234
    randNumGen = JavaRandom(seed)
    trainData = folder / "mnist_png" / "training"
    trainSplit = FileSplit(trainData, NativeImageLoader.ALLOWED_FORMATS, randNumGen)
    labelMaker = ParentPathLabelGenerator()
    trainRR = ImageRecordReader(height, width, channels, labelMaker)
    trainRR.initialize(trainSplit)
    trainIter = RecordReaderDataSetIterator(trainRR, batchSize, 1, outputNum)
    imageScaler = ImagePreProcessingScaler()
    imageScaler.fit(trainIter)
    trainIter.setPreProcessor(imageScaler)

    testSplit = FileSplit(folder / "mnist_png" / "testing", NativeImageLoader.ALLOWED_FORMATS, randNumGen)
    testRR = ImageRecordReader(height, width, channels, labelMaker)
    testRR.initialize(testSplit)
    testIter = RecordReaderDataSetIterator(testRR, batchSize, 1, outputNum)
    testIter.setPreProcessor(imageScaler)

    learningRateSchedule = {}
    learningRateSchedule[0] = 0.06
    learningRateSchedule[200] = 0.05
    learningRateSchedule[600] = 0.028
    conf = (NeuralNetConfiguration.Builder()
            .seed(seed)
            .l2(0.0005)
            .updater(Nesterovs(MapSchedule(ScheduleType.ITERATION, learningRateSchedule)))
            .weightInit(WeightInit.XAVIER)
            .list()
            .layer(ConvolutionLayer.Builder(5, 5).nIn(channels).stride(1, 1).nOut(4).activation(Activation.IDENTITY).build())
            .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
            .layer(ConvolutionLayer.Builder(5, 5).stride(1, 1).nOut(6).activation(Activation.IDENTITY).build())
            .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
            .layer(DenseLayer.Builder().activation(Activation.RELU).nOut(20).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                   .nOut(outputNum).activation(Activation.SOFTMAX).build())
            .setInputType(InputType.convolutionalFlat(height, width, channels))
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(10))
    print("Total num of params:", net.numParams())
    for i in range(nEpochs):
        net.fit(trainIter)
        print("Completed epoch", i)
        eval = net.evaluate(testIter)
        print(eval.stats())
        trainIter.reset()
        testIter.reset()
    ministModelPath = folder / "minist-model.zip"
    ModelSerializer.writeModel(net, ministModelPath, True)
    model = ModelSerializer.restoreMultiLayerNetwork(ministModelPath)
    assert model.params().equals(net.params()) and eval.getNumRowCounter() == 40

    loader = NativeImageLoader(height, width, channels)       # one picture, as the program on the drawing board reads it
    image = loader.asMatrix(next((folder / "mnist_png" / "testing").glob("*/*.png")))
    imageScaler.transform(image)
    assert 0.5 < image.maxNumber() <= 1
    assert 0 <= model.output(image).argMax(1).getInt(0) < 10


def mnist_on_several_workers(folder: Path):
    nChannels, outputNum, batchSize, nEpochs, seed = 1, 10, 16, 3, 123
    mnistTrain = MnistDataSetIterator(batchSize, True, 12345)
    mnistTest = MnistDataSetIterator(batchSize, False, 12345)
    conf = (NeuralNetConfiguration.Builder()
            .seed(seed)
            .l2(0.0005)
            .weightInit(WeightInit.XAVIER)
            .updater(Nesterovs(0.01, 0.9))
            .list()
            .layer(0, ConvolutionLayer.Builder(5, 5).nIn(nChannels).stride(1, 1).nOut(4).activation(Activation.IDENTITY).build())
            .layer(1, SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
            .layer(2, DenseLayer.Builder().activation(Activation.RELU).nOut(20).build())
            .layer(3, OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                   .nOut(outputNum).activation(Activation.SOFTMAX).build())
            .setInputType(InputType.convolutionalFlat(28, 28, 1))
            .build())
    model = MultiLayerNetwork(conf)
    model.init()
    wrapper = (ParallelWrapper.Builder(model)
               .prefetchBuffer(24)
               .workers(2)
               .averagingFrequency(3)
               .reportScoreAfterAveraging(True)
               .build())
    model.setListeners(ScoreIterationListener(100))
    for _i in range(nEpochs):
        wrapper.fit(mnistTrain)
    eval = Evaluation(outputNum)
    while mnistTest.hasNext():
        ds = mnistTest.next()
        output = model.output(ds.getFeatures(), False)
        eval.eval(ds.getLabels(), output)
    print(eval.stats())
    mnistTest.reset()
    assert eval.accuracy() > 0.2
    wrapper.close()


class DL4JAlphaGoZeroBuilder:
    def __init__(self, kernel=(3, 3), strides=(1, 1), mode=ConvolutionMode.Same, size=5, width=4):
        self.kernelSize, self.strides, self.convolutionMode, self.size, self.width = kernel, strides, mode, size, width
        self.conf = (NeuralNetConfiguration.Builder()
                     .updater(Sgd())
                     .weightInit(WeightInit.LECUN_NORMAL)
                     .graphBuilder().setInputTypes(InputType.convolutional(size, size, 3)))

    def addInputs(self, name):
        self.conf.addInputs(name)

    def addOutputs(self, *names):
        self.conf.setOutputs(*names)

    def buildAndReturn(self):
        return self.conf.build()

    def addConvBatchNormBlock(self, blockName, inName, nIn, useActivation):
        convName, bnName, actName = "conv_" + blockName, "batch_norm_" + blockName, "relu_" + blockName
        self.conf.addLayer(convName, ConvolutionLayer.Builder().kernelSize(self.kernelSize).stride(self.strides)
                           .convolutionMode(self.convolutionMode).nIn(nIn).nOut(self.width).build(), inName)
        self.conf.addLayer(bnName, BatchNormalization.Builder().nOut(self.width).build(), convName)
        if useActivation:
            self.conf.addLayer(actName, ActivationLayer.Builder().activation(Activation.RELU).build(), bnName)
            return actName
        return bnName

    def addResidualBlock(self, blockNumber, inName):
        firstBlock, firstOut = f"residual_1_{blockNumber}", f"relu_residual_1_{blockNumber}"
        secondBlock, mergeBlock, actBlock = f"residual_2_{blockNumber}", f"add_{blockNumber}", f"relu_{blockNumber}"
        firstBnOut = self.addConvBatchNormBlock(firstBlock, inName, self.width, True)
        secondBnOut = self.addConvBatchNormBlock(secondBlock, firstOut, self.width, False)
        self.conf.addVertex(mergeBlock, ElementWiseVertex(ElementWiseVertex.Op.Add), firstBnOut, secondBnOut)
        self.conf.addLayer(actBlock, ActivationLayer.Builder().activation(Activation.RELU).build(), mergeBlock)
        return actBlock

    def addResidualTower(self, numBlocks, inName):
        name = inName
        for i in range(numBlocks):
            name = self.addResidualBlock(i, name)
        return name

    def _head(self, kind, inName, filters):
        self.conf.addLayer(f"{kind}_head_conv_", ConvolutionLayer.Builder().kernelSize(self.kernelSize).stride(self.strides)
                           .convolutionMode(self.convolutionMode).nOut(filters).nIn(self.width).build(), inName)
        self.conf.addLayer(f"{kind}_head_batch_norm_", BatchNormalization.Builder().nOut(filters).build(), f"{kind}_head_conv_")
        self.conf.addLayer(f"{kind}_head_relu_", ActivationLayer.Builder().activation(Activation.RELU).build(), f"{kind}_head_batch_norm_")
        return f"{kind}_head_relu_"

    def addPolicyHead(self, inName):
        cells = self.size * self.size
        denseName, actName = "policy_head_output_", self._head("policy", inName, 2)
        self.conf.addLayer(denseName, OutputLayer.Builder().nIn(2 * cells).nOut(cells + 1).build(), actName)
        preProcessorMap = {}
        preProcessorMap[denseName] = CnnToFeedForwardPreProcessor(self.size, self.size, 2)
        self.conf.setInputPreProcessors(preProcessorMap)
        return denseName

    def addValueHead(self, inName):
        cells = self.size * self.size
        denseName, outputName, actName = "value_head_dense_", "value_head_output_", self._head("value", inName, 1)
        self.conf.addLayer(denseName, DenseLayer.Builder().nIn(cells).nOut(8).build(), actName)
        preProcessorMap = {}
        preProcessorMap[denseName] = CnnToFeedForwardPreProcessor(self.size, self.size, 1)
        self.conf.setInputPreProcessors(preProcessorMap)
        self.conf.addLayer(outputName, OutputLayer.Builder(LossFunctions.LossFunction.XENT).activation(Activation.SIGMOID)
                           .nIn(8).nOut(1).build(), denseName)
        return outputName


def alpha_go_zero(folder: Path):
    miniBatchSize, boardSize, numResidualBlocks, numFeaturePlanes = 4, 5, 1, 3
    builder = DL4JAlphaGoZeroBuilder()
    builder.addInputs("in")
    convOut = builder.addConvBatchNormBlock("init", "in", numFeaturePlanes, True)
    towerOut = builder.addResidualTower(numResidualBlocks, convOut)
    policyOut = builder.addPolicyHead(towerOut)
    valueOut = builder.addValueHead(towerOut)
    builder.addOutputs(policyOut, valueOut)
    model = ComputationGraph(builder.buildAndReturn())
    model.init()
    print(model.summary())
    input = Nd4j.create(miniBatchSize, numFeaturePlanes, boardSize, boardSize)
    policyOutput = Nd4j.create(miniBatchSize, boardSize * boardSize + 1)
    valueOutput = Nd4j.create(miniBatchSize, 1)
    model.fit([input], [policyOutput, valueOutput])
    assert model.output(input)[1].shape() == (4, 1) and model.getIterationCount() == 1
