"""Constructors with arguments in DL4J's order, and what DL4J makes of them: a row for each that is not the order of the fields."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dl4py import (
    LSTM,
    ActivationCube,
    AutoEncoder,
    BatchNormalization,
    BestScoreEpochTerminationCondition,
    DropConnect,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    Layer,
    LocalResponseNormalization,
    LossBinaryXENT,
    LossMCXENT,
    MaxNormConstraint,
    MinMaxNormConstraint,
    NonNegativeConstraint,
    PerformanceListener,
    PrimaryCapsules,
    Sgd,
    SpaceToDepthLayer,
    StepSchedule,
    TimeIterationListener,
)

#: What is made, and the values that it has.
MADE: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "gamma, beta": (lambda: BatchNormalization.Builder(0.5, 0.25).build(), {"gamma": 0.5, "beta": 0.25, "decay": 0.9}),
    "gamma, beta, locked": (lambda: BatchNormalization.Builder(0.5, 0.25, True).build(),
        {"gamma": 0.5, "beta": 0.25, "lockGammaBeta": True}),
    "locked": (lambda: BatchNormalization.Builder(True).build(), {"lockGammaBeta": True, "decay": 0.9}),
    "decay, minibatch": (lambda: BatchNormalization.Builder(0.5, False).build(), {"decay": 0.5, "minibatch": False, "gamma": 1.0}),
    "k, alpha, beta": (lambda: LocalResponseNormalization.Builder(0.5, 0.25, 0.125).build(),
        {"k": 0.5, "n": 5.0, "alpha": 0.25, "beta": 0.125}),
    "k, n, alpha, beta": (lambda: LocalResponseNormalization.Builder(0.5, 3, 0.25, 0.125).build(),
        {"n": 3.0, "alpha": 0.25, "beta": 0.125}),
    "width, height": (lambda: FeedForwardToCnnPreProcessor(2, 3), {"inputHeight": 3, "inputWidth": 2, "numChannels": 1}),
    "height, width, channels": (lambda: FeedForwardToCnnPreProcessor(2, 3, 4), {"inputHeight": 2, "inputWidth": 3, "numChannels": 4}),
    "named sizes": (lambda: FeedForwardToCnnPreProcessor(input_height=2, input_width=3), {"inputHeight": 2, "inputWidth": 3}),
    "depth, width, height": (lambda: FeedForwardToCnn3DPreProcessor(2, 3, 4), {"inputDepth": 2, "inputHeight": 4, "inputWidth": 3}),
    "depth to channels": (lambda: FeedForwardToCnn3DPreProcessor(2, 3, 4, 5, False), {"inputHeight": 3, "inputWidth": 4, "isNCDHW": False}),
    "clip": (lambda: LossBinaryXENT(0.5), {"clip_eps": 0.5, "weights": None}),
    "clip and weights": (lambda: LossMCXENT(0.25, [1.0, 2.0]), {"softmax_clip_eps": 0.25, "weights": [1.0, 2.0]}),
    "weights": (lambda: LossBinaryXENT(np.array([1.0, 2.0])), {"clip_eps": 1e-5, "weights": [1.0, 2.0]}),
    "share and biases": (lambda: DropConnect(0.5, True), {"weight_retain_prob": 0.5, "apply_to_biases": True}),
    "share by a schedule": (lambda: DropConnect(StepSchedule("EPOCH", 0.5, 0.5, 2), True), {"apply_to_biases": True}),
    "min, max, dimension": (lambda: MinMaxNormConstraint(0.5, 2.0, 1), {"min": 0.5, "max": 2.0, "rate": 1.0, "dimensions": (1,)}),
    "min, max, dimensions": (lambda: MinMaxNormConstraint(0.5, 2.0, [1, 2]), {"rate": 1.0, "dimensions": (1, 2)}),
    "min, max, rate, dimension": (lambda: MinMaxNormConstraint(0.5, 2.0, 0.25, 1), {"rate": 0.25, "dimensions": (1,)}),
    "corruption, sparsity": (lambda: AutoEncoder.Builder(0.5, 0.25).build(), {"corruption_level": 0.5, "sparsity": 0.25}),
    "capsules": (lambda: PrimaryCapsules.Builder(2, 3, [4, 4], [5, 5], [6, 6], [7, 7]).build(),
        {"kernelSize": (4, 4), "padding": (6, 6), "dilation": (7, 7)}),
    "frequency, iterations": (lambda: TimeIterationListener(2, 30), {"frequency": 2, "iteration_count": 30}),
    "iterations": (lambda: TimeIterationListener(30), {"frequency": 1, "iteration_count": 30}),
    "iterations by name": (lambda: TimeIterationListener(iteration_count=30, frequency=2), {"frequency": 2, "iteration_count": 30}),
    "garbage collection": (lambda: PerformanceListener(2, True, True), {"frequency": 2, "report_score": True, "report_time": True}),
    "lesser is better": (lambda: BestScoreEpochTerminationCondition(0.5, True), {"best_expected_score": 0.5}),
    "a nested format": (lambda: SpaceToDepthLayer.Builder(2, SpaceToDepthLayer.DataFormat.NHWC).build(), {"block_size": 2}),
    "a rate": (lambda: Sgd(0.1), {"learning_rate": 0.1}),
}


@pytest.mark.parametrize("made", MADE)
def test_arguments_are_those_of_dl4j(made):
    make, values = MADE[made]
    found = make()
    assert {name: _plain(getattr(found, name)) for name in values} == values


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("layer, recurrent, inputs", [
    (LSTM, {"RW"}, {"W"}), (GravesLSTM, {"RW"}, {"W"}), (GravesBidirectionalLSTM, {"RWF", "RWB"}, {"WF", "WB"})])
def test_constraints_of_recurrent_layers(layer, recurrent, inputs):
    builder = layer.Builder().nIn(2).nOut(3).constrainRecurrent(NonNegativeConstraint())
    made = builder.constrainInputWeights(MaxNormConstraint(1.0, 1)).build()
    assert [(type(one), set(one.params)) for one in made.constraints] == [(NonNegativeConstraint, recurrent), (MaxNormConstraint, inputs)]


def test_learning_rates_have_both_getters():
    rate = StepSchedule("ITERATION", 0.5, 0.1, 10)
    assert Sgd(0.1).getLearningRate() == Sgd(0.1).getLearningRate(3, 0) == 0.1
    assert Sgd(rate).getLearningRate(20, 0) == pytest.approx(0.005) == Sgd(rate).get_learning_rate(20, 0)


def test_types_of_inputs_have_kinds():
    kinds = [InputType.feedForward(2), InputType.recurrent(2), InputType.convolutional(2, 2, 1), InputType.convolutionalFlat(2, 2, 1),
             InputType.convolutional3D(2, 2, 2, 1)]
    names = ["FF", "RNN", "CNN", "CNNFlat", "CNN3D"]
    assert [one.getType() for one in kinds] == InputType.Type.values() == [InputType.Type.valueOf(name) for name in names]
    assert isinstance(kinds[1], InputType.InputTypeRecurrent) and InputType.inferInputType(np.zeros((3, 2))) == kinds[0]
    assert InputType.inferInputTypes(np.zeros((3, 2)), np.zeros((3, 4, 5))) == [InputType.feed_forward(2), InputType.recurrent(4, 5)]
    assert Layer.TrainingMode.TRAIN and not Layer.TrainingMode.TEST and ActivationCube() == ActivationCube()
