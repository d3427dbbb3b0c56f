"""What dl4py's checks say of the parts, and what the parts are by their definition."""
import numpy as np
import pytest
from modern_parts import Lion, RmsNorm, RotaryAttention, SwiGlu, attention, rms_norm, rotary, swiglu

from dl4py.layers import InputType, RnnOutputLayer, check_layer, check_updater
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff.data import DataSet
from dl4py.udf import check_op

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(3, 2, 3, 4))


@pytest.mark.parametrize(("op", "inputs"), [
    (rms_norm, [Q[0], np.array([1.0, 0.5, 2.0, -1.0])]),
    (swiglu, [Q[0], K[0]]),
    (rotary, [Q]),
    (attention, [Q, K, V, np.array([[True, True, False], [True, True, True]])]),
], ids=lambda v: getattr(v, "id", ""))
def test_ops(op, inputs):
    check_op(op, inputs).raise_if_failed()


@pytest.mark.parametrize(("layer", "kind"), [
    (RmsNorm(), InputType.feed_forward(4)),
    (SwiGlu(n_out=3, hidden=5), InputType.feed_forward(4)),
    (RotaryAttention(), InputType.recurrent(4)),
], ids=lambda v: type(v).__name__)
def test_layers(layer, kind):
    check_layer(layer, kind).raise_if_failed()


def test_lion():
    check_updater(Lion(0.01)).raise_if_failed()


def test_rotary_scores_depend_on_distances_alone():
    q, k = np.ones((6, 4)) * RNG.normal(size=4), np.ones((6, 4)) * RNG.normal(size=4)
    scores = rotary(q) @ rotary(k).T
    for distance in range(-5, 6):
        np.testing.assert_allclose(np.diagonal(scores, distance), np.diagonal(scores, distance)[0])


def test_what_the_mask_hides_changes_nothing():
    mask, other = np.array([[1.0, 1.0, 0.0]] * 2), V.copy()
    other[:, 2] += 10
    np.testing.assert_allclose(attention(Q, K, other, mask), attention(Q, K, V, mask))


def test_a_network_of_all_parts_learns_and_is_saved(tmp_path):
    x = RNG.normal(size=(16, 4, 5))
    y = np.stack([np.cumsum(x[:, 0], 1) > 0, np.cumsum(x[:, 0], 1) <= 0], 1).astype(float)
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Lion(0.003))
            .list(RotaryAttention(), RmsNorm(), SwiGlu(n_out=4, hidden=8), RnnOutputLayer(n_out=2))
            .set_input_type(InputType.recurrent(4)).build())
    net = MultiLayerNetwork(conf).init()
    before = net.score(DataSet(x, y))
    net.fit(x, y, epochs=60)
    assert net.score(DataSet(x, y)) < 0.7 * before
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again == net
    np.testing.assert_array_equal(again.output(x), net.output(x))


