"""Programs of SameDiff, and networks of other public programs."""
from __future__ import annotations

from pathlib import Path

from dl4py import (
    Activation,
    ActivationLayer,
    Adam,
    BaseListener,
    BatchNormalization,
    ComputationGraph,
    Conv2DConfig,
    ConvolutionLayer,
    ConvolutionMode,
    DataSet,
    DataSetLossCalculator,
    DataType,
    DenseLayer,
    DistributionInitScheme,
    EarlyStoppingConfiguration,
    EarlyStoppingGraphTrainer,
    ElementWiseVertex,
    Evaluation,
    GlobalPoolingLayer,
    INDArrayDataSetIterator,
    InMemoryModelSaver,
    InputType,
    JavaRandom,
    ListenerVariables,
    LossFunctions,
    MaxEpochsTerminationCondition,
    MnistDataSetIterator,
    ModelSerializer,
    MultiLayerNetwork,
    Nd4j,
    NeuralNetConfiguration,
    Operation,
    OutputLayer,
    Pair,
    Pooling2DConfig,
    RmsProp,
    SameDiff,
    ScoreIterationListener,
    ScoreListener,
    Sgd,
    TrainingConfig,
    TruncatedNormalDistribution,
    UNet,
    WeightInit,
    XavierInitScheme,
)


def samediff_basics(folder: Path):
    sd = SameDiff.create()
    values = Nd4j.ones(3, 4)
    variable = sd.var("myVariable", values)
    plusOne = variable.add(1.0)
    variable.mul("mulTen", 10.0)
    for var in sd.variables():
        print(var.name(), var.getShape())
    for df in sd.ops():
        inputsToFunction = df.args()
        outputsOfFunction = df.outputVariables()
        print(df.opName(), [v.name() for v in inputsToFunction], [v.name() for v in outputsOfFunction])
    print(sd.summary())
    sd.output({}, "mulTen")
    variableArr = variable.getArr()
    plusOneArr = plusOne.eval()
    assert variableArr.equals(values) and plusOneArr.equals(values.add(1)) and plusOneArr.getDouble(0, 0) == 2

    nIn, nOut = 4, 2            # Ex2_LinearRegression
    sd = SameDiff.create()
    input = sd.placeHolder("input", DataType.FLOAT, -1, nIn)
    labels = sd.placeHolder("labels", DataType.FLOAT, -1, 1)
    weights = sd.var("weights", XavierInitScheme("c", nIn, nOut), DataType.FLOAT, nIn, nOut)
    bias = sd.var("bias", 1)
    out = input.mmul(weights).add(bias)
    difference = labels.sub(out)
    sqDiff = sd.math().square(difference)
    sqDiff.mean("mse")
    Nd4j.getRandom().setSeed(12345)
    inputArr = Nd4j.rand(3, nIn)
    labelArr = Nd4j.rand(3, 1)
    placeholderData = {}
    placeholderData["input"] = inputArr
    placeholderData["labels"] = labelArr
    loss = sd.output(placeholderData, "mse")["mse"]
    sd.setLossVariables("mse")
    gradMap = sd.calculateGradients(placeholderData, "weights", "bias")
    assert loss.getDouble(0) > 0 and gradMap["weights"].shape() == (4, 2) and gradMap["bias"].normmaxNumber() > 0

    sd = SameDiff.create()      # Ex3_Variables
    var1 = sd.var("var1", Nd4j.arange(10))
    initScheme = DistributionInitScheme(Nd4j.order(), TruncatedNormalDistribution(0, 1))
    var2 = sd.var("var2", initScheme, DataType.FLOAT, 3, 4)
    var3 = sd.var("var3", 3, 4)
    var3.setArray(Nd4j.ones(3, 4))
    scalar = sd.scalar("scalar", 0.5)
    zero = sd.zero("zero", 3, 4)
    zeroToNine = sd.linspace("zeroToNine", DataType.FLOAT, 0, 9, 10)
    randomUniform = sd.random.uniform(-1, 1, DataType.FLOAT, 3, 4)
    randomBernoulli = sd.random.bernoulli(0.5, DataType.FLOAT, 3, 4)
    assert var1.getArr().getInt(9) == 9 and abs(var2.getArr().meanNumber()) < 1 and var3.getArr().sumNumber() == 12
    assert scalar.eval() == 0.5 and zero.eval().sumNumber() == 0 and zeroToNine.eval().getDouble(9) == 9
    assert randomUniform.eval().maxNumber() <= 1 and randomBernoulli.eval().shape() == (3, 4)


def _mnist_graph():
    sd = SameDiff.create()
    input = sd.placeHolder("input", DataType.FLOAT, -1, 28 * 28)
    label = sd.placeHolder("label", DataType.FLOAT, -1, 10)
    reshaped = input.reshape(-1, 1, 28, 28)
    poolConfig = Pooling2DConfig.builder().kH(2).kW(2).sH(2).sW(2).build()
    convConfig = Conv2DConfig.builder().kH(3).kW(3).build()
    w0 = sd.var("w0", XavierInitScheme("c", 28 * 28, 26 * 26 * 4), DataType.FLOAT, 3, 3, 1, 4)
    b0 = sd.zero("b0", 4)
    conv1 = sd.cnn().conv2d(reshaped, w0, b0, convConfig)
    pool1 = sd.cnn().maxPooling2d(conv1, poolConfig)
    relu1 = sd.nn().relu(pool1, 0)
    flat = relu1.reshape(-1, 13 * 13 * 4)
    wOut = sd.var("wOut", XavierInitScheme("c", 13 * 13 * 4, 10), DataType.FLOAT, 13 * 13 * 4, 10)
    bOut = sd.zero("bOut", 10)
    z = sd.nn().linear("z", flat, wOut, bOut)
    out = sd.nn().softmax("out", z, 1)
    loss = sd.loss().softmaxCrossEntropy("loss", label, out, None)
    sd.setLossVariables(loss)
    return sd


def mnist_convolution(folder: Path):
    sd = _mnist_graph()
    evaluation = Evaluation()
    config = (TrainingConfig.Builder()
              .l2(1e-4)
              .updater(Adam(1e-2))
              .dataSetFeatureMapping("input")
              .dataSetLabelMapping("label")
              .trainEvaluation("out", 0, evaluation)
              .build())
    sd.setTrainingConfig(config)
    sd.addListeners(ScoreListener(20))
    trainData = MnistDataSetIterator(32, True, 12345)
    hist = sd.fit().train(trainData, 3).exec()
    acc = hist.trainingEval(Evaluation.Metric.ACCURACY)
    print("Accuracy:", acc)
    assert len(acc) == 3 and acc[2] > acc[0]

    listener = CustomListener()
    sd.output().data(MnistDataSetIterator(10, 10, False, False, True, 12345)).output("out").listeners(listener).exec()
    assert listener.z.shape() == listener.out.shape() == (10, 10) and listener.out.argMax(1).getInt(0) < 10


class CustomListener(BaseListener):
    def isActive(self, operation):
        return operation == Operation.INFERENCE

    def requiredVariables(self, sd):
        return ListenerVariables.Builder().inferenceVariables("z", "out").build()

    def activationAvailable(self, sd, at, batch, op, varName, activation):
        if varName == "z":
            self.z = activation.detach().dup()
        elif varName == "out":
            self.out = activation.detach().dup()


def mnist_feedforward(folder: Path):
    sd = SameDiff.create()
    input = sd.placeHolder("input", DataType.FLOAT, -1, 784)
    label = sd.placeHolder("label", DataType.FLOAT, -1, 10)
    w0 = sd.var("w0", XavierInitScheme("c", 784, 16), DataType.FLOAT, 784, 16)
    b0 = sd.zero("b0", 1, 16)
    activations0 = sd.nn().tanh(input.mmul(w0).add(b0))
    w1 = sd.var("w1", XavierInitScheme("c", 16, 10), DataType.FLOAT, 16, 10)
    b1 = sd.zero("b1", 1, 10)
    z1 = activations0.mmul(w1).add("prediction", b1)
    softmax = sd.nn().softmax("softmax", z1)
    diff = sd.math.squaredDifference(softmax, label)
    lossMse = diff.mean()
    sd.setLossVariables(lossMse)
    sd.setTrainingConfig(TrainingConfig.Builder().l2(1e-4).updater(Adam(1e-2)).dataSetFeatureMapping("input")
                         .dataSetLabelMapping("label").build())
    sd.fit(MnistDataSetIterator(32, True, 12345), 3)
    evaluation = Evaluation()
    sd.evaluate(MnistDataSetIterator(32, False, 12345), "softmax", evaluation)
    print(evaluation.stats())
    saveFileForInference = folder / "sameDiffExampleInference.fb"
    sd.asFlatFile(saveFileForInference)
    loadedForInference = SameDiff.fromFlatFile(saveFileForInference)
    example = MnistDataSetIterator(1, False, 12345).next().getFeatures()
    loadedForInference.getVariable("input").setArray(example)
    output = loadedForInference.getVariable("softmax").eval()
    print("Predicted:", output.argMax().getInt(0))
    assert abs(output.sumNumber() - 1) < 1e-5 and evaluation.accuracy() > 0.4


def tic_tac_toe(folder: Path):
    builder = NeuralNetConfiguration.Builder().seed(9).updater(Sgd(0.1)).weightInit(WeightInit.XAVIER).graphBuilder()
    builder.addInputs("in").setInputTypes(InputType.convolutional(3, 3, 3))
    last = "in"
    for i in range(2):
        builder.addLayer(f"conv{i}", ConvolutionLayer.Builder(3, 3).convolutionMode(ConvolutionMode.Same).nIn(3 if i == 0 else 6)
                         .nOut(6).build(), last)
        builder.addLayer(f"norm{i}", BatchNormalization.Builder().nOut(6).build(), f"conv{i}")
        builder.addLayer(f"relu{i}", ActivationLayer.Builder().activation(Activation.LEAKYRELU).build(), f"norm{i}")
        last = f"relu{i}"
    builder.addVertex("residual", ElementWiseVertex(ElementWiseVertex.Op.Add), "relu0", "relu1")
    builder.addLayer("pool", GlobalPoolingLayer.Builder().build(), "residual")
    builder.addLayer("out", OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.TANH).nIn(6).nOut(1).build(), "pool")
    model = ComputationGraph(builder.setOutputs("out").build())
    model.init()
    Nd4j.getRandom().setSeed(5)
    pairs = []
    for i in range(16):
        board = Nd4j.rand(1, 3, 3, 3)
        pairs.append(Pair(board, Nd4j.create([1.0 if i % 2 else -1.0], 1, 1)))
    iterator = INDArrayDataSetIterator(pairs, 8)
    esConf = (EarlyStoppingConfiguration.Builder()
              .modelSaver(InMemoryModelSaver())
              .epochTerminationConditions(MaxEpochsTerminationCondition(2))
              .scoreCalculator(DataSetLossCalculator(iterator, True))
              .evaluateEveryNEpochs(1)
              .build())
    result = EarlyStoppingGraphTrainer(esConf, model, iterator).fit()
    best = result.getBestModel()
    ModelSerializer.writeModel(best, folder / "tictactoe.zip", True)
    board = Nd4j.zeros(1, 3, 3, 3)
    board.putScalar([0, 1, 2, 2], 1)
    assert -1 <= best.outputSingle(board).getDouble(0) <= 1


def reinforcement_learning(folder: Path):
    conf = (NeuralNetConfiguration.Builder()
            .seed(123)
            .updater(RmsProp(0.01))
            .weightInit(WeightInit.XAVIER)
            .l2(0.001)
            .list()
            .layer(0, DenseLayer.Builder().nIn(4).nOut(12).activation(Activation.LEAKYRELU).build())
            .layer(1, OutputLayer.Builder(LossFunctions.LossFunction.MSE).activation(Activation.IDENTITY).nIn(12).nOut(2).build())
            .build())
    net = MultiLayerNetwork(conf)
    net.init()
    net.setListeners(ScoreIterationListener(100))
    target = MultiLayerNetwork(conf)
    target.init()
    target.setParams(net.params())
    random = JavaRandom(3)
    state = Nd4j.zeros(1, 4)
    for _step in range(20):
        action = random.nextInt(2) if random.nextDouble() < 0.2 else net.output(state).argMax(1).getInt(0)
        nextState = state.dup()
        nextState.putScalar(0, action, state.getDouble(0, action) + 0.1)
        targets = net.output(state)
        targets.putScalar(0, action, nextState.sumNumber() + 0.9 * target.output(nextState).maxNumber())
        net.fit(DataSet(state, targets))
        state = nextState
    target.params().assign(net.params())
    assert target.params().equals(net.params()) and target.output(state).equals(net.output(state))


def unet(folder: Path):
    model = UNet.builder().inputShape([3, 64, 64]).build().init()
    assert "sigmoid" in model.getConfiguration().toJson().lower() and len(model.getLayers()) > 20
    assert model.getLayer("conv10").getConfig().getNOut() == 1
