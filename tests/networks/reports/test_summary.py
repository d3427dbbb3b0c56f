"""Tables of layers with the shapes between them, as DL4J printed them for the types of the recorded inputs."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import (
    BatchNormalization,
    DenseLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    InputType,
    LastTimeStep,
    OutputLayer,
    PReLULayer,
    SeparableConvolution2D,
    SimpleRnn,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration

ROOT = Path(__file__).parents[2] / "golden" / "layers"
CASES = sorted(p.parent.name for p in ROOT.glob("*/summary_with_types.txt"))


@pytest.mark.parametrize("name", CASES)
def test_recorded_summaries(name):
    text = (ROOT / name / "configuration.json").read_text()
    with np.load(ROOT / name / "arrays.npz") as arrays:
        types = [InputType.infer(arrays[k]) for k in sorted(arrays) if k.startswith("in/")]
    net = (ComputationGraph if '"vertices"' in text else MultiLayerNetwork)(text).init()
    assert net.summary(*types) == (ROOT / name / "summary_with_types.txt").read_text()


def test_types_of_flat_images_and_volumes():
    conf = (NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_out=3)).layer(OutputLayer(n_out=2))
            .set_input_type(InputType.convolutional_flat(2, 3, 4)).build())
    net = MultiLayerNetwork(conf).init()
    assert "InputTypeConvolutionalFlat(h=2,w=3,d=4)" in net.summary(InputType.convolutional_flat(2, 3, 4))
    volume = InputType.convolutional3d("NDHWC", 1, 2, 3, 4)
    conf = (NeuralNetConfiguration.Builder().list().layer(DenseLayer(n_out=3)).layer(OutputLayer(n_out=2)).set_input_type(volume).build())
    text = MultiLayerNetwork(conf).init().summary(volume)
    assert "InputTypeConvolutional3D(format=NDHWC,d=1,h=2,w=3,c=4)--> InputTypeFeedForward(24)" in text


def test_sizes_that_nobody_set():
    """As DL4J prints them: 0, and a dash where a layer has no such sizes."""
    conf = (NeuralNetConfiguration.Builder().list().layer(BatchNormalization(n_out=5)).layer(PReLULayer(input_shape=(5,)))
            .layer(OutputLayer(n_in=5, n_out=2)).build())
    rows = [line.split() for line in MultiLayerNetwork(conf).init().summary().splitlines()]
    assert [row[2] for row in rows if row and row[0].startswith("layer")] == ["0,5", "-,-", "5,2"]


@pytest.mark.parametrize("inner, kind, row", [
    (PReLULayer(), InputType.feed_forward(3), "Frozen PReLU) -,- 3 W:{3}"),
    (LastTimeStep(SimpleRnn(n_out=2)), InputType.recurrent(3, 4), "Frozen LastTimeStepLayer) 3,2 12 W:{3,2}, RW:{2,2}, b:{2}"),
    (SeparableConvolution2D(n_out=2, kernel_size=2), InputType.convolutional(4, 4, 2),
     "Frozen SeparableConvolution2DLayer) 2,2 14 W:{1,2,2,2}, pW:{2,2,1,1}, b:{2}"),
    (FrozenLayerWithBackprop(PReLULayer()), InputType.feed_forward(3), "Frozen FrozenLayerWithBackprop) -,- 3 W:{3}")])
def test_frozen_layers_are_shown_as_those_inside(inner, kind, row):
    """As DL4J prints them; parameters are listed in the order of the layer inside, in tables of parameters too."""
    conf = NeuralNetConfiguration.Builder().list().layer(FrozenLayer(inner)).layer(OutputLayer(n_out=2)).set_input_type(kind).build()
    net = MultiLayerNetwork(conf).init()
    found = [" ".join(line.split()) for line in net.summary().splitlines()]
    assert f"layer0 ({row}" in found
    names = [part.split(":")[0] for part in row.split(" ", 4)[4].split(", ")]
    assert [n.removeprefix("0_") for n in net.param_table() if n.startswith("0_")] == names
