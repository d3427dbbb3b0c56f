"""Memory and time of a step before it has run."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import ConvolutionLayer, DenseLayer, InputType, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.plans.backend import backend_of
from dl4py.samediff.plans.machine_peak import MachinePeak


def test_a_step_of_a_known_network(monkeypatch):
    monkeypatch.setattr(type(backend_of()), "peak", lambda self, dtype: MachinePeak(1e9, 1e9))
    layers = DenseLayer(n_in=4, n_out=8, activation="tanh"), OutputLayer(n_in=8, n_out=3)
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().updater("adam").list(*layers).build()).init()
    one, two = net.estimate(10), net.estimate(20, InputType.feed_forward(4))
    assert one.memory | {"Working memory": 0} == {"Parameters": 268, "Gradients": 268, "Updater state": 536, "Inputs and labels": 280,
                                                 "Working memory": 0}
    profile = net.profile(DataSet(np.zeros((10, 4), "f4"), np.zeros((10, 3), "f4")), steps=1)
    assert one.flops == sum(s.flops or 0 for s in profile.steps if s.phase != "update")
    assert two.flops == pytest.approx(2 * one.flops, rel=0.1) and two.memory["Working memory"] > one.memory["Working memory"] > 0
    assert one.seconds >= max(one.flops, one.moved) / 1e9 and one.total() == sum(one.memory.values())
    assert "10 examples" in str(one) and "Working memory" in str(one) and net.get_iteration_count() == 0


def test_sizes_that_nobody_knows():
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(ConvolutionLayer(kernel_size=(3, 3), n_in=1, n_out=2)).build()).init()
    for arguments in ((4,), (0, InputType.convolutional(6, 6, 1))):
        with pytest.raises(ConfigurationError, match="estimate needs"):
            net.estimate(*arguments)
