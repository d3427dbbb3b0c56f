"""Options of DL4J before 1.0.0: what is said to who brings them."""
from __future__ import annotations

import pytest

from dl4py.layers import DenseLayer
from dl4py.networks import FineTuneConfiguration, NeuralNetConfiguration
from dl4py.samediff.errors import ConfigurationError

CONF = NeuralNetConfiguration.Builder


@pytest.mark.parametrize("make, said", [
    (lambda: CONF().iterations(1), "NeuralNetConfigurationBuilder has no option 'iterations'; each batch is one iteration"),
    (lambda: CONF(iterations=1), "each batch is one iteration"),
    (lambda: CONF().learningRate(0.1), "learning rates belong to updaters"),
    (lambda: CONF().learningRateDecayPolicy("Step"), "schedules of the updater"),
    (lambda: CONF().regularization(True), "leave it out, l1"),
    (lambda: CONF().useDropConnect(True), "weight_noise"),
    (lambda: CONF().list().backprop(True), "ListBuilder has no option 'backprop'; networks always learn by back-propagation"),
    (lambda: CONF().list().pretrain(False), "leave it out"),
    (lambda: CONF().graph_builder().pretrain(False), "leave it out"),
    (lambda: DenseLayer(n_in=3, n_out=2, learning_rate=0.1), "DenseLayer has no option 'learning_rate'; learning rates belong to updaters"),
    (lambda: DenseLayer.Builder().setMomentum(0.9), "Nesterovs"),
    (lambda: DenseLayer.Builder().regularization(False), "leave it out, l1"),
    (lambda: FineTuneConfiguration.Builder().learningRate(0.1), "FineTuneBuilder has no option 'learningRate'; learning rates"),
    (lambda: CONF().lisst(), "did you mean 'list'"),
    (lambda: CONF().list().setInputTipe(1), "did you mean 'set_input_type'"),
])
def test_the_message_says_what_is_written_today(make, said):
    with pytest.raises(ConfigurationError, match=said):
        make()
