"""Programs about what is done with networks: stopping early, saving, watching, serving, transferring."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    Adam,
    ComputationGraph,
    ConvolutionLayer,
    DataSet,
    DataSetIterator,
    DataSetLossCalculator,
    DenseLayer,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    ExistingMiniBatchDataSetIterator,
    FileStatsStorage,
    FineTuneConfiguration,
    InferenceMode,
    InputType,
    ListDataSetIterator,
    LocalFileModelSaver,
    LossFunctions,
    MaxEpochsTerminationCondition,
    MaxTimeIterationTerminationCondition,
    MnistDataSetIterator,
    MultiLayerNetwork,
    Nd4j,
    Nesterovs,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    ParallelInference,
    ScoreImprovementEpochTerminationCondition,
    StatsListener,
    SubsamplingLayer,
    TimeUnit,
    TransferLearning,
    TransferLearningHelper,
    UIServer,
    WeightInit,
)


def early_stopping(folder: Path):
    nChannels, outputNum, batchSize, seed = 1, 10, 25, 123
    configuration = (NeuralNetConfiguration.Builder()
                     .seed(seed)
                     .l2(0.0005)
                     .weightInit(WeightInit.XAVIER)
                     .activation(Activation.RELU)
                     .updater(Nesterovs(0.02, 0.9))
                     .list()
                     .layer(ConvolutionLayer.Builder(5, 5).nIn(nChannels).stride(1, 1).nOut(4).dropOut(0.5).build())
                     .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
                     .layer(DenseLayer.Builder().nOut(20).build())
                     .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).nOut(outputNum)
                            .activation(Activation.SOFTMAX).build())
                     .setInputType(InputType.convolutionalFlat(28, 28, 1))
                     .build())
    mnistTrain1024 = MnistDataSetIterator(batchSize, 100, False, True, True, 12345)
    mnistTest512 = MnistDataSetIterator(batchSize, 50, False, False, True, 12345)
    exampleDirectory = folder / "DL4JEarlyStoppingExample"
    exampleDirectory.mkdir()
    saver = LocalFileModelSaver(str(exampleDirectory))
    esConf = (EarlyStoppingConfiguration.Builder()
              .epochTerminationConditions(MaxEpochsTerminationCondition(3), ScoreImprovementEpochTerminationCondition(8))
              .evaluateEveryNEpochs(1)
              .iterationTerminationConditions(MaxTimeIterationTerminationCondition(20, TimeUnit.MINUTES))
              .scoreCalculator(DataSetLossCalculator(mnistTest512, True))
              .modelSaver(saver)
              .build())
    trainer = EarlyStoppingTrainer(esConf, configuration, mnistTrain1024)
    result = trainer.fit()
    print("Termination reason:", result.getTerminationReason(), result.getTerminationDetails())
    print("Best epoch:", result.getBestModelEpoch(), result.getBestModelScore())
    scoreVsEpoch = result.getScoreVsEpoch()
    assert sorted(scoreVsEpoch) == [0, 1, 2] and result.getTotalEpochs() == 3
    assert result.getBestModel().getnLayers() == 4


def _dense_network(graph=False):
    builder = NeuralNetConfiguration.Builder().weightInit(WeightInit.XAVIER).updater(Nesterovs(0.1, 0.9))
    hidden = DenseLayer.Builder().nIn(4).nOut(3).activation(Activation.TANH).build()
    last = (OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).activation(Activation.SOFTMAX)
            .nIn(3).nOut(3).build())
    if graph:
        return (builder.graphBuilder().addInputs("in").addLayer("layer0", hidden, "in").addLayer("layer1", last, "layer0")
                .setOutputs("layer1").build())
    return builder.list().layer(hidden).layer(last).build()


def save_and_load(folder: Path):
    net = MultiLayerNetwork(_dense_network())
    net.init()
    locationToSave = folder / "MyMultiLayerNetwork.zip"
    saveUpdater = True
    net.save(locationToSave, saveUpdater)
    restored = MultiLayerNetwork.load(locationToSave, saveUpdater)
    assert net.params().equals(restored.params())
    assert net.getLayerWiseConfigurations().equals(restored.getLayerWiseConfigurations())

    graph = ComputationGraph(_dense_network(graph=True))
    graph.init()
    locationToSave = folder / "MyComputationGraph.zip"
    graph.save(locationToSave, saveUpdater)
    restored = ComputationGraph.load(locationToSave, saveUpdater)
    assert graph.params().equals(restored.params())
    assert graph.getConfiguration().equals(restored.getConfiguration())


def user_interface(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .l2(0.0005)
            .weightInit(WeightInit.XAVIER)
            .updater(Adam(0.001))
            .list()
            .layer(ConvolutionLayer.Builder(5, 5).nIn(1).stride(1, 1).nOut(4).activation(Activation.LEAKYRELU).build())
            .layer(SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build())
            .layer(DenseLayer.Builder().activation(Activation.LEAKYRELU).nOut(20).build())
            .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).nOut(10)
                   .activation(Activation.SOFTMAX).build())
            .setInputType(InputType.convolutionalFlat(28, 28, 1))
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    trainData = MnistDataSetIterator(64, True, 12345)
    statsStorage = FileStatsStorage(folder / "ui-stats.dl4j")
    listenerFrequency = 1
    net.setListeners(StatsListener(statsStorage, listenerFrequency))
    assert callable(UIServer.getInstance) and callable(UIServer.attach)        # a test of its own has the page
    net.fit(trainData)
    assert len(statsStorage.records()) == 4


def parallel_inference(folder: Path):
    MultiLayerNetwork(_dense_network()).init().save(folder / "served.zip")
    model = MultiLayerNetwork.load(folder / "served.zip", False)
    pi = (ParallelInference.Builder(model)
          .inferenceMode(InferenceMode.BATCHED)
          .batchLimit(32)
          .workers(2)
          .build())
    result = pi.output([[0.1, 0.1, 0.1, 0.2]])
    print(result)
    result = pi.output(Nd4j.create([[0.1, 0.1, 0.1, 0.2]]))
    assert abs(result.sumNumber() - 1) < 1e-5
    pi.shutdown()


class FlowerDataSetIterator(DataSetIterator):
    """Stands for the pictures that the program downloads."""

    def __init__(self, batches):
        self.batches, self.at = batches, 0

    def hasNext(self):
        return self.at < len(self.batches)

    def next(self, num=None):
        self.at += 1
        return self.batches[self.at - 1]

    def reset(self):
        self.at = 0


def edit_last_layer(folder: Path):
    numClasses, featureExtractionLayer = 5, "fc2"
    vgg16 = ComputationGraph(NeuralNetConfiguration.Builder().seed(3).updater(Nesterovs(0.01)).graphBuilder()
                             .addInputs("in")
                             .addLayer("fc1", DenseLayer.Builder().nIn(6).nOut(8).activation(Activation.RELU).build(), "in")
                             .addLayer("fc2", DenseLayer.Builder().nIn(8).nOut(8).activation(Activation.RELU).build(), "fc1")
                             .addLayer("predictions", OutputLayer.Builder().nIn(8).nOut(10).activation(Activation.SOFTMAX).build(), "fc2")
                             .setOutputs("predictions").build())
    vgg16.init()
    Nd4j.getRandom().setSeed(4)
    batches = []
    for _i in range(4):
        x = Nd4j.rand(8, 6)
        batches.append(DataSet(x, Nd4j.vstack([Nd4j.eye(5).getRow(i % 5, True) for i in range(8)])))
    trainIter = FlowerDataSetIterator(batches)
    testIter = FlowerDataSetIterator(batches[:2])

    fineTuneConf = FineTuneConfiguration.Builder().updater(Nesterovs(0.1)).seed(12345).build()
    vgg16Transfer = (TransferLearning.GraphBuilder(vgg16)
                     .fineTuneConfiguration(fineTuneConf)
                     .setFeatureExtractor(featureExtractionLayer)
                     .removeVertexKeepConnections("predictions")
                     .addLayer("predictions", OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD)
                               .nIn(8).nOut(numClasses)
                               .weightInit(NormalDistribution(0, 0.2 * (2.0 / (8 + numClasses))))
                               .activation(Activation.SOFTMAX).build(), "fc2")
                     .build())
    print(vgg16Transfer.summary())
    frozen = vgg16Transfer.getParam("fc1_W").dup()
    eval = vgg16Transfer.evaluate(testIter)
    testIter.reset()
    while trainIter.hasNext():
        vgg16Transfer.fit(trainIter.next())
    eval = vgg16Transfer.evaluate(testIter)
    testIter.reset()
    print(eval.stats())
    assert vgg16Transfer.getParam("fc1_W").equals(frozen)

    transferLearningHelper = TransferLearningHelper(vgg16, featureExtractionLayer)      # FeaturizedPreSave
    trainIter.reset()
    trainFolder = folder / "trainFolder"
    trainFolder.mkdir()
    saved = 0
    while trainIter.hasNext():
        currentFeaturized = transferLearningHelper.featurize(trainIter.next())
        currentFeaturized.save(trainFolder / f"flowers-{featureExtractionLayer}-train-{saved}.bin")
        saved += 1

    featurized = ExistingMiniBatchDataSetIterator(trainFolder, "flowers-fc2-train-%d.bin")        # FitFromFeaturized
    helper = TransferLearningHelper(vgg16Transfer)
    before = helper.unfrozenGraph().score(featurized.next())
    featurized.reset()
    for _epoch in range(3):
        while featurized.hasNext():
            helper.fitFeaturized(featurized.next())
        featurized.reset()
    assert helper.unfrozenGraph().score(ListDataSetIterator([featurized.next()], 8).next()) < before
