"""Networks: files, copies, parameters, learning rates, state of series, evaluation, listeners, exact gradients."""
from __future__ import annotations

import io
import threading

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    Bidirectional,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    GravesLSTM,
    InputType,
    LastTimeStep,
    MergeVertex,
    OutputLayer,
    PReLULayer,
    RnnOutputLayer,
    SimpleRnn,
    SubsamplingLayer,
    TimeDistributed,
)
from dl4py.networks import ComputationGraph, ModelSerializer, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, DataSet, ExistingDataSetIterator, ListDataSetIterator, Listener, MultiDataSet, Nesterovs, Sgd
from dl4py.samediff.errors import GraphError, ShapeError, UnknownNameError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 12)]


def dense(updater=None, dtype="FLOAT", **options):
    builder = NeuralNetConfiguration.Builder().seed(5).data_type(dtype).updater(updater or Adam(0.05)).activation("tanh")
    for name, value in options.items():
        builder = getattr(builder, name)(value)
    return MultiLayerNetwork(builder.list(DenseLayer(n_in=4, n_out=5, layer_name="hidden"), OutputLayer(n_in=5, n_out=3)).build()).init()


def branched(updater=None):
    conf = (NeuralNetConfiguration.Builder().seed(5).updater(updater
                                                             or Nesterovs(0.1, 0.9)).activation("tanh").graph_builder().add_inputs("a", "b")
            .add_layer("da", DenseLayer(n_in=4, n_out=3), "a").add_layer("db", DenseLayer(n_in=2, n_out=3), "b")
            .add_vertex("sum", ElementWiseVertex("Add"), "da", "db").add_vertex("both", MergeVertex(), "sum", "a")
            .add_layer("out", OutputLayer(n_in=7, n_out=3), "both").set_outputs("out").build())
    return ComputationGraph(conf).init()


def multi():
    return MultiDataSet([X, X[:, :2]], [Y])


KINDS = {"list": (dense, lambda: DataSet(X, Y), MultiLayerNetwork.load), "graph": (branched, multi, ComputationGraph.load)}


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_alike_after_a_file_and_in_a_copy(kind, tmp_path):
    make, data, load = KINDS[kind]
    net = make()
    for _ in range(3):
        net.fit(data())
    net.increment_epoch_count()
    net.save(tmp_path / "net.zip")
    stream = io.BytesIO()
    ModelSerializer.write_model(net, stream)
    stream.seek(0)
    restore = ModelSerializer.restore_multi_layer_network if kind == "list" else ModelSerializer.restore_computation_graph
    others = [load(tmp_path / "net.zip"), net.clone(), restore(stream)]
    without = load(tmp_path / "net.zip", False)
    assert not without.get_updater().state_view().any() and without == net
    for other in others:
        assert other == net and type(other) is type(net)
        assert np.array_equal(other.get_updater().state_view(), net.get_updater().state_view())
        assert (other.get_iteration_count(), other.get_epoch_count()) == (3, 1)
    for _ in range(3):
        for each in (net, *others):
            each.fit(data())
    for other in others:
        assert np.array_equal(other.params(), net.params()) and other.score() == net.score()
    without.fit(data())
    assert not np.array_equal(without.params(), net.params())


def test_learning():
    net = dense()
    first = net.score(DataSet(X, Y))
    net.fit(ListDataSetIterator(list(DataSet(X, Y).as_list()), 4), 30)
    assert net.score(DataSet(X, Y)) < 0.3 * first and net.get_iteration_count() == 90 and net.get_epoch_count() == 30
    assert net.evaluate(DataSet(X, Y)).accuracy() > 0.9
    assert (net.predict(X) == Y.argmax(1)).mean() == pytest.approx(net.evaluate(DataSet(X, Y)).accuracy())
    assert net.evaluate(ExistingDataSetIterator([DataSet(X, Y)])).accuracy() == net.evaluate([DataSet(X[:5], Y[:5]),
        DataSet(X[5:], Y[5:])]).accuracy()


def test_same_seed_same_training():
    a, b = dense(), dense()
    assert np.array_equal(a.params(), b.params())
    a.fit(X, Y)
    b.fit(DataSet(X, Y))
    assert np.array_equal(a.params(), b.params()) and np.array_equal(a.output(X), b.output(X))


def test_parameters_by_name():
    net = dense()
    assert list(net.param_table()) == ["0_W", "0_b", "1_W", "1_b"] and net.num_params() == 43 == net.params().size
    for vector in (net.params(), net.get_layer(0).params()):
        with pytest.raises(GraphError, match="set_params"):
            vector[:] = 0
        with pytest.raises(GraphError, match="set_params"):
            vector -= 1
        vector.copy()[:] = 0
    assert net.params().any() and (net.params() - 1).flags.writeable
    net.set_param("1_b", [1, 2, 3])
    assert net.get_param("1_b").tolist() == [1, 2, 3] and net.params()[-3:].tolist() == [1, 2, 3]
    net.get_param("1_W")[...] = 0
    assert np.allclose(net.output(X), np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum(), atol=1e-6)
    net.set_param_table({"0_W": np.ones((4, 5)), "0_b": np.zeros(5)})
    assert net.get_param("0_W").sum() == 20
    before = net.params()
    with pytest.raises(UnknownNameError, match="did you mean .*'0_W'"):
        net.set_param("0_w", 1)
    with pytest.raises(ShapeError, match=r"'0_W'.*\(4, 5\).*\(3,\)"):
        net.set_param("0_W", [1, 2, 3])
    with pytest.raises(ShapeError, match="43.*5"):
        net.set_params(np.zeros(5))
    assert np.array_equal(net.params(), before)


def test_learning_rates():
    net = dense(Sgd(0.5))
    assert net.get_learning_rate(0) == net.get_learning_rate("hidden") == 0.5
    net.set_learning_rate(0, 0.0)
    before = net.params()
    net.fit(X, Y)
    assert np.array_equal(net.params()[:25], before[:25]) and not np.array_equal(net.params()[25:], before[25:])
    net.set_learning_rate(0.0)
    before = net.params()
    net.fit(X, Y)
    assert np.array_equal(net.params(), before)
    with pytest.raises(UnknownNameError, match="did you mean 'hidden'"):
        net.set_learning_rate("hiden", 0.1)
    with pytest.raises(GraphError, match="2 layers"):
        net.get_learning_rate(7)


def test_a_new_learning_rate_keeps_the_state():
    one, two = dense(Adam(0.01)), dense(Adam(0.01))
    for net in (one, two):
        net.fit(X, Y)
        net.fit(X, Y)
    one.set_learning_rate(0.01)
    one.fit(X, Y)
    two.fit(X, Y)
    assert np.allclose(one.params(), two.params(), atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_new_learning_rates_are_in_copies_and_files(kind, tmp_path):
    make, data, load = KINDS[kind]
    net = make()
    net.fit(data())
    net.set_learning_rate(0.0)
    net.save(tmp_path / "net.zip")
    for each in (net, net.clone(), load(tmp_path / "net.zip")):
        assert each.get_learning_rate(0) == 0.0 and each == net


@pytest.mark.parametrize("layer", [LSTM(n_in=3, n_out=4), SimpleRnn(n_in=3, n_out=4), GravesLSTM(n_in=3, n_out=4)],
                         ids=lambda v: type(v).__name__)
def test_steps_of_series(layer):
    conf = NeuralNetConfiguration.Builder().seed(2).activation("tanh").list(layer, RnnOutputLayer(n_in=4, n_out=2)).build()
    net = MultiLayerNetwork(conf).init()
    x = np.random.default_rng(0).normal(size=(2, 3, 6)).astype(np.float32)
    whole = net.output(x)
    parts = [net.rnn_time_step(x[:, :, :2]), net.rnn_time_step(x[:, :, 2])[:, :, None], net.rnn_time_step(x[:, :, 3:])]
    np.testing.assert_allclose(np.concatenate(parts, 2), whole, atol=1e-6)
    kept = net.rnn_get_previous_state(0)
    with pytest.raises(GraphError, match="2 series, the input has 1"):
        net.rnn_time_step(x[:1])
    again = net.rnn_time_step(x)
    net.rnn_set_previous_state(0, kept)
    np.testing.assert_array_equal(net.rnn_time_step(x), again)
    net.rnn_clear_previous_state()
    np.testing.assert_allclose(net.rnn_time_step(x), whole, atol=1e-6)


def test_scores():
    net = dense(l2=0.01)
    d = DataSet(X, Y)
    each, penalty = net.score_examples(d), net.calc_regularization_score()
    assert each.shape == (12,) and penalty > 0
    assert net.score(d) == pytest.approx(each.mean() + penalty, rel=1e-5)
    np.testing.assert_allclose(net.score_examples(d, True), each + penalty, rtol=1e-5)
    np.testing.assert_allclose(net.score_examples(ListDataSetIterator(d.as_list(), 5)), each, rtol=1e-6)
    before = net.score()
    net.fit(d)
    assert net.score() == pytest.approx(each.mean() + penalty, rel=1e-5) and before == 0


class Order(Listener):
    """Notes which hook was called, in which state."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def on_epoch_start(self, model):
        self.log.append((self.name, "start", model.get_iteration_count(), model.get_epoch_count()))

    def on_epoch_end(self, model):
        self.log.append((self.name, "end", model.get_iteration_count(), model.get_epoch_count()))

    def iteration_done(self, model, iteration, epoch):
        self.log.append((self.name, "done", iteration, epoch))


def test_listeners_hear_in_order():
    net, log = dense(), []
    net.set_listeners(Order("a", log))
    net.add_listeners(Order("b", log))
    data = [DataSet(X[:6], Y[:6]), DataSet(X[6:], Y[6:])]
    net.fit(data, 2)
    firsts = [e for e in log if e[0] == "a"]
    assert [e[1] for e in firsts] == ["start", "done", "done", "end"] * 2
    assert [e[2:] for e in firsts if e[1] == "done"] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert [e for e in log if e[0] == "b"] == [("b", *e[1:]) for e in firsts]
    assert all(log[i][0] == "a" and log[i + 1][0] == "b" for i in range(0, len(log), 2))
    assert (net.get_iteration_count(), net.get_epoch_count()) == (4, 2) and len(net.get_listeners()) == 2
    net.set_listeners([])
    net.fit(data[0])
    assert net.get_listeners() == [] and (net.get_iteration_count(), net.get_epoch_count()) == (5, 2)


def test_threads_share_a_network():
    net, wrong = dense(), []
    wanted = {n: net.output(X[:n]) for n in range(1, 9)}

    def work(k):
        for i in range(40):
            n = (i + k) % 8 + 1
            if not np.array_equal(net.output(X[:n]), wanted[n]):
                wrong.append(n)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# Exact gradients: central differences in double precision

T = RNG.normal(size=(3, 2, 5))
IMAGES = RNG.normal(size=(3, 2, 6, 6))
LABELS, SERIES = np.eye(2)[[0, 1, 1]], np.eye(2)[RNG.integers(0, 2, (3, 5))].transpose(0, 2, 1)
ZOO = {
    "dense": (X[:3], LABELS, [DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)], None),
    "layer norm, mse": (X[:3], LABELS,
                        [DenseLayer(n_in=4, n_out=3, has_layer_norm=True),
                         OutputLayer(n_in=3, n_out=2, loss_function="mse", activation="sigmoid")], None),
    "batch norm": (X[:3], LABELS, [DenseLayer(n_out=4), BatchNormalization(), ActivationLayer("softplus"), OutputLayer(n_out=2)],
                   InputType.feed_forward(4)),
    "prelu, xent": (X[:3], LABELS, [DenseLayer(n_out=4), PReLULayer(), OutputLayer(n_out=2, loss_function="xent", activation="sigmoid")],
                    InputType.feed_forward(4)),
    "images": (IMAGES, LABELS,
               [ConvolutionLayer(kernel_size=(3, 2), n_out=2, convolution_mode="Same"),
                SubsamplingLayer(kernel_size=2, stride=2, pooling_type="AVG"),
                                ConvolutionLayer(kernel_size=2, stride=(2, 1), n_out=2), OutputLayer(n_out=2)],
                                InputType.convolutional(6, 6, 2)),
    "lstm": (T, SERIES, [LSTM(n_out=3), RnnOutputLayer(n_out=2)], InputType.recurrent(2)),
    "bidirectional": (T, SERIES, [Bidirectional(GravesLSTM(n_out=2)), TimeDistributed(DenseLayer(n_out=3)), RnnOutputLayer(n_out=2)],
                      InputType.recurrent(2)),
    "last step": (T, LABELS, [LastTimeStep(SimpleRnn(n_out=3)), OutputLayer(n_out=2)], InputType.recurrent(2)),
    "pooled series": (T, LABELS, [LSTM(n_out=3), GlobalPoolingLayer(pooling_type="PNORM", pnorm=3), OutputLayer(n_out=2)],
                      InputType.recurrent(2)),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", ZOO)
def test_gradients(name):
    x, y, layers, kind = ZOO[name]
    x = x.astype(np.float64)
    builder = NeuralNetConfiguration.Builder().seed(4).data_type("DOUBLE").updater(Sgd(0.1)).activation("tanh").list(*layers)
    net = MultiLayerNetwork((builder.set_input_type(kind) if kind is not None else builder).build()).init()
    rng = np.random.default_rng(1)
    start = net.params() + rng.normal(scale=0.1, size=net.num_params())
    net.set_params(start)
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    found, named = net.gradient().gradient().copy(), net.gradient().gradient_for_variable()
    skip = np.concatenate([np.full(a.size, k.endswith(("_mean", "_var", "_log10stdev"))) for k, a in named.items()])
    assert found.shape == start.shape == skip.shape
    data = DataSet(x, y)
    for i in rng.permutation(np.flatnonzero(~skip))[:40]:
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved[i] += sign * 1e-5
            net.set_params(moved)
            ends.append(net.score(data, True))
        assert found[i] == pytest.approx((ends[0] - ends[1]) / 2e-5 * len(x), rel=1e-5, abs=1e-7), (name, i)
