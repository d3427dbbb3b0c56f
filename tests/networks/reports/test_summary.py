"""Tables of layers with the shapes between them, as DL4J printed them for the types of the recorded inputs."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dl4py.layers import BatchNormalization, DenseLayer, InputType, OutputLayer, PReLULayer
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
