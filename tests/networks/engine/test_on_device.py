"""Networks on a device do what they do on the CPU, and their parameters are where they are asked for."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    EmbeddingLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from dl4py.networks import BackpropType, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataSet, ListDataSetIterator, device
from dl4py.samediff.training import Adam, CollectScoresListener, Nesterovs
from tests.samediff.cuda.support import needs_compiler

pytestmark = needs_compiler
RNG = np.random.default_rng(5)


def _classes(shape, count):
    return np.eye(count, dtype=np.float32)[RNG.integers(0, count, shape)]


def _table(rows=24):
    return DataSet(RNG.standard_normal((rows, 6)).astype(np.float32), _classes(rows, 3))


def _out(n_in):
    return OutputLayer(n_in=n_in, n_out=3, activation="softmax")


def _network(*layers, input_type=None, change=lambda b: b, updater=None):
    conf = change(NeuralNetConfiguration.Builder().seed(3).updater(updater or Adam(1e-2))).list(*layers)
    if input_type is not None:
        conf = conf.set_input_type(input_type)
    return MultiLayerNetwork(conf.build()).init()


def _dense(change=lambda b: b, **options):
    return _network(DenseLayer(n_in=6, n_out=8, activation="tanh", **options), _out(8), change=change)


def _lenet():
    return _network(ConvolutionLayer(n_out=3, kernel_size=(3, 3), activation="relu"), SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)),
                    BatchNormalization(), DenseLayer(n_out=8, activation="relu"), OutputLayer(n_out=3, activation="softmax"),
                    input_type=InputType.convolutional(8, 8, 1), updater=Nesterovs(0.05, 0.9))


def _pictures():
    return DataSet(RNG.standard_normal((12, 1, 8, 8)).astype(np.float32), _classes(12, 3))


def _recurrent():
    return _network(LSTM(n_in=4, n_out=5), RnnOutputLayer(n_in=5, n_out=3, activation="softmax"))


def _series():
    return DataSet(RNG.standard_normal((6, 4, 7)).astype(np.float32), np.moveaxis(_classes((6, 7), 3), 2, 1).copy())


CASES = {
    "plain": (_dense, _table),
    "penalties": (lambda: _dense(lambda b: b.l2(1e-2).l1(1e-3)), _table),
    "dropout": (lambda: _dense(drop_out=0.7), _table),
    "clipped": (lambda: _dense(lambda b: b.gradient_normalization("ClipL2PerLayer").gradient_normalization_threshold(0.1)), _table),
    "renormalized": (lambda: _dense(lambda b: b.gradient_normalization("RenormalizeL2PerParamType")), _table),
    "frozen": (lambda: _network(FrozenLayer(layer=DenseLayer(n_in=6, n_out=8)), _out(8)), _table),
    "doubles": (lambda: _dense(lambda b: b.data_type("DOUBLE")), _table),
    "convolution": (_lenet, _pictures),
    "recurrent": (_recurrent, _series),
    "embedding": (lambda: _network(EmbeddingLayer(n_in=9, n_out=4), _out(4)),
                  lambda: DataSet(RNG.integers(0, 9, (10, 1)).astype(np.float32), _classes(10, 3))),
    "pooled": (lambda: _network(LSTM(n_in=4, n_out=5), GlobalPoolingLayer(pooling_type="MAX"), _out(5)),
               lambda: DataSet(RNG.standard_normal((6, 4, 7)).astype(np.float32), _classes(6, 3))),
}


def _same(a, b, tolerance=2e-5):
    np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("case", CASES)
def test_training_and_inference(case):
    make, data = CASES[case]
    here, there, batch = make(), make().to("emulated"), data()
    for net in (here, there):
        net.fit(ListDataSetIterator(batch.as_list(), 5), 3)
        net.fit(batch)
    _same(here.params(), there.params())
    _same(here.get_updater().state_view(), there.get_updater().state_view())
    _same(here.score(), there.score())
    _same(here.output(batch.features), there.output(batch.features))
    _same(here.score(batch), there.score(batch))
    assert there.get_iteration_count() == here.get_iteration_count()


def test_listeners_see_the_same():
    found, batches = [], _table(20).as_list()
    for where in ("cpu", "emulated"):
        net, listener = _dense().to(where), CollectScoresListener()
        net.set_listeners(listener)
        net.fit(ListDataSetIterator(batches, 5), 2)
        found.append(listener.get_list_score())
    assert len(found[0]) == 8
    _same(np.array(found[0]), np.array(found[1]))


def test_parameters_are_where_they_are_asked_for(tmp_path):
    here, there, batch = _dense(), _dense().to("emulated"), _table()
    for net in (here, there):
        net.fit(batch, epochs=1)
        net.set_param("0_b", np.arange(8))
        net.fit(batch)
        net.param_table()["1_W"][...] *= 2
        net.fit(batch)
    _same(here.params(), there.params())
    there.save(tmp_path / "there.zip")
    again = MultiLayerNetwork.load(tmp_path / "there.zip")
    np.testing.assert_array_equal(again.params(), there.params())
    _same(again.output(batch.features), there.output(batch.features))
    copy = there.clone()
    for net in (here, copy, there):
        net.fit(batch)
    _same(here.params(), copy.params())
    _same(here.params(), there.params())


def test_a_network_may_change_its_device():
    here, net, batch = _dense(), _dense(), _table()
    for where in ("emulated", "cpu", "emulated", None, "emulated", "cpu", "emulated"):
        net.to(where)
        for _ in range(2):
            net.fit(batch)
            here.fit(batch)
        _same(here.output(batch.features), net.output(batch.features))
        _same(here.output(batch.features), net.to("cpu").output(batch.features))
        _same(here.get_layer(0).activate(batch.features), net.get_layer(0).activate(batch.features))
    _same(here.params(), net.params())


def test_the_device_of_the_thread():
    here, net, batch = _dense(), _dense(), _table()
    with device("emulated"):
        net.fit(batch)
        assert str(net.device()) == "emulated:0"
    net.fit(batch)
    here.fit(batch)
    here.fit(batch)
    _same(here.params(), net.params())
    assert str(net.device()) == "cpu"


def test_gradients():
    here, there, batch = _dense(), _dense().to("emulated"), _table()
    for net in (here, there):
        net.set_input(batch.features)
        net.set_labels(batch.labels)
        net.compute_gradient_and_score()
    _same(here.gradient().gradient(), there.gradient().gradient())
    _same(here.score(), there.score())


def test_truncated_back_propagation():
    def make():
        conf = NeuralNetConfiguration.Builder().seed(3).updater(Adam(1e-2)).list(
            LSTM(n_in=4, n_out=5), RnnOutputLayer(n_in=5, n_out=3, activation="softmax"))
        return MultiLayerNetwork(conf.backprop_type(BackpropType.TruncatedBPTT).t_bptt_length(3).build()).init()
    here, there, batch = make(), make().to("emulated"), _series()
    for net in (here, there):
        net.fit(batch)
        net.fit(batch)
    _same(here.params(), there.params())
    steps = batch.features[:, :, 0]
    for _ in range(2):
        _same(here.rnn_time_step(steps), there.rnn_time_step(steps))
