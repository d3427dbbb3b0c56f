"""Networks of 16 bits: every updater keeps their parameters finite and lowers the score."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, RmsProp, Sgd
from dl4py.samediff.training import AdaBelief

RNG = np.random.default_rng(3)
X = RNG.normal(size=(24, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[np.argmax(X[:, :3], axis=1)]
UPDATERS = [Adam(0.02), AMSGrad(0.02), AdaMax(0.02), Nadam(0.002), AdaBelief(0.02), AdaGrad(0.1), RmsProp(0.01), AdaDelta(), Sgd(0.2),
            Nesterovs(0.1, 0.9)]


@pytest.mark.parametrize("dtype", ["HALF", "BFLOAT16"])
@pytest.mark.parametrize("updater", UPDATERS, ids=lambda u: type(u).__name__)
def test_network_of_16_bits_trains(updater, dtype):
    conf = (NeuralNetConfiguration.Builder().seed(5).data_type(dtype).updater(updater).activation("tanh")
            .list(DenseLayer(n_in=4, n_out=8), OutputLayer(n_in=8, n_out=3)).build())
    net = MultiLayerNetwork(conf).init()
    scores = []
    for _ in range(40):
        net.fit(X, Y)
        scores.append(net.score())
    assert np.isfinite(net.params().astype(np.float32)).all()
    assert np.isfinite(scores).all()
    assert scores[-1] < (0.7 if not isinstance(updater, AdaDelta) else 0.99) * scores[0]
    assert net.get_updater().state_view().dtype == net.params().dtype
