"""Updater state of separable and depthwise convolutions whose bias has an updater of its own, as DL4J's files have it."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, DepthwiseConvolution2D, InputType, OutputLayer, SeparableConvolution2D
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.engine.state_layout import ENTRY, from_file, to_file
from dl4py.networks.files.model_zip import read_model_zip
from dl4py.samediff import DataSet
from dl4py.samediff.training import Adam, Nesterovs


def network(kind, bias_updater):
    conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01)).bias_updater(bias_updater).list(
        kind(n_out=2, kernel_size=(2, 2)), DenseLayer(n_out=3, activation="tanh"), OutputLayer(n_out=2))
    net = MultiLayerNetwork(conf.set_input_type(InputType.convolutional(3, 3, 2)).build()).init()
    rng = np.random.default_rng(3)
    net.fit(DataSet(rng.normal(size=(4, 2, 3, 3)).astype("f4"), np.eye(2, dtype="f4")[[0, 1, 0, 1]]))
    return net


@pytest.mark.parametrize("kind", [SeparableConvolution2D, DepthwiseConvolution2D])
def test_state_survives_and_is_never_mixed_up(kind, tmp_path):
    net = network(kind, Nesterovs(0.1, 0.9))
    engine, before = net.engine, net.engine.flat.state.copy()
    stored, extra = to_file(engine)
    assert stored.size == engine.flat.state.size
    found = from_file(engine, stored)                       # as Java saves it, without the further entry
    kept = found == engine.flat.state
    assert 0.5 * kept.size < kept.sum() < kept.size         # all but what lies under the other updater
    engine.flat.state[...] = found
    for name, state in engine.flat.state_by_parameter().items():
        if isinstance(next(s.updater for s in engine.parameters.slots if s.name == name), Adam):
            assert (state["V"] >= 0).all()                  # a second moment is never something else of somebody else
    np.testing.assert_array_equal(from_file(engine, stored, extra), before)
    again = network(kind, Nesterovs(0.1, 0.9))
    again.save(tmp_path / "m.zip")
    assert ENTRY in read_model_zip(tmp_path / "m.zip").extra
    np.testing.assert_array_equal(MultiLayerNetwork.load(tmp_path / "m.zip").updater_state(), before)


def test_one_updater_needs_no_change():
    net = network(SeparableConvolution2D, Adam(0.01))
    stored, extra = to_file(net.engine)
    assert stored is net.engine.flat.state
    assert extra == {}
