"""Bad input: each mistake is told by what was expected, what came, where, and what to do; and it changes nothing."""
from __future__ import annotations

import signal
import zipfile

import numpy as np
import pytest

from dl4py.layers import LSTM, DenseLayer, OutputLayer, RnnOutputLayer
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import Adam, DataSet, DataType, Listener, MultiDataSet, SameDiff, Sgd, TrainingConfig
from dl4py.samediff.errors import (
    ConfigurationError,
    DataTypeError,
    DL4PyError,
    FileFormatError,
    GraphError,
    NumericalError,
    ShapeError,
    TruncatedFileError,
    UnknownNameError,
)
from dl4py.samediff.ir.op import OPS
from dl4py.udf import user_op

F = DataType.FLOAT
X, Y = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1] * 4]


def text_of(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def graph(updater=None):
    """A softmax regression x (-1, 3), y (-1, 2) ready to train."""
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, -1, 3), sd.placeholder("y", F, -1, 2)
    w = sd.var("w", np.full((3, 2), 0.1, np.float32))
    sd.placeholder("i", DataType.INT, -1)
    sd.constant("k", np.array([1], np.int32))
    sd.loss.softmax_cross_entropy("loss", y, x.mmul("logits", w), None)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(updater or Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    return sd


def network():
    conf = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.1)).activation("tanh").list(
        DenseLayer(n_in=3, n_out=4, layer_name="hidden"), OutputLayer(n_in=4, n_out=2, layer_name="out")).build()
    return MultiLayerNetwork(conf).init()


def net_graph():
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.1)).graph_builder().add_inputs("in")
            .add_layer("hidden", DenseLayer(n_in=3, n_out=4), "in").add_layer("out", OutputLayer(n_in=4, n_out=2),
                                                                              "hidden").set_outputs("out").build())
    return ComputationGraph(conf).init()


# Graphs

RUNS = {
    "wrong size": (lambda sd: sd.output({"x": np.ones((2, 5))}, "logits"), ShapeError, ["'x'", "(-1, 3)", "(2, 5)"]),
    "wrong rank": (lambda sd: sd.output({"x": np.ones(3)}, "logits"), ShapeError, ["'x'", "(-1, 3)", "(3,)"]),
    "wrong type": (lambda sd: sd.output({"x": [["a", "b", "c"]]}, "logits"), DataTypeError, ["'x'", "FLOAT", "text", "expected numbers"]),
    "rows of different length": (lambda sd: sd.output({"x": [[1.0, 2.0], [1.0]]}, "logits"), DataTypeError,
                                 ["'x'", "row 0 has 2 values, row 1 has 1"]),
    "missing value": (lambda sd: sd.output({}, "logits"), GraphError, ["'x'", "matmul", "given: none"]),
    "missing label": (lambda sd: sd.output({"x": X}, "loss"), GraphError, ["'y'", "given: x"]),
    "unknown placeholder": (lambda sd: sd.output({"xx": X}, "logits"), UnknownNameError, ["'xx'", "did you mean 'x'", "x, y, i"]),
    "unknown output": (lambda sd: sd.output({"x": X}, "logit"), UnknownNameError, ["'logit'", "did you mean 'logits'"]),
    "other graph": (lambda sd: sd.variable("w") + graph().variable("w"), GraphError, ["another graph", "sd.var"]),
    "other graph's output": (lambda sd: sd.output({"x": X}, graph().variable("w")), GraphError, ["another graph"]),
    "misspelt option": (lambda sd: sd.nn.softmax(sd.variable("w"), dimensoin=1), GraphError, ["'dimensoin'", "did you mean 'dimension'"]),
    "misspelt op": (lambda sd: sd.nn.sofmax(sd.variable("w")), UnknownNameError, ["'sofmax'", "did you mean", "softmax"]),
    "complex numbers": (lambda sd: sd.output({"x": np.ones((1, 3), complex)}, "logits"), DataTypeError, ["'x'", "complex128", "real"]),
    "numbers out of range": (lambda sd: sd.output({"i": np.array([2**40])}, "i"), DataTypeError, ["'i'", "1099511627776", "int32"]),
    "fractions for an integer": (lambda sd: sd.output({"i": np.array([0.5])}, "i"), DataTypeError, ["'i'", "fractions"]),
    "fractional size": (lambda sd: sd.placeholder("v", F, 2.5), ShapeError, ["2.5", "whole"]),
    "fractions for an integer constant": (lambda sd: sd.set_array("k", [1.5]), DataTypeError, ["'k'", "fractions"]),
    "no name": (lambda sd: sd.variable("w").rename(""), GraphError, ["not empty"]),
    "a number as name": (lambda sd: sd.placeholder(5, F, 2), GraphError, ["5"]),
    "negative size": (lambda sd: sd.var("v", F, 3, -4), ShapeError, ["-4"]),
    "negative unknown size": (lambda sd: sd.placeholder("v", F, -3), ShapeError, ["-3"]),
    "labels of another width": (lambda sd: sd.fit(DataSet(X, np.ones((8, 5), np.float32))), ShapeError, ["'y'", "(-1, 2)", "(8, 5)"]),
    "features of another width": (lambda sd: sd.fit(DataSet(X[:, :2], Y)), ShapeError, ["'x'", "(-1, 3)", "(8, 2)"]),
    "features and labels of different length": (lambda sd: sd.fit(DataSet(X, Y[:5])), DL4PyError, ["8", "5"]),
    "no data": (lambda sd: sd.fit([]), ConfigurationError, ["no batch"]),
    "epochs": (lambda sd: sd.fit(DataSet(X, Y), epochs=0), ConfigurationError, ["epochs", "0"]),
    "updater option": (lambda sd: Adam(learning_rte=0.1), (ConfigurationError, TypeError), ["learning_rte", "learning_rate"]),
    "training option": (lambda sd: TrainingConfig(Adam(), data_set_feature_maping="x"), (ConfigurationError, TypeError),
                        ["data_set_feature_maping"]),
}


@pytest.mark.parametrize("case", RUNS)
def test_graph(case):
    act, kind, texts = RUNS[case]
    sd = graph()
    before, names = sd.variable("w").get_arr().copy(), sd.variable_names()
    with pytest.raises(kind) as error:
        act(sd)
    assert all(t in text_of(error.value) for t in texts), text_of(error.value)
    assert np.array_equal(sd.variable("w").get_arr(), before) and sd.variable_names() == names and sd.get_iteration_count() == 0
    sd.fit(DataSet(X, Y))


def test_loss_of_labels_of_another_width_names_the_loss():
    sd = SameDiff.create()
    x, y = sd.placeholder("x", F, -1, 3), sd.placeholder("y", F, -1, -1)
    w = sd.var("w", np.ones((3, 2), np.float32))
    sd.loss.softmax_cross_entropy("xent", y, x.mmul("logits", w), None)
    sd.set_training_config(TrainingConfig(Sgd(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    with pytest.raises(ShapeError) as error:
        sd.fit(DataSet(X, np.ones((8, 5), np.float32)))
    text = text_of(error.value)
    assert "softmax" in text and "(8, 5)" in text and "(8, 2)" in text and "test_bad_input.py" in text, text
    assert np.array_equal(w.get_arr(), np.ones((3, 2))) and sd.get_iteration_count() == 0


# NaN

@pytest.mark.parametrize(("spoil", "name"),
                         [(lambda x, y, sd: x.__setitem__((3, 1), np.nan), "'x'"), (lambda x, y, sd: y.__setitem__((0, 0), np.inf), "'y'"),
                                             (lambda x, y, sd: sd.variable("w").get_arr().__setitem__((0, 0), np.nan), "'w'"),
                                             (lambda x, y, sd: x.__setitem__((0, 0), 3e38), "'logits'|'prod'")])
def test_the_first_variable_with_nan_is_named(spoil, name):
    sd = graph()
    sd.variable("w").get_arr()[...] = 5
    x, y = X.copy(), Y.copy()
    spoil(x, y, sd)
    before = sd.variable("w").get_arr().copy()
    with pytest.raises(NumericalError, match=name):
        sd.fit(DataSet(x, y), check_finite=True)
    np.testing.assert_array_equal(sd.variable("w").get_arr(), before)
    assert sd.get_iteration_count() == 0


# Networks

FITS = {
    "labels of another width": (lambda net: net.fit(DataSet(X, np.ones((8, 5), np.float32))), ["out", "(8, 5)", "2"]),
    "features of another width": (lambda net: net.fit(DataSet(np.ones((8, 7), np.float32), Y)), ["hidden", "(8, 7)", "3"]),
    "features of another rank": (lambda net: net.fit(DataSet(np.ones((8, 3, 2, 2), np.float32), Y)), ["hidden", "(8, 3, 2, 2)"]),
    "different lengths": (lambda net: net.fit(DataSet(X, Y[:5])), ["8", "5"]),
    "output of another width": (lambda net: net.output(np.ones((8, 7), np.float32)), ["hidden", "7", "3"]),
    "score of another width": (lambda net: net.score(DataSet(X, np.ones((8, 5), np.float32))), ["out", "(8, 5)", "2"]),
}


@pytest.mark.parametrize("case", FITS)
@pytest.mark.parametrize("make", [network, net_graph])
def test_network(make, case):
    act, texts = FITS[case]
    net = make()
    before = net.params()
    with pytest.raises(DL4PyError) as error:
        act(net)
    assert all(t in text_of(error.value) for t in texts), text_of(error.value)
    assert np.array_equal(net.params(), before) and net.get_iteration_count() == 0 and not net.get_updater().state_view().any()
    net.fit(DataSet(X, Y))


def test_series_of_another_width():
    net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(LSTM(n_in=3, n_out=4, layer_name="cells"),
                                                                  RnnOutputLayer(n_in=4, n_out=2, layer_name="out")).build())
    with pytest.raises(DL4PyError) as error:
        net.output(np.ones((2, 5, 6), np.float32))
    assert "cells" in text_of(error.value) and "5" in text_of(error.value) and "3" in text_of(error.value)
    with pytest.raises(DL4PyError) as error:
        net.fit(DataSet(np.ones((2, 3, 6)), np.ones((2, 4, 6))))
    assert "out" in text_of(error.value) and "(2, 4, 6)" in text_of(error.value)


@pytest.mark.parametrize(("act", "texts"), [
    (lambda: DenseLayer(n_outt=3), ["n_outt", "did you mean 'n_out'"]), (lambda: DenseLayer(n_in=3, n_out=-4).initializer, ["-4"]),
    (lambda: DenseLayer(n_out=3, activation="tanhh"), ["tanhh", "tanh"]),
    (lambda: OutputLayer(n_out=3, loss_function="mcxnt"), ["mcxnt", "did you mean"]),
    (lambda: NeuralNetConfiguration.Builder().updatr(Adam()), ["updatr", "did you mean 'updater'"]),
    (lambda: DenseLayer.Builder().nOutt(3), ["nOutt", "did you mean"]), (lambda: network().get_param("0_w"), ["'0_w'", "'0_W'"]),
    (lambda: network().get_learning_rate("hiden"), ["hiden", "did you mean 'hidden'"]),
    (lambda: net_graph().get_layer("hiden"), ["hiden", "did you mean 'hidden'"]),
    (lambda: net_graph().output(X, X), ["1 input", "2 were given"]), (lambda: network().fit(MultiDataSet([X, X], [Y])), ["2"]),
    (lambda: MultiLayerNetwork(net_graph().get_configuration()), ["ComputationGraph"]),
    (lambda: ComputationGraph(network().get_configuration()), ["MultiLayerNetwork"]),
    (lambda: network().fit(X[:0], Y[:0]), ["without examples"]), (lambda: network().output([["a", "b", "c"]]), ["numbers"]),
    (lambda: network().output(None), ["input", "no array"]), (lambda: network().output(5.0), ["axis of examples"]),
    (lambda: network().fit([DataSet(X, Y)], 0), ["epochs", "0"]), (lambda: network().fit(X, Y, batch_size=0), ["batch_size", "0"]),
    (lambda: network().fit([DataSet(X, Y), 5]), ["int", "data sets"]), (lambda: network().fit((X, "y")), ["no array"]),
    (lambda: network().fit({"x": X}), ["missing"]), (lambda: network().fit((DataSet(X, Y) for _ in range(2)), 2), ["generator", "once"]),
    (lambda: network().set_learning_rate("x"), ["'x'"]),
    (lambda: network().set_params(np.zeros(3)), ["26", "3"]), (lambda: network().fit(X), ["label"]),
    (lambda: network().fit(X, batch_sze=3), ["batch_sze"]),
], ids=range(27))
def test_names_sizes_and_kinds(act, texts):
    with pytest.raises(DL4PyError) as error:
        act()
    assert all(t in text_of(error.value) for t in texts), text_of(error.value)


# User ops

def test_an_exception_in_a_user_op_names_the_op_and_the_line_that_used_it():
    @user_op("test.bad.picky")
    def picky(xp, x):
        raise RuntimeError("never happy")

    try:
        sd = SameDiff.create()
        x = sd.placeholder("x", F, 3)
        sd.op("test.bad.picky", "y", x, shape=None) if False else sd.op("test.bad.picky", "y", x)  # the line
        for feeds in ({"x": np.ones(3)}, {"x": np.ones(3, np.float32)}):
            with pytest.raises(RuntimeError, match="never happy") as error:
                sd.output(feeds, "y")
            text = text_of(error.value)
            assert "test.bad.picky" in text and "test_bad_input.py" in text and "# the line" in text and "(3,)" in text, text
    except DL4PyError as error:     # refused already when it was traced for its shapes
        assert "test.bad.picky" in text_of(error) and "never happy" in text_of(error)
    finally:
        OPS.remove("test.bad.picky")


# Files

def test_files_cut_short(tmp_path):
    net = network()
    net.fit(X, Y)
    net.save(tmp_path / "net.zip")
    content = (tmp_path / "net.zip").read_bytes()
    for part in (0, 10, len(content) // 2, len(content) - 5):
        (tmp_path / "cut.zip").write_bytes(content[:part])
        with pytest.raises(FileFormatError, match="cut.zip|zip|end|empty"):
            MultiLayerNetwork.load(tmp_path / "cut.zip")
    with pytest.raises((FileNotFoundError, DL4PyError)):
        MultiLayerNetwork.load(tmp_path / "nothing.zip")
    with zipfile.ZipFile(tmp_path / "net.zip") as old, zipfile.ZipFile(tmp_path / "short.zip", "w") as new:
        for entry in old.namelist():
            new.writestr(entry, old.read(entry)[:-20] if entry == "coefficients.bin" else old.read(entry))
    with pytest.raises(TruncatedFileError):
        MultiLayerNetwork.load(tmp_path / "short.zip")


def test_the_other_kind_of_network(tmp_path):
    network().save(tmp_path / "list.zip")
    net_graph().save(tmp_path / "graph.zip")
    with pytest.raises(FileFormatError, match="holds a ComputationGraph; load it with ComputationGraph.load"):
        MultiLayerNetwork.load(tmp_path / "graph.zip")
    with pytest.raises(FileFormatError, match="holds a MultiLayerNetwork; load it with MultiLayerNetwork.load"):
        ComputationGraph.load(tmp_path / "list.zip")


# Training that stops in the middle

GOOD = [DataSet(X, Y), DataSet(X[::-1].copy(), Y)]
BAD = DataSet(X, np.ones((8, 5), np.float32))


class Breaks(Listener):
    def __init__(self, error, after):
        self.error, self.after = error, after

    def on_backward_pass(self, model):
        if self.after == 0:
            raise self.error
        self.after -= 1

    def iteration_start(self, sd, at, data, etl_time_ms):
        if isinstance(sd, SameDiff):            # networks hear of the backward pass
            self.on_backward_pass(sd)


@pytest.mark.parametrize("make", [network, net_graph])
@pytest.mark.parametrize("how", ["data", "listener", "interrupt", "iterator"])
def test_networks_stop_after_a_whole_step(make, how):
    net, other = make(), make()
    for data in GOOD:
        other.fit(data)
    error = KeyboardInterrupt if how == "interrupt" else RuntimeError if how != "data" else DL4PyError

    def batches():
        yield from GOOD
        raise RuntimeError("no more")

    class Source:
        def has_next(self):
            return True

        def __iter__(self):
            return batches()

    if how in ("listener", "interrupt"):
        net.set_listeners(Breaks(error(), 2))
    with pytest.raises(error):
        net.fit(Source() if how == "iterator" else [*GOOD, BAD if how == "data" else GOOD[0]])
    assert np.array_equal(net.params(), other.params()) and net.get_iteration_count() == 2 and net.get_epoch_count() == 0
    assert np.array_equal(net.get_updater().state_view(), other.get_updater().state_view())
    net.set_listeners()
    net.fit(GOOD[0])
    other.fit(GOOD[0])
    assert np.array_equal(net.params(), other.params())


@pytest.fixture
def interruptible():
    """Ctrl-C raises, whoever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("how", ["data", "listener", "interrupt", "signal"])
def test_graphs_stop_after_a_whole_step(how):
    sd, other = graph(), graph()
    for data in GOOD:
        other.fit(data)
    error = KeyboardInterrupt if how in ("interrupt", "signal") else RuntimeError if how == "listener" else DL4PyError

    class Signal(Breaks):
        def on_backward_pass(self, model):
            if self.after == 0:
                signal.raise_signal(signal.SIGINT)
            self.after -= 1

    if how != "data":
        sd.set_listeners(Signal(None, 2) if how == "signal" else Breaks(error(), 2))
    with pytest.raises(error):
        sd.fit([*GOOD, BAD if how == "data" else GOOD[0]], epochs=1)
    assert np.array_equal(sd.variable("w").get_arr(), other.variable("w").get_arr()) and sd.get_iteration_count() == 2
    sd.set_listeners()
    sd.fit(GOOD[0])
    other.fit(GOOD[0])
    assert np.array_equal(sd.variable("w").get_arr(), other.variable("w").get_arr())
