"""Scores of several outputs, and label masks with an entry per output."""
import numpy as np
import pytest

from dl4py.layers import (
    CnnLossLayer,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    UnstackVertex,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, DataType, MultiDataSet
from dl4py.samediff.errors import ShapeError


def builder(**options):
    found = NeuralNetConfiguration.Builder().seed(2).data_type(DataType.DOUBLE)
    for name, value in options.items():
        getattr(found, name)(value)
    return found


def test_only_layers_that_always_average_do_without_mini_batch():
    rng = np.random.default_rng(0)
    images, rows = rng.normal(size=(4, 2, 3, 3)), rng.normal(size=(4, 3))
    labels = [rng.normal(size=(4, 2, 3, 3)), rng.normal(size=(4, 2))]
    conf = (builder(mini_batch=False).graph_builder().add_inputs("a", "b")
            .add_layer("images", CnnLossLayer(loss_function="l2", activation="identity"), "a")
            .add_layer("rows", OutputLayer(n_out=2, loss_function="l2", activation="identity"), "b").set_outputs("images", "rows")
            .set_input_types(InputType.convolutional(3, 3, 2), InputType.feed_forward(3)).build())
    net = ComputationGraph(conf).init()
    losses = [np.sum((o - y) ** 2) for o, y in zip(net.output(images, rows), labels)]
    data = MultiDataSet([images, rows], labels)
    assert net.score(data) == pytest.approx(losses[0] / 4 + losses[1])
    net.fit(data)
    assert net.score() == pytest.approx(losses[0] / 4 + losses[1])


def test_each_output_is_averaged_over_its_own_rows():
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(4, 3)), rng.normal(size=(4, 3))]
    labels = [rng.normal(size=(2, 2)), rng.normal(size=(4, 2))]
    layer = {"n_in": 3, "n_out": 2, "loss_function": "l2", "activation": "identity"}
    conf = (builder().graph_builder().add_inputs("a", "b").add_vertex("half", UnstackVertex(1, 2), "a")
            .add_layer("few", OutputLayer(**layer), "half").add_layer("all", OutputLayer(**layer), "b").set_outputs("few", "all").build())
    net = ComputationGraph(conf).init()
    losses = [np.sum((o - y) ** 2) for o, y in zip(net.output(*x), labels)]
    assert net.score(MultiDataSet(x, labels)) == pytest.approx(losses[0] / 2 + losses[1] / 4)
    with pytest.raises(ShapeError, match="4 and 2 examples|2 and 4 examples"):
        net.score_examples(MultiDataSet(x, labels))


@pytest.mark.parametrize("series", [False, True])
def test_masked_outputs_enter_a_softmax_as_zeros(series):
    rng = np.random.default_rng(3)
    steps, batch = (4, 2) if series else (1, 5)
    x, y = rng.normal(size=(batch, steps, 4)), rng.dirichlet(np.ones(3), (batch, steps))
    mask = (rng.random(y.shape) < 0.6).astype(float)
    options = {"n_in": 4, "n_out": 3, "loss_function": "l2", "activation": "softmax"}
    layer = RnnOutputLayer(**options) if series else OutputLayer(**options)
    net = MultiLayerNetwork(builder().list(layer).build()).init()
    arrays = [a.transpose(0, 2, 1) if series else a[:, 0] for a in (x, y, mask)]
    data = DataSet(*arrays[:2], None, arrays[2])

    def score():
        z = (x @ net.get_param("0_W") + net.get_param("0_b")) * mask
        p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
        return (mask * (p - y) ** 2).sum()

    assert net.score(data) * batch == pytest.approx(score())
    net.set_input(data.features)
    net.set_labels(data.labels)
    net.set_layer_mask_arrays(None, data.labels_mask)
    net.compute_gradient_and_score()
    found, start = np.ravel(net.gradient().gradient()).copy(), net.params().copy()
    for k in range(len(start)):
        ends = []
        for step in (1e-6, -1e-6):
            net.set_params(start + step * (np.arange(len(start)) == k))
            ends.append(score())
        assert found[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)
