"""Classes of users in DL4J's spelling and in DL4J's form: what works, and what is refused when it is built."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    ActivationTanH,
    Dropout,
    IActivation,
    IDropout,
    ILossFunction,
    InputPreProcessor,
    InputType,
    IWeightInit,
    IWeightNoise,
    LayerConstraint,
    SameDiffLoss,
)
from dl4py.samediff.configuration.declaring import configuration
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import IUpdater, Schedule


@configuration("test.Bent")
class Bent(IActivation):
    def getActivation(self, array, training):
        return np.tanh(array)


@configuration("test.Loss")
class Loss(ILossFunction):
    def computeScore(self, labels, preOutput, activationFn, mask, average):
        return 0.0


@configuration("test.SdLoss")
class SdLoss(SameDiffLoss):
    def getScore(self):
        return 0


@configuration("test.Init")
class Init(IWeightInit):
    def init(self, fanIn, fanOut, paramView):
        return paramView


@configuration("test.Noise")
class Noise(IDropout):
    def applyDropout(self, inputActivations, resultArray):
        return resultArray


@configuration("test.Falling")
class Falling(Schedule):
    pass


@configuration("test.Step")
class Step(IUpdater):
    def applyUpdater(self, gradient, iteration, epoch):
        pass


@configuration("test.Pre")
class Pre(InputPreProcessor):
    def preProcess(self, input):
        return input

    def getOutputType(self, inputType):
        return inputType


@configuration("test.Weights")
class Weights(IWeightNoise):
    def getParameter(self, layer, paramKey, iteration, epoch, train, workspaceMgr):
        pass


@configuration("test.Norm")
class Norm(LayerConstraint):
    def applyConstraint(self, layer, iteration, epoch):
        pass


@pytest.mark.parametrize("kind, said", [
    (Bent, r"Bent must implement define\(self, sd, x\): Add the function to a graph. What it has \(getActivation\) does not"),
    (Loss, r"Loss must implement define\(self, sd, labels, pre_output, activation, mask\): .*computeScore"),
    (SdLoss, r"SdLoss must implement define_loss\(self, sd, layer_input, labels\) \(defineLoss in Java's spelling\)"),
    (Init, r"Init.init\(self, fanIn, fanOut, paramView\) is called with other arguments: init\(self, rng, fan_in"),
    (Noise, r"Noise must implement draw\(self, rng, shape, dtype, iteration, epoch\): .*applyDropout"),
    (Falling, r"Falling must implement value_at\(self, iteration, epoch\) \(valueAt in Java's spelling\): Return the value"),
    (Step, r"Step must implement step\(self, xp, gradient, state, hyper\): .*applyUpdater"),
    (Pre, r"Pre.pre_process\(self, input\) is called with other arguments: pre_process\(self, array"),
    (Weights, r"Weights must implement draw\(.*getParameter"),
    (Norm, r"Norm must implement constrained\(self, xp, param\): .*applyConstraint"),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_networks_could_not_use_is_refused_when_it_is_made(kind, said):
    for make in (kind, kind.Builder().build, lambda: kind.from_document({"@class": kind.java_name})):
        with pytest.raises(ConfigurationError, match=said):
            make()


def test_overrides_in_javas_spelling_count():
    @configuration("test.Half")
    class Half(Schedule):
        def valueAt(self, iteration, epoch):
            return 1 / (1 + iteration)

    @configuration("test.Quartic")
    class Quartic(SameDiffLoss):
        def defineLoss(self, sd, layerInput, labels):
            return sd.math.pow(labels - layerInput, 4.0).mean(1)

    @configuration("test.Doubled")
    class Doubled(InputPreProcessor):
        def getOutputType(self, inputType):
            return InputType.feed_forward(inputType.size * 2)

        def define(self, sd, x):
            return sd.concat(1, x, x)

    assert Half().value_at(3, 0) == 0.25
    assert Quartic().compute_score([[1.0, 0.0]], [[0.0, 0.0]], "identity") == 0.5
    assert Doubled().output_type(InputType.feed_forward(3)) == InputType.feed_forward(6)


def test_one_of_two_methods_is_enough():
    @configuration("test.Quiet")
    class Quiet(IDropout):
        def define(self, sd, x):
            return x

    @configuration("test.Whole")
    class Whole(SameDiffLoss):
        def define(self, sd, labels, pre_output, activation, mask=None):
            return (labels - pre_output).sum(1)

    assert Quiet() != Dropout(0.5) and Whole().compute_score([[1.0]], [[0.0]], ActivationTanH()) == 1


def test_nodes_of_a_preprocessor_are_enough_for_arrays():
    @configuration("test.Doubled2")
    class Doubled(InputPreProcessor):
        def output_type(self, input_type):
            return input_type

        def define(self, sd, x, batch=None):
            return x * 2.0
    assert Doubled().preProcess(np.ones(3), 1).tolist() == [2, 2, 2]
