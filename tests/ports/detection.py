"""Programs that find objects in pictures."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    Adam,
    ComputationGraph,
    ConvolutionLayer,
    ConvolutionMode,
    FileSplit,
    GradientNormalization,
    ImagePreProcessingScaler,
    InputType,
    JavaRandom,
    NativeImageLoader,
    Nd4j,
    NeuralNetConfiguration,
    ObjectDetectionRecordReader,
    RecordReaderDataSetIterator,
    ScoreIterationListener,
    VocLabelProvider,
    WeightInit,
    Yolo2OutputLayer,
)


def object_detection(folder: Path):
    width, height, nChannels = 32, 32, 3
    gridWidth, gridHeight = 4, 4
    nClasses, nBoxes = 2, 2
    lambdaNoObj, lambdaCoord = 0.5, 5.0
    priorBoxes = [[1, 1], [2, 2]]
    detectionThreshold = 0.3
    batchSize, nEpochs, learningRate, seed = 2, 2, 1e-3, 123
    rng = JavaRandom(seed)
    trainData = FileSplit(folder / "JPEGImages", NativeImageLoader.ALLOWED_FORMATS, rng)
    recordReaderTrain = ObjectDetectionRecordReader(height, width, nChannels, gridHeight, gridWidth, VocLabelProvider(str(folder)))
    recordReaderTrain.initialize(trainData)
    train = RecordReaderDataSetIterator(recordReaderTrain, batchSize, 1, 1, True)
    train.setPreProcessor(ImagePreProcessingScaler(0, 1))
    priors = Nd4j.create(priorBoxes)
    model = ComputationGraph(
        NeuralNetConfiguration.Builder()
        .seed(seed)
        .gradientNormalization(GradientNormalization.RenormalizeL2PerLayer)
        .gradientNormalizationThreshold(1.0)
        .updater(Adam.Builder().learningRate(learningRate).build())
        .l2(0.00001)
        .activation(Activation.IDENTITY)
        .graphBuilder()
        .addInputs("input")
        .setInputTypes(InputType.convolutional(height, width, nChannels))
        .addLayer("convolution2d_8", ConvolutionLayer.Builder(8, 8).stride(8, 8).nOut(6).activation(Activation.LEAKYRELU).build(), "input")
        .addLayer("convolution2d_9",
                  ConvolutionLayer.Builder(1, 1)
                  .nIn(6)
                  .nOut(nBoxes * (5 + nClasses))
                  .stride(1, 1)
                  .convolutionMode(ConvolutionMode.Same)
                  .weightInit(WeightInit.XAVIER)
                  .activation(Activation.IDENTITY)
                  .build(),
                  "convolution2d_8")
        .addLayer("outputs",
                  Yolo2OutputLayer.Builder()
                  .lambdaNoObj(lambdaNoObj)
                  .lambdaCoord(lambdaCoord)
                  .boundingBoxPriors(priors)
                  .build(),
                  "convolution2d_9")
        .setOutputs("outputs")
        .build())
    model.init()
    print(model.summary(InputType.convolutional(height, width, nChannels)))
    model.setListeners(ScoreIterationListener(1))
    for _i in range(nEpochs):
        train.reset()
        while train.hasNext():
            model.fit(train.next())
    yout = model.getOutputLayer(0)
    labels = train.getLabels()
    train.setCollectMetaData(True)
    train.reset()
    found = 0
    while train.hasNext():
        ds = train.next()
        metadata = ds.getExampleMetaData()[0]
        features = ds.getFeatures()
        results = model.outputSingle(features)
        w, h = metadata.getOrigW(), metadata.getOrigH()
        for obj in yout.getPredictedObjects(results, detectionThreshold):
            xy1 = obj.getTopLeftXY()
            xy2 = obj.getBottomRightXY()
            label = labels[obj.getPredictedClass()]
            x1, x2 = round(w * xy1[0] / gridWidth), round(w * xy2[0] / gridWidth)
            y1, y2 = round(h * xy1[1] / gridHeight), round(h * xy2[1] / gridHeight)
            found += label in ("cat", "dog") and x1 < x2 and y1 < y2
        assert metadata.getURI().endswith(".jpg")
    assert found > 0 and model.score() > 0
