"""Layers as configuration: options, types, sizes, registration."""
from __future__ import annotations

import json

import numpy as np
import pytest

import dl4py.layers as layers
from dl4py.layers import (
    LSTM,
    Activation,
    BatchNormalization,
    Bidirectional,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    Dropout,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    Layer,
    LossFunction,
    LossMSE,
    MaxNormConstraint,
    OutputLayer,
    RNNFormat,
    RnnOutputLayer,
    Subsampling1DLayer,
    SubsamplingLayer,
    WeightInitRelu,
    ZeroPaddingLayer,
    layer,
)
from dl4py.samediff.configuration.classes import registered
from dl4py.samediff.errors import ConfigurationError, RegistrationError, ShapeError
from tests.helpers.networkcheck import network


def test_options_in_all_forms():
    built = (DenseLayer.Builder().nIn(4).nOut(3).activation(Activation.RELU).weightInit("relu").dropOut(0.5).l2(1e-4)
             .constrainWeights(MaxNormConstraint(2.0, 1)).name("first").build())
    same = DenseLayer(n_in=4, n_out=3, activation="relu", weight_init=WeightInitRelu(), dropout=Dropout(0.5), l2=1e-4, layer_name="first",
                      constrain_weights=MaxNormConstraint(2.0, 1))
    assert built == same and built.constraints[0].params == ("W",) and built.dropout == Dropout(0.5)
    assert Layer.from_json(built.to_json()) == built
    assert OutputLayer.Builder(LossFunction.MSE).build().loss_function == LossMSE()


def test_l2_and_weight_decay_replace_each_other():
    made = DenseLayer.Builder().l1(1).l2(1).weightDecay(0.1).build()
    assert [type(r).__name__ for r in made.regularization] == ["L1Regularization", "WeightDecay"]


@pytest.mark.parametrize(("made", "given", "out"), [
    (ConvolutionLayer(kernel_size=3, n_out=8), (28, 28, 1), (26, 26, 8)),
    (ConvolutionLayer(kernel_size=3, n_out=8, stride=2, padding=1), (28, 28, 1), (14, 14, 8)),
    (ConvolutionLayer(kernel_size=3, n_out=8, dilation=2), (28, 28, 1), (24, 24, 8)),
    (ConvolutionLayer(kernel_size=(5, 3), n_out=8, stride=3, convolution_mode="Same"), (28, 28, 1), (10, 10, 8)),
    (SubsamplingLayer(kernel_size=3, stride=2), (28, 28, 4), (13, 13, 4)),
    (ZeroPaddingLayer.Builder(1, 2).build(), (5, 5, 2), (7, 9, 2)),
])
def test_sizes_of_images(made, given, out):
    assert made.output_type(InputType.convolutional(*given)) == InputType.convolutional(*out)


def test_strict_mode_refuses_remainders():
    with pytest.raises(ConfigurationError, match="not whole"):
        ConvolutionLayer(kernel_size=3, stride=2, n_out=1, convolution_mode="Strict").output_type(InputType.convolutional(6, 6, 1))
    with pytest.raises(ConfigurationError, match="does not fit"):
        SubsamplingLayer(kernel_size=9).output_type(InputType.convolutional(6, 6, 1))


@pytest.mark.parametrize("made", [Convolution1DLayer(n_out=2, kernel_size=3), Subsampling1DLayer(kernel_size=3, stride=2)])
def test_lengths_of_series_are_refused_when_they_come(made):
    """Series of any length are taken, whatever the type states."""
    assert made.output_type(InputType.recurrent(4, 2)).time_series_length == -1
    net = network(made, RnnOutputLayer(n_out=2), input_type=InputType.recurrent(4, 2))
    assert np.array(net.output(np.zeros((1, 4, 5)))).shape[1] == 2
    with pytest.raises(ShapeError, match="does not fit"):
        net.output(np.zeros((1, 4, 2)))


def test_sizes_from_input_types():
    assert DenseLayer(n_out=3).set_n_in(InputType.convolutional_flat(4, 5, 2)).n_in == 40
    assert DenseLayer(n_in=7).set_n_in(InputType.feed_forward(3), override=False).n_in == 7
    made = LSTM(n_out=5).set_n_in(InputType.recurrent(3, 7, RNNFormat.NWC))
    assert (made.n_in, made.rnn_data_format) == (3, RNNFormat.NWC)
    assert BatchNormalization().set_n_in(InputType.convolutional(4, 5, 3)).n_out == 3


def test_wrappers_reach_the_wrapped_layer():
    both = Bidirectional(LSTM(n_out=5)).set_n_in(InputType.recurrent(3))
    assert (both.n_in, both.fwd.n_in, both.bwd.n_in, both.n_out) == (3, 3, 3, 10)
    assert both.output_type(InputType.recurrent(3, 7)) == InputType.recurrent(10, 7)
    last = LastTimeStep(LSTM(n_out=5, layer_name="inner"))
    assert last.set_n_in(InputType.recurrent(3)).underlying.n_in == 3
    assert last.output_type(InputType.recurrent(3)) == InputType.feed_forward(5)
    assert Layer.from_json(both.to_json()) == both


def test_preprocessors_by_family():
    image = InputType.convolutional(4, 6, 3)
    assert type(DenseLayer().preprocessor_for(image)).__name__ == "CnnToFeedForwardPreProcessor"
    assert type(LSTM().get_pre_processor_for_input_type(image)).__name__ == "CnnToRnnPreProcessor"
    assert ConvolutionLayer().preprocessor_for(image) is None is GlobalPoolingLayer().preprocessor_for(image)
    with pytest.raises(ConfigurationError):
        LSTM().preprocessor_for(InputType.convolutional3d(1, 2, 3, 4))


def test_every_layer_writes_and_reads_itself():
    for name, cls in registered():
        if issubclass(cls, Layer) and name.startswith("org.deeplearning4j") and not any(f.required for f in cls._fields.values()):
            assert Layer.from_json(cls().to_json()) == cls(), name
            assert cls.__doc__ and cls.__name__ in layers.__all__


def test_user_layer():
    @layer("com.acme.test.Twice")
    class Twice(Layer):
        """2 x."""

        factor: float = 2.0

    assert Layer.from_json(Twice(factor=3).to_json()) == Twice(factor=3)
    assert json.loads(Twice().to_json())["@class"] == "com.acme.test.Twice"
    with pytest.raises(RegistrationError, match=r"DenseLayer.*Mine"):
        @layer("org.deeplearning4j.nn.conf.layers.DenseLayer")
        class Mine(Layer):
            pass
    with pytest.raises(ConfigurationError, match="did you mean 'n_out'"):
        DenseLayer(n_outs=3)
