"""Labels that are class indices: what is none is refused by both executors; a device, where nothing can be raised, gives NaN."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import DenseLayer, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet
from dl4py.samediff.errors import DataTypeError, ShapeError
from tests.samediff.cuda.support import needs_compiler

X = np.ones((2, 3), np.float32)
BAD = [np.nan, np.inf, 1.5, 3.0, -1.0]


def network() -> MultiLayerNetwork:
    return MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list(
        DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=3, activation="softmax", loss_function="sparse_mcxent")).build()).init()


def batch(label: float) -> DataSet:
    return DataSet(X, np.array([[0], [label]], np.float32))


@pytest.mark.parametrize("executor", ["plan", "reference"])
@pytest.mark.parametrize("label", BAD)
def test_refused(label, executor, monkeypatch):
    monkeypatch.setenv("DL4PY_EXECUTOR", executor)
    net = network()
    before = np.array(net.params())
    whole = float(label).is_integer()
    with pytest.raises(ShapeError if whole else DataTypeError, match="LossSparseMCXENT: label .*" + ("out of range" if whole else "whole")):
        net.fit(batch(label))
    assert np.array_equal(net.params(), before) and net.get_iteration_count() == 0


@pytest.mark.sampled(6)
@pytest.mark.plans
@needs_compiler
@pytest.mark.parametrize("label", [*BAD, 2.0])
def test_on_a_device(label):
    there, here = network().to("emulated"), network()
    there.fit(batch(label))
    assert np.isnan(there.score()) == (label in BAD or np.isnan(label))
    if label == 2.0:
        here.fit(batch(label))
        assert there.score() == pytest.approx(here.score())
