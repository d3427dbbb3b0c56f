"""Classes of users whose constructor sets attributes, as Java's do."""
from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from dl4py.layers import Activation, InputType, OutputLayer, SameDiffLambdaVertex, SameDiffLayer, WeightInit, layer, vertex
from dl4py.networks import MultiLayerConfiguration, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.training import ISchedule, Sgd


@layer("test.own_constructor.Dense")
class Dense(SameDiffLayer):
    def __init__(self, nIn: int = 0, nOut: int = 0, activation: Activation = None, weightInit: WeightInit = None):
        self.nIn, self.nOut = nIn, nOut
        self.activation = activation
        self.weightInit = weightInit
        self.doubled = 2 * nOut

    def getOutputType(self, layerIndex, inputType):
        return InputType.feedForward(self.nOut)

    def defineParameters(self, params):
        params.addWeightParam("W", self.nIn, self.nOut)

    def initializeParameters(self, params):
        self.initWeights(self.nIn, self.nOut, self.weightInit, params["W"])
        params["W"].muli(self.doubled / self.nOut)

    def defineLayer(self, sd, layerInput, paramTable, mask):
        return self.activation.asSameDiff(sd, layerInput.mmul(paramTable["W"]))


class Wider(Dense):
    def __init__(self, nIn: int = 0, extra: float = 0.5):
        super().__init__(nIn, 5, Activation.TANH, WeightInit.ONES)
        self.extra = extra


@vertex("test.own_constructor.Scaled")
class Scaled(SameDiffLambdaVertex):
    def __init__(self, *factors):
        super().__init__()
        self.factors = list(factors)

    def defineVertex(self, sameDiff, inputs):
        return inputs.getInput(0) * self.factors[0]


class Halving(ISchedule):
    def __init__(self, start):
        self.start = start

    def valueAt(self, iteration, epoch):
        return self.start / 2 ** iteration


def test_what_a_constructor_sets_are_fields():
    made = Dense(4, 3, Activation.TANH, WeightInit.XAVIER)
    assert (made.nIn, made.nOut, made.n_out, made.doubled, made.getNOut()) == (4, 3, 3, 6, 3)
    assert made.weight_init == made.weightInit == WeightInit.XAVIER
    assert made == Dense(4, 3, Activation.TANH, WeightInit.XAVIER) != Dense(4, 2, Activation.TANH, WeightInit.XAVIER)
    assert "nOut=3" in repr(made) and hash(made) == hash(made.replace()) and made.replace(nOut=7).nOut == 7
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.clone()):
        assert again == made and again.doubled == 6
    with pytest.raises(FrozenInstanceError, match="use replace"):
        made.nIn = 2


def test_constructors_of_bases_and_numbers_of_arguments():
    made = Wider(4)
    assert (made.nIn, made.nOut, made.extra, made.doubled) == (4, 5, 0.5, 10)
    assert Scaled(2, 3).factors == [2, 3] and Scaled(2) != Scaled(3)
    assert Sgd(Halving(0.5)).learning_rate_schedule.value_at(1, 0) == 0.25


def test_networks_train_and_come_back(tmp_path):
    conf = NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).list(
        Dense(4, 3, Activation.TANH, WeightInit.XAVIER), OutputLayer(n_in=3, n_out=2)).build()
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf and MultiLayerConfiguration.from_yaml(conf.to_yaml()) == conf
    net = MultiLayerNetwork(conf).init()
    x, y = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1] * 3]
    net.fit(x, y)
    net.save(tmp_path / "own.zip")
    np.testing.assert_array_equal(MultiLayerNetwork.load(tmp_path / "own.zip").output(x), net.output(x))
