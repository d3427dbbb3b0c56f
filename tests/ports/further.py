"""Programs of a book, and of other parts of the examples."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    Adam,
    CSVRecordReader,
    CSVRecordWriter,
    CSVSequenceRecordReader,
    DataSetIteratorSplitter,
    DenseLayer,
    FileSplit,
    GravesLSTM,
    InMemoryStatsStorage,
    LocalTransformExecutor,
    LossFunctions,
    LossMCXENT,
    ModelSerializer,
    MultiLayerNetwork,
    Nd4j,
    Nesterovs,
    NeuralNetConfiguration,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    NumberedFileInputSplit,
    NumberOfRecordsPartitioner,
    OptimizationAlgorithm,
    OutputLayer,
    RecordReaderDataSetIterator,
    RegressionEvaluation,
    RnnOutputLayer,
    Schema,
    ScoreIterationListener,
    SequenceRecordReaderDataSetIterator,
    StatsListener,
    TransformProcess,
    TransformProcessRecordReader,
    WeightInit,
)


def generateSchema(labelled):
    schema = (Schema.Builder()
              .addColumnString("RowNumber")
              .addColumnInteger("CustomerId")
              .addColumnString("Surname")
              .addColumnInteger("CreditScore")
              .addColumnCategorical("Geography", ["France", "Germany", "Spain"])
              .addColumnCategorical("Gender", ["Male", "Female"])
              .addColumnsInteger("Age", "Tenure")
              .addColumnDouble("Balance")
              .addColumnsInteger("NumOfProducts", "HasCrCard", "IsActiveMember")
              .addColumnDouble("EstimatedSalary"))
    return (schema.addColumnInteger("Exited") if labelled else schema).build()


def generateTransform(schema):
    return (TransformProcess.Builder(schema)
            .removeColumns("RowNumber", "CustomerId", "Surname")
            .categoricalToInteger("Gender")
            .categoricalToOneHot("Geography")
            .removeColumns("Geography[France]")
            .build())


def generateReader(file, schema):
    recordReader = CSVRecordReader(1, ",")
    recordReader.initialize(FileSplit(file))
    return TransformProcessRecordReader(recordReader, generateTransform(schema))


def customer_retention(folder: Path):
    labelIndex, batchSize, numClasses = 11, 8, 2
    weightsArray = Nd4j.create([0.57, 0.75])
    recordReader = generateReader(folder / "Churn_Modelling.csv", generateSchema(True))
    dataSetIterator = (RecordReaderDataSetIterator.Builder(recordReader, batchSize)
                       .classification(labelIndex, numClasses)
                       .build())
    dataNormalization = NormalizerStandardize()
    dataNormalization.fit(dataSetIterator)
    dataSetIterator.setPreProcessor(dataNormalization)
    dataSetIteratorSplitter = DataSetIteratorSplitter(dataSetIterator, 20, 0.8)
    configuration = (NeuralNetConfiguration.Builder()
                     .weightInit(WeightInit.RELU_UNIFORM)
                     .updater(Adam(0.015))
                     .list()
                     .layer(DenseLayer.Builder().nIn(11).nOut(6).activation(Activation.RELU).dropOut(0.9).build())
                     .layer(DenseLayer.Builder().nIn(6).nOut(4).activation(Activation.RELU).dropOut(0.9).build())
                     .layer(OutputLayer.Builder(LossMCXENT(weightsArray)).nIn(4).nOut(2).activation(Activation.SOFTMAX).build())
                     .build())
    statsStorage = InMemoryStatsStorage()
    multiLayerNetwork = MultiLayerNetwork(configuration)
    multiLayerNetwork.init()
    multiLayerNetwork.setListeners(ScoreIterationListener(100), StatsListener(statsStorage))
    multiLayerNetwork.fit(dataSetIteratorSplitter.getTrainIterator(), 2)
    evaluation = multiLayerNetwork.evaluate(dataSetIteratorSplitter.getTestIterator(), ["0", "1"])
    print(evaluation.stats())
    file = folder / "model.zip"
    ModelSerializer.writeModel(multiLayerNetwork, file, True)
    ModelSerializer.addNormalizerToModel(file, dataNormalization)

    indArray = generateOutput(folder / "customers.csv", file)
    message = ""
    for i in range(indArray.rows()):
        if indArray.getDouble(i, 0) > indArray.getDouble(i, 1):
            message += f"Customer {i + 1}-> Happy Customer\n"
        else:
            message += f"Customer {i + 1}-> Unhappy Customer\n"
    print(message)
    assert message.count("Customer ") == 10 and evaluation.getNumRowCounter() == 32


def generateOutput(inputFile, modelFile):
    network = ModelSerializer.restoreMultiLayerNetwork(modelFile)
    recordReader = generateReader(inputFile, generateSchema(False))
    normalizerStandardize = ModelSerializer.restoreNormalizerFromFile(modelFile)
    dataSetIterator = RecordReaderDataSetIterator.Builder(recordReader, 1).build()
    normalizerStandardize.fit(dataSetIterator)
    dataSetIterator.setPreProcessor(normalizerStandardize)
    return network.output(dataSetIterator)


def local_execute(folder: Path):
    recordReader = CSVRecordReader(1, ",")
    recordReader.initialize(FileSplit(folder / "Churn_Modelling.csv"))
    transformProcess = generateTransform(generateSchema(True))
    outputData = []
    recordWriter = CSVRecordWriter()
    partitioner = NumberOfRecordsPartitioner()
    recordWriter.initialize(FileSplit(folder / "transformed.csv"), partitioner)
    while recordReader.hasNext():
        outputData.append(recordReader.next())
    transformedOutput = LocalTransformExecutor.execute(outputData, transformProcess)
    recordWriter.writeBatch(transformedOutput)
    recordWriter.close()
    written = CSVRecordReader().initialize(FileSplit(folder / "transformed.csv"))
    first = written.next()
    assert len(first) == 12 and first[-1].toInt() in (0, 1)


def single_timestep_regression(folder: Path):
    miniBatchSize = 32
    trainReader = CSVSequenceRecordReader(0, ";")
    trainReader.initialize(NumberedFileInputSplit(str(folder) + "/passengers_train_%d.csv", 0, 0))
    trainIter = SequenceRecordReaderDataSetIterator(trainReader, miniBatchSize, -1, 1, True)
    testReader = CSVSequenceRecordReader(0, ";")
    testReader.initialize(NumberedFileInputSplit(str(folder) + "/passengers_test_%d.csv", 0, 0))
    testIter = SequenceRecordReaderDataSetIterator(testReader, miniBatchSize, -1, 1, True)
    trainData = trainIter.next()
    testData = testIter.next()
    normalizer = NormalizerMinMaxScaler(0, 1)
    normalizer.fitLabel(True)
    normalizer.fit(trainData)
    normalizer.transform(trainData)
    normalizer.transform(testData)
    conf = (NeuralNetConfiguration.Builder()
            .seed(140)
            .optimizationAlgo(OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT)
            .weightInit(WeightInit.XAVIER).updater(Nesterovs(0.0015, 0.9))
            .list()
            .layer(0, GravesLSTM.Builder().activation(Activation.TANH).nIn(1).nOut(4).build())
            .layer(1, RnnOutputLayer.Builder(LossFunctions.LossFunction.MSE)
                   .activation(Activation.IDENTITY).nIn(4).nOut(1).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(20))
    for _i in range(2):
        net.fit(trainData)
        evaluation = RegressionEvaluation(1)
        features = testData.getFeatures()
        lables = testData.getLabels()
        predicted = net.output(features, False)
        evaluation.evalTimeSeries(lables, predicted)
        print(evaluation.stats())
    net.rnnTimeStep(trainData.getFeatures())
    predicted = net.rnnTimeStep(testData.getFeatures())
    normalizer.revert(trainData)
    normalizer.revert(testData)
    normalizer.revertLabels(predicted)
    series = []
    createSeries(series, trainData.getFeatures(), 0, "Train data")
    createSeries(series, testData.getFeatures(), 29, "Actual test data")
    createSeries(series, predicted, 30, "Predicted test data")
    assert [name for name, _ in series] == ["Train data", "Actual test data", "Predicted test data"]
    assert [abs(y - 100 - x) < 1e-3 for x, y in series[0][1]] == [True] * 30 and evaluation.getNumColumns() == 1


def createSeries(seriesCollection, data, offset, name):
    nRows = data.shape()[2]
    seriesCollection.append((name, [(i + offset, data.getDouble(i)) for i in range(nRows)]))
