"""Profiles of networks: layers, phases, nothing changed; the command; the listener."""
from __future__ import annotations

import json

import numpy as np
import pytest

from dl4py.layers import LSTM, BatchNormalization, ConvolutionLayer, DenseLayer, InputType, OutputLayer, RnnOutputLayer, SubsamplingLayer
from dl4py.networks import BackpropType, ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import main
from dl4py.samediff import DataSet, DataType, MultiDataSet, SameDiff
from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.training import Adam, ListenerResponse, ProfilingListener, TrainingConfig


def dense(**options):
    builder = NeuralNetConfiguration.Builder().seed(3).updater(Adam(0.01))
    for name, value in options.items():
        builder = getattr(builder, name)(value)
    layers = builder.list(DenseLayer(n_in=4, n_out=8, activation="tanh", layer_name="body"), BatchNormalization(n_in=8, n_out=8),
                          OutputLayer(n_in=8, n_out=3))
    return MultiLayerNetwork(layers.build()).init()


def data(rows=6, width=4, classes=3):
    rng = np.random.default_rng(0)
    return DataSet(rng.normal(size=(rows, width)).astype("f4"), np.eye(classes, dtype="f4")[rng.integers(0, classes, rows)])


def state(net):
    flat = net.engine.flat
    return [flat.params.copy(), flat.gradients.copy(), flat.state.copy(), net.get_iteration_count(), net.get_epoch_count(), net.score()]


def test_a_step_of_training():
    net = dense(l2=1e-3)
    found = net.profile(data(), steps=2)
    assert list(found.by_phase()) == ["forward", "backward", "update"]
    assert {"body", "layer1", "layer2"} <= set(found.by_layer())
    assert all(s.layer for s in found.steps if s.phase == "backward" and s.op == "matmul")
    body = [s for s in found.steps if s.layer == "body" and s.op == "matmul"]
    assert [(s.phase, s.flops) for s in body] == [("forward", 2 * 6 * 4 * 8), ("backward", 2 * 6 * 4 * 8)]
    updates = [s for s in found.steps if s.phase == "update"]
    assert {n for s in updates for n in s.members} == set(net.param_table())
    adam = [s for s in updates if s.op == "Adam"]
    trained = net.num_params() - 16         # running statistics have no state
    assert sum(s.bytes for s in adam) == trained * 4 * 7        # parameter and two states read and written, gradient read
    assert set(found.runs) == {"plan", "fit"} and all(t > 0 for t in found.runs.values())


def test_an_output():
    net = dense()
    found = net.profile(data().features, steps=1)
    assert list(found.by_phase()) == ["forward"] and set(found.runs) == {"plan", "output"}
    assert net.profile(data(), steps=1, train=False).by_phase().keys() == {"forward"}


@pytest.mark.parametrize("trained", [False, True])
def test_nothing_is_changed(trained):
    net, other = dense(), dense()
    if trained:
        net.fit(data())
        other.fit(data())
    before = state(net)
    net.profile(data(), steps=2)
    net.profile(data().features, steps=1)
    net.explain(data())
    for a, b in zip(before, state(net)):
        np.testing.assert_array_equal(a, b)
    net.fit(data())
    other.fit(data())
    np.testing.assert_array_equal(net.params(), other.params())


def test_explain_looks_at_the_step_or_the_output():
    net = dense()
    assert "(written in place)" in net.explain(data()) and "labels_0" in net.explain(data())
    assert "labels_0" not in net.explain(data().features)


def test_graphs_of_vertices():
    conf = (NeuralNetConfiguration.Builder().graph_builder().add_inputs("a", "b").add_layer("left", DenseLayer(n_in=4, n_out=5), "a")
            .add_layer("out", OutputLayer(n_in=9, n_out=3), "left", "b").set_outputs("out").build())
    net = ComputationGraph(conf).init()
    x = [np.ones((2, 4), "f4"), np.ones((2, 4), "f4")]
    assert {"left", "out"} <= set(net.profile(x, steps=1).by_layer())
    assert "fit" in net.profile(MultiDataSet(x, [np.eye(3, dtype="f4")[:2]]), steps=1).runs


def test_pieces_of_time():
    conf = (NeuralNetConfiguration.Builder().list(LSTM(n_in=3, n_out=4, activation="tanh"), RnnOutputLayer(n_in=4, n_out=2))
            .backprop_type(BackpropType.TruncatedBPTT).t_bptt_length(5).build())
    net = MultiLayerNetwork(conf).init()
    series = DataSet(np.ones((2, 3, 10), "f4"), np.ones((2, 2, 10), "f4") / 2)
    found = net.profile(series, steps=1)
    lstm = next(s for s in found.steps if s.op == "lstm_sequence")
    assert lstm.flops == 5 * 2 * (2 * (3 * 16 + 4 * 16) + 4 * 4 * 4) and "first piece" in found.title


def test_what_cannot_be_profiled():
    net = dense()
    with pytest.raises(ConfigurationError, match="labels"):
        net.profile(data().features, train=True)
    with pytest.raises(ConfigurationError, match="steps=0"):
        net.profile(data(), steps=0)


# The command

def images(**options):
    conf = (NeuralNetConfiguration.Builder().list(ConvolutionLayer(n_out=2, kernel_size=(3, 3)), SubsamplingLayer(kernel_size=(2, 2)),
                                                  OutputLayer(n_out=3)).set_input_type(InputType.convolutional(10, 10, 2)).build())
    return MultiLayerNetwork(conf).init()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [dense, images])
def test_the_command_finds_the_shapes(make, tmp_path, capsys):
    make().save(tmp_path / "net.zip")
    assert main(["profile", str(tmp_path / "net.zip"), "--batch", "2"]) == 0
    shown = capsys.readouterr().out
    assert "batch of 2" in shown and "layer2" in shown and "forward" in shown


def test_the_command_trains_traces_and_prints_json(tmp_path, capsys):
    net, path, trace = dense(), tmp_path / "net.zip", tmp_path / "trace.json"
    net.save(path)
    saved = path.read_bytes()
    assert main(["profile", str(path), "--batch", "3", "--train", "--json", "--trace", str(trace), "--shape", "4"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["phases"]) == {"forward", "backward", "update"} and document["flops"] > 0
    assert len([e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]) == len(document["steps"])
    assert path.read_bytes() == saved


def test_the_command_takes_graphs_and_says_what_is_wrong(tmp_path, capsys):
    sd = SameDiff.create()
    sd.nn.relu("y", sd.placeholder("x", DataType.FLOAT, -1, 3), 0.0)
    sd.save(tmp_path / "g.fb")
    assert main(["profile", str(tmp_path / "g.fb")]) == 0
    assert "relu" in capsys.readouterr().out
    for wrong, said in ((["--train"], "--train is for networks"), (["--shape", "a"], "3,32,32"), (["--batch", "0"], "--batch")):
        assert main(["profile", str(tmp_path / "g.fb"), *wrong]) == 1
        assert said in capsys.readouterr().err


# The listener

def spans(path, category):
    return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == category and e["ph"] == "X"]


def test_the_listener_of_a_network(tmp_path):
    net, plain, path = dense(), dense(), tmp_path / "trace.json"
    net.set_listeners(ProfilingListener.builder(path).warmup(1).max_profile_iterations(3).build())
    for one in (net, plain):
        one.fit([data()] * 3, 2)
    np.testing.assert_array_equal(net.params(), plain.params())
    found = spans(path, "TRAINING")
    assert [e["name"] for e in found] == ["iteration 1", "iteration 2", "iteration 3"]
    starts = [e["ts"] for e in found]
    assert starts == sorted(starts) and starts[0] == 0
    for whole, first, then in zip(found, spans(path, "gradient"), spans(path, "update")):
        assert whole["dur"] == pytest.approx(first["dur"] + then["dur"], abs=0.01)
    assert {e["args"]["layer"] for e in spans(path, "forward")} >= {"body"} and spans(path, "backward")


def test_the_listener_of_a_graph(tmp_path):
    sd = SameDiff.create()
    x, y = sd.placeholder("x", DataType.FLOAT, -1, 4), sd.placeholder("t", DataType.FLOAT, -1, 3)
    sd.loss.mean_squared_error("loss", y, x.mmul(sd.var("w", np.ones((4, 3), "f4"))))
    sd.set_training_config(TrainingConfig.builder().updater(Adam(0.1)).data_set_feature_mapping("x").data_set_label_mapping("t").build())
    sd.set_listeners(ProfilingListener(tmp_path / "t.json"))
    sd.fit([data(), data()], epochs=1)
    assert [e["name"] for e in spans(tmp_path / "t.json", "TRAINING")] == ["iteration 0", "iteration 1"]
    assert "matmul" in {e["name"] for e in spans(tmp_path / "t.json", "forward")}


def test_the_listener_refuses_what_is_no_count(tmp_path):
    with pytest.raises(ConfigurationError, match="warmup"):
        ProfilingListener(tmp_path / "t", warmup=-1)
    assert ProfilingListener(tmp_path / "t").epoch_end(None, None, None, 0) is not ListenerResponse.STOP
