"""Classes that users override in Java's spelling and in DL4J's own form, one row each: networks train with them as with what they equal."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl4py import (
    Activation,
    Adam,
    BaseActivationFunction,
    ConvolutionLayer,
    DataSet,
    DataSetIterator,
    DataSetPreProcessor,
    DenseLayer,
    EarlyStoppingConfiguration,
    EarlyStoppingModelSaver,
    EarlyStoppingTrainer,
    EpochTerminationCondition,
    GradientUpdater,
    IDropout,
    ILossFunction,
    INDArray,
    InputPreProcessor,
    ISchedule,
    IterationTerminationCondition,
    IUpdater,
    IWeightInit,
    ModelSerializer,
    MultiDataSet,
    MultiDataSetIterator,
    MultiDataSetPreProcessor,
    MultiLayerNetwork,
    Nd4j,
    NeuralNetConfiguration,
    NormalizerStandardize,
    NumpyDataSetIterator,
    OutputLayer,
    Pair,
    SameDiffLoss,
    ScoreCalculator,
    Sgd,
    StepSchedule,
    Transforms,
)
from dl4py.samediff.errors import ConfigurationError, DL4PyError
from dl4py.samediff.initializers.nd4j_random import get_random
from tests.helpers.habits import MODELS, InJavasSpelling, X, Y, parameters


def network(updater: Any = None, before: Any = None, loss: Any = "mse", last: Any = "softmax", **first: Any) -> MultiLayerNetwork:
    layers = (NeuralNetConfiguration.Builder().seed(1).updater(updater or Sgd(0.1)).list()
              .layer(DenseLayer(n_in=4, n_out=5, **{"activation": "tanh", **first}))
              .layer(OutputLayer(n_in=5, n_out=3, loss_function=loss, activation=last)))
    return MultiLayerNetwork((layers if before is None else layers.inputPreProcessor(0, before)).build()).init()


def trained(net: MultiLayerNetwork) -> Any:
    for _ in range(3):
        net.fit(X, Y)
    return np.array(net.params())


class Cube(BaseActivationFunction):
    def getActivation(self, x, training):
        assert isinstance(x, INDArray)
        return x.muli(x.mul(x))

    def backprop(self, x, epsilon):
        return Pair(x.mul(x).muli(3).muli(epsilon), None)


class Squares(ILossFunction):
    """As LossMSE: the mean over the outputs."""

    def computeScoreArray(self, labels, preOutput, activationFn, mask):
        difference = activationFn.getActivation(preOutput.dup(), True).sub(labels)
        scores = difference.mul(difference).mean(1)
        return scores if mask is None else scores.mul(mask.reshape(-1))

    def computeScore(self, labels, preOutput, activationFn, mask, average):
        total = self.computeScoreArray(labels, preOutput, activationFn, mask).sumNumber()
        return total / labels.size(0) if average else total

    def computeGradient(self, labels, preOutput, activationFn, mask):
        difference = activationFn.getActivation(preOutput.dup(), True).sub(labels)
        gradient = activationFn.backprop(preOutput, difference.mul(2.0 / labels.size(1))).getFirst()
        return gradient if mask is None else gradient.muliColumnVector(mask)

    def computeGradientAndScore(self, labels, preOutput, activationFn, mask, average):
        return Pair(self.computeScore(labels, preOutput, activationFn, mask, average),
                    self.computeGradient(labels, preOutput, activationFn, mask))


class ScoresAlone(ILossFunction):
    """The same by the other two methods."""

    def computeScore(self, labels, preOutput, activationFn, mask, average):
        return Squares().computeScore(labels, preOutput, activationFn, mask, average)

    def computeGradientAndScore(self, labels, preOutput, activationFn, mask, average):
        return Squares().computeGradientAndScore(labels, preOutput, activationFn, mask, average)


class Graph(SameDiffLoss):
    def defineLoss(self, sd, layerInput, labels):
        return sd.math.squaredDifference(layerInput, labels).mean(1)


class Half(IDropout):
    def applyDropout(self, inputActivations, resultArray, iteration, epoch, workspaceMgr):
        self.mask = 0.5
        return resultArray.assign(inputActivations.mul(self.mask).add(0.25))


class Halves(IDropout):
    """The same as factor and shift."""

    def draw(self, rng, shape, dtype, iteration, epoch):
        return np.full(shape, 0.5, dtype), np.full(shape, 0.25, dtype)


class Kept(IDropout):
    def applyDropout(self, inputActivations, resultArray, iteration, epoch):
        return inputActivations.mul(Nd4j.rand(*inputActivations.shape()).gt(0.5).castTo(inputActivations.dataType()))


class Squared(IDropout):
    def applyDropout(self, inputActivations, resultArray, iteration, epoch):
        return inputActivations.mul(inputActivations)


class Filled(IWeightInit):
    def init(self, fanIn, fanOut, shape, order, paramView):
        assert (fanIn, fanOut, order, paramView.shape()) == (4, 5, "f", (1, 20))
        paramView.assign(0.25)
        return paramView.reshape(order, *shape)


class Returned(IWeightInit):
    def init(self, fanIn, fanOut, shape, order, paramView):
        return Nd4j.valueArrayOf(shape, 0.25)


class Drawn(IWeightInit):
    def init(self, fanIn, fanOut, shape, order, paramView):
        return Nd4j.rand(*shape)


class Rate(ISchedule):
    def valueAt(self, iteration, epoch):
        return 0.1 if iteration < 2 else 0.05

    def clone(self):
        return self


class Doubled(InputPreProcessor):
    def preProcess(self, array, minibatchSize, workspaceMgr):
        return array.mul(2.0)

    def backprop(self, epsilons, minibatchSize, workspaceMgr):
        return epsilons.mul(2.0)

    def getOutputType(self, inputType):
        return inputType


class DoubledArray(InputPreProcessor):
    """The same in code that can be followed."""

    def pre_process(self, array, minibatch):
        return array * 2.0

    def output_type(self, input_type):
        return input_type


class OwnAdamUpdater(GradientUpdater):
    def setStateViewArray(self, view, gradientShape, order, initialize):
        if initialize:
            view.assign(0)
        length = view.length() // 2
        flat = view.reshape(2 * length)
        self.m, self.v = flat[:length], flat[length:]

    def applyUpdater(self, gradient, iteration, epoch):
        given = gradient.reshape(-1)
        self.m.muli(0.9).addi(given.mul(0.1))
        self.v.muli(0.999).addi(given.mul(given).muli(0.001))
        rate = 0.01 * np.sqrt(1 - 0.999 ** (iteration + 1)) / (1 - 0.9 ** (iteration + 1))
        gradient.assign(self.m.mul(rate).div(Transforms.sqrt(self.v).add(1e-8)).reshape(*gradient.shape()))


class OwnAdam(IUpdater):
    def stateSize(self, numParams):
        return 2 * numParams

    def instantiate(self, viewArray, initializeViewArray):
        updater = OwnAdamUpdater(self)
        updater.setStateViewArray(viewArray, None, "c", initializeViewArray)
        return updater


class Tenth(GradientUpdater):
    def applyUpdater(self, gradient, iteration, epoch):
        gradient.muli(0.1)


class Stateless(IUpdater):
    def stateSize(self, numParams):
        return 0

    def instantiate(self, viewArray, initializeViewArray):
        assert viewArray is None
        return Tenth(self)


#: A network with a class in DL4J's form, and one that it must equal.
SAME: dict[str, tuple[Any, Any]] = {
    "activation": (lambda: network(activation=Cube()), lambda: network(activation="cube")),
    "activation, output": (lambda: network(Sgd(1e-3), last=Cube()), lambda: network(Sgd(1e-3), last="cube")),
    "loss": (lambda: network(loss=Squares()), lambda: network(loss="mse")),
    "loss, its other methods": (lambda: network(loss=ScoresAlone()), lambda: network(loss="mse")),
    "loss and activation": (lambda: network(Sgd(1e-3), loss=Squares(), last=Cube()), lambda: network(Sgd(1e-3), last="cube")),
    "loss of a graph": (lambda: network(loss=Graph()), lambda: network(loss="mse")),
    "dropout": (lambda: network(drop_out=Half()), lambda: network(drop_out=Halves())),
    "weights, filled": (lambda: network(weight_init=Filled()), lambda: network(weight_init=Returned())),
    "schedule": (lambda: network(Sgd(Rate())), lambda: network(Sgd(StepSchedule("iteration", 0.1, 0.5, 2)))),
    "preprocessor": (lambda: network(before=Doubled()), lambda: network(before=DoubledArray())),
    "updater": (lambda: network(OwnAdam()), lambda: network(Adam(0.01))),
    "updater without state": (lambda: network(Stateless()), lambda: network(Sgd(0.1))),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", SAME)
def test_dl4j_form_trains_as_what_it_equals(row):
    own, other = SAME[row]
    np.testing.assert_allclose(trained(own()), trained(other()), 1e-5, 1e-6)
    np.testing.assert_allclose(own().output(X), other().output(X), 1e-5, 1e-6)
    assert own().score(X, Y) == pytest.approx(other().score(X, Y), 1e-5)


def test_masks_reach_losses_in_dl4j_form():
    own, other, mask = network(loss=Squares()), network(loss="mse"), np.linspace(0, 1, 12, dtype=np.float32)[:, None]
    own.fit(DataSet(X, Y, None, mask))
    other.fit(DataSet(X, Y, None, mask))
    np.testing.assert_allclose(own.params(), other.params(), 1e-5, 1e-6)


def test_random_numbers_of_dl4j_form_follow_the_seed_and_leave_the_generator_as_it_was():
    get_random().set_seed(7)
    wanted = get_random().next_int()
    get_random().set_seed(7)
    first, second = trained(network(drop_out=Kept(), weight_init=Drawn())), trained(network(drop_out=Kept(), weight_init=Drawn()))
    assert get_random().next_int() == wanted
    np.testing.assert_array_equal(first, second)
    drawn = network(weight_init=Drawn()).get_param("0_W")
    assert drawn.std() > 0.1 and not np.array_equal(first, trained(network(weight_init=Drawn())))


def test_what_dl4j_form_cannot_be_is_said():
    with pytest.raises(ConfigurationError, match="write draw"):
        network(drop_out=Squared()).fit(X, Y)

    class Wide(BaseActivationFunction):
        def getActivation(self, x, training):
            return x.reshape(-1)

        def backprop(self, x, epsilon):
            return Pair(epsilon, None)

    with pytest.raises(DL4PyError, match=r"getActivation gave an array of shape \(60,\); \(12, 5\) was expected"):
        network(activation=Wide()).output(X)

    class Odd(Stateless):
        def stateSize(self, numParams):
            return numParams + 1

    with pytest.raises(ConfigurationError, match=r"stateSize\(12\) is 13"):
        network(Odd()).fit(X, Y)


class Batches(DataSetIterator):
    def __init__(self):
        self.k = 0

    def hasNext(self):
        return self.k < 3

    def next(self, num=None):
        self.k += 1
        return DataSet(X[4 * self.k - 4:4 * self.k], Y[4 * self.k - 4:4 * self.k])

    def reset(self):
        self.k = 0

    def resetSupported(self):
        return True


class SeveralInputs(MultiDataSetIterator):
    hasNext, reset, resetSupported = Batches.hasNext, Batches.reset, Batches.resetSupported

    def __init__(self):
        self.k = 0

    def next(self, num=None):
        self.k += 1
        return MultiDataSet([X[4 * self.k - 4:4 * self.k]], [Y[4 * self.k - 4:4 * self.k]])


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("form", [Batches, SeveralInputs, InJavasSpelling])
def test_iterators(kind, form):
    own, other = MODELS[kind](), MODELS[kind]()
    own.fit(form(), 2)
    other.fit(X, Y, batch_size=4, epochs=2)
    np.testing.assert_array_equal(parameters(own), parameters(other))


class Loss(ScoreCalculator):
    def calculateScore(self, network):
        return network.score(DataSet(X, Y))

    def minimizeScore(self):
        return True


class Three(EpochTerminationCondition):
    def initialize(self):
        pass

    def terminate(self, epochNum, score, minimize):
        return epochNum >= 2


class Never(IterationTerminationCondition):
    def initialize(self):
        pass

    def terminate(self, lastMiniBatchScore):
        return False


class BareSaver:
    best = None

    def saveBestModel(self, net, score):
        self.best = net.clone()

    def saveLatestModel(self, net, score):
        pass

    def getBestModel(self):
        return self.best

    def getLatestModel(self):
        return None


class Saver(BareSaver, EarlyStoppingModelSaver):
    pass


@pytest.mark.parametrize("saver", [BareSaver, Saver])
def test_early_stopping(saver):
    made = (EarlyStoppingConfiguration.Builder().scoreCalculator(Loss()).epochTerminationConditions(Three())
            .iterationTerminationConditions(Never()).modelSaver(saver()).evaluateEveryNEpochs(1).build())
    result = EarlyStoppingTrainer(made, network(), Batches()).fit()
    assert result.getTotalEpochs() == 3 and result.getBestModel().score(X, Y) == pytest.approx(result.getBestModelScore())
    with pytest.raises(ConfigurationError, match="save_best_model"):
        EarlyStoppingConfiguration.Builder().modelSaver(object()).build()


class Twice(DataSetPreProcessor):
    def preProcess(self, data):
        data.setFeatures(data.getFeatures() * 2)


class TwiceOfSeveral(MultiDataSetPreProcessor):
    def preProcess(self, data):
        data.setFeatures(0, data.getFeatures(0) * 2)


class BareTwice:
    preProcess = Twice.preProcess


@pytest.mark.parametrize("form", [Twice, BareTwice])
def test_preprocessors_of_data(form):
    iterator, given = NumpyDataSetIterator(X, Y, 4), form()
    iterator.setPreProcessor(given)
    np.testing.assert_array_equal(iterator.next().getFeatures(), 2 * X[:4])
    assert iterator.getPreProcessor() is given
    several = SeveralInputs()
    several.setPreProcessor(TwiceOfSeveral())
    assert several.getPreProcessor() is not None
    with pytest.raises(ConfigurationError, match="preProcess in Java's spelling"):
        iterator.setPreProcessor(object())


def test_what_every_object_and_enum_of_java_has():
    conf = network().getConfiguration()
    assert conf.equals(network().getConfiguration()) and conf.hashCode() == network().getConfiguration().hashCode()
    assert not conf.equals(network(last="cube").getConfiguration()) and conf.toString() == str(conf)
    assert Activation.RELU.toString() == Activation.RELU.name == "RELU"
    assert Activation.valueOf("RELU") is Activation.RELU and Activation.values()[Activation.RELU.ordinal()] is Activation.RELU
    assert ConvolutionLayer.AlgoMode.valueOf("PREFER_FASTEST") is ConvolutionLayer.AlgoMode.PREFER_FASTEST
    with pytest.raises(ConfigurationError, match="did you mean 'RELU'"):
        Activation.valueOf("RELLU")


def test_pairs():
    net = network()
    net.setInput(X)
    net.feedForward(True, False)
    found = net.backpropGradient(Y, None)
    assert found.getFirst() is found[0] and found.getSecond().shape == (12, 4) and Pair.of(1, 2) == (1, 2)
    assert [Pair(1, 2).getLeft(), Pair(1, 2).getRight(), Pair(1, 2).getKey(), Pair(1, 2).getValue()] == [1, 2, 1, 2]


def test_models_and_normalizers_of_one_file(tmp_path, capsys):
    net, normalizer = network(), NormalizerStandardize()
    normalizer.fit(DataSet(X, Y))
    ModelSerializer.writeModel(net, str(tmp_path / "a.zip"), True, normalizer)
    ModelSerializer.writeModel(net.toComputationGraph(), str(tmp_path / "b.zip"), True, normalizer)
    for name, restore in (("a", ModelSerializer.restoreMultiLayerNetworkAndNormalizer),
                          ("b", ModelSerializer.restoreComputationGraphAndNormalizer)):
        pair = restore(str(tmp_path / f"{name}.zip"))
        np.testing.assert_array_equal(pair.getFirst().params(), net.params())
        np.testing.assert_array_equal(pair.getSecond().getMean(), normalizer.getMean())
    net.printConfiguration()
    assert '"nin" : 4' in capsys.readouterr().out
