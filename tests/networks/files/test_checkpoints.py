"""Networks back from the checkpoints of their training."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import CheckpointListener, load_checkpoint
from tests.helpers.networkcheck import network

X = np.random.default_rng(3).normal(size=(6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]


def test_networks_of_checkpoints(tmp_path):
    net = network(DenseLayer(n_in=4, n_out=5), OutputLayer(n_in=5, n_out=3))
    net.set_listeners(CheckpointListener(tmp_path, save_every_n_epochs=1, log_saving=False))
    net.fit(X, Y, batch_size=3, epochs=2)
    newest = CheckpointListener.loadLastCheckpointMLN(tmp_path)
    np.testing.assert_array_equal(newest.params(), net.params())
    assert newest.get_iteration_count() == 4
    for same in (CheckpointListener.load_checkpoint_mln(tmp_path, 1), CheckpointListener.load_checkpoint(tmp_path),
                 load_checkpoint(tmp_path, 1)):
        np.testing.assert_array_equal(same.params(), net.params())
    assert not np.array_equal(CheckpointListener.load_checkpoint_mln(tmp_path, 0).params(), net.params())
    with pytest.raises(ConfigurationError, match="holds a MultiLayerNetwork, not a ComputationGraph"):
        CheckpointListener.load_last_checkpoint_cg(tmp_path)
    with pytest.raises(ConfigurationError, match="no checkpoint 7; there are: 0, 1"):
        CheckpointListener.load_checkpoint_mln(tmp_path, 7)
