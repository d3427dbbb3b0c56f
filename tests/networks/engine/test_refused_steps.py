"""What a native step refuses: the same error as ever, and neither parameters nor counters of that step."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import LSTM, EmbeddingLayer, EmbeddingSequenceLayer, LastTimeStep, OutputLayer
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, DataSet
from dl4py.samediff.errors import DataTypeError, ShapeError

ROWS, CLASSES = 7, 3
BAD = {"outside": (7, ShapeError, "index 7 is out of range for a table whose number of rows is 7"),
       "negative": (-1, ShapeError, "index -1"),
       "a fraction": (2.5, DataTypeError, "must be a whole number, got 2.5"), "nan": (np.nan, DataTypeError, "got nan")}


def network():
    made = NeuralNetConfiguration.builder().seed(1).updater(Adam(0.01)).list() \
        .layer(EmbeddingLayer(n_in=ROWS, n_out=5, activation="tanh")) \
        .layer(OutputLayer(n_in=5, n_out=CLASSES, activation="softmax")).build()
    net = MultiLayerNetwork(made)
    net.init()
    return net


def batches(count, bad=None, at=None):
    rng = np.random.default_rng(3)
    made = [DataSet(rng.integers(0, ROWS, (4, 1)).astype(np.float32), np.eye(CLASSES, dtype=np.float32)[rng.integers(0, CLASSES, 4)])
            for _ in range(count)]
    if at is not None:
        made[at].features[2, 0] = bad
    return made


def steps(net):
    return [s.way for s in net.profile(batches(1)[0], steps=1).steps]


def test_no_step_is_called_from_python():
    assert not {"kernel", "numpy", "python"} & {*steps(network())}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("at", [0, 7, 11])
def test_a_step_among_several(what, at):
    """Before the first step, among steps taken in one call, and at the last one."""
    bad, kind, text = BAD[what]
    net, twin = network(), network()
    for n in (net, twin):
        n.fit(batches(12), epochs=2)                # these know the way from here on
    with pytest.raises(kind, match=text):
        net.fit(batches(12, bad, at))
    if at:
        twin.fit(batches(12)[:at])
    assert net.get_iteration_count() == twin.get_iteration_count() == 24 + at
    np.testing.assert_array_equal(net.params(), twin.params())
    np.testing.assert_array_equal(net.get_updater_state(), twin.get_updater_state())
    for n in (net, twin):                           # and all goes on as if nothing had been
        n.fit(batches(12))
    np.testing.assert_array_equal(net.params(), twin.params())


def test_outputs():
    net = network()
    for _ in range(3):
        assert net.output(np.ones((2, 1), np.float32)).shape == (2, CLASSES)
        with pytest.raises(ShapeError, match=r"layer 'layer0' \(EmbeddingLayer\): index 9 is out of range"):
            net.output(np.array([[1], [9]], np.float32))


@pytest.mark.slow
def test_a_series_without_a_last_step(rng):
    """Of an example that is masked out entirely zeros are left, and it moves nothing below."""
    made = NeuralNetConfiguration.builder().seed(1).updater(Adam(0.01)).list() \
        .layer(EmbeddingSequenceLayer(n_in=ROWS, n_out=4)).layer(LastTimeStep(LSTM(n_in=4, n_out=4))) \
        .layer(OutputLayer(n_in=4, n_out=CLASSES, activation="softmax")).build()
    net = MultiLayerNetwork(made)
    net.init()
    x, y = rng.integers(0, ROWS, (3, 1, 6)).astype(np.float32), np.eye(CLASSES, dtype=np.float32)
    mask = np.ones((3, 6), np.float32)
    mask[1, 3:] = 0
    for _ in range(3):
        net.fit(x, y, features_mask=mask)
    assert not {"kernel", "numpy", "python"} & {s.way for s in net.profile(DataSet(x, y, mask), steps=1).steps}
    mask[1] = 0
    share = np.exp(net.get_param("2_b").ravel())
    np.testing.assert_allclose(net.output(x, False, mask, None)[1], share / share.sum(), rtol=1e-5)
    net.fit(x, y, features_mask=mask)
    assert np.isfinite(net.params()).all()
