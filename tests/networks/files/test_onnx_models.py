"""Networks as ONNX models: names, open sizes, what is gone at inference, the command."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.layers import (
    LSTM,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MergeVertex,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    SubsamplingLayer,
)
from dl4py.networks import ComputationGraph, MultiLayerNetwork, NeuralNetConfiguration
from dl4py.networks.commands import main
from dl4py.samediff import SameDiff
from dl4py.samediff.errors import ConfigurationError
from tests.samediff.onnx.exporting.comparing import assert_close, computed

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """The question is what networks mean."""
    monkeypatch.setenv("DL4PY_EXECUTOR", "reference")


def listed(*layers, kind=None):
    builder = NeuralNetConfiguration.Builder().seed(3).list(*layers)
    return MultiLayerNetwork((builder if kind is None else builder.set_input_type(kind)).build()).init()


def images():
    return listed(ConvolutionLayer(kernel_size=3, stride=2, n_out=4, convolution_mode="Same", activation="relu"), BatchNormalization(),
                  SubsamplingLayer(kernel_size=2, stride=2), DenseLayer(n_out=5, activation="elu", dropout=0.5), OutputLayer(n_out=3),
                  kind=InputType.convolutional(9, 8, 2))


def series():
    return listed(LSTM(n_in=3, n_out=4, activation="tanh"), SimpleRnn(n_out=3, activation="tanh"), RnnOutputLayer(n_out=2),
                  kind=InputType.recurrent(3))


def graph():
    conf = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("left", "right")
            .add_layer("a", DenseLayer(n_out=3, activation="tanh"), "left").add_vertex("both", MergeVertex(), "a", "right")
            .add_layer("out", OutputLayer(n_out=2), "both").add_layer("more", OutputLayer(n_out=3), "a").set_outputs("out", "more")
            .set_input_types(InputType.feed_forward(4), InputType.feed_forward(2)))
    return ComputationGraph(conf.build()).init()


CASES = [(images, (InputType.convolutional(9, 8, 2),), [(2, 9, 8)]), (images, (), [(2, 9, 8)]), (series, (), [(3, 6)]),
         (graph, (), [(4,), (2,)]), (graph, (InputType.feed_forward(4), InputType.feed_forward(2)), [(4,), (2,)])]


@pytest.mark.parametrize(("build", "kinds", "shapes"), CASES)
def test_networks(build, kinds, shapes):
    net = build()
    model = net.export_onnx(None, *kinds)
    assert [v.name for v in model.graph.input] == list(net.engine.structure.inputs)
    assert [v.name for v in model.graph.output] == list(net.engine.structure.outputs)
    assert {v.type.tensor_type.shape.dim[0].dim_param for v in model.graph.input} == {"batch"}
    assert set(net.param_table()) >= {t.name for t in model.graph.initializer} - {t.name for t in model.graph.initializer
                                                                                if t.name.startswith("constant_")}
    for batch in (1, 3):
        arrays = [RNG.normal(size=(batch, *s)).astype(np.float32) for s in shapes]
        wanted = net.output(*arrays)
        found = computed(model, dict(zip(net.engine.structure.inputs, arrays)), list(net.engine.structure.outputs))
        for a, b in zip(found, wanted if isinstance(wanted, list) else [wanted], strict=True):
            assert_close(a, b)


def test_sequences_are_layers_of_the_standard():
    assert {"LSTM", "RNN"} <= {n.op_type for n in series().export_onnx().graph.node}


def test_wrong_types_of_inputs():
    with pytest.raises(ConfigurationError, match="left, right"):
        graph().export_onnx(None, InputType.feed_forward(4))
    with pytest.raises(ConfigurationError, match="InputType for each input"):
        series().exportOnnx(None, (3, 4))


def test_the_command(tmp_path, capsys):
    net = series()
    net.save(tmp_path / "net.zip")
    assert main(["convert", str(tmp_path / "net.zip"), str(tmp_path / "net.onnx")]) == 0
    assert "MultiLayerNetwork" in capsys.readouterr().out
    x = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    sd = SameDiff.load(tmp_path / "net.onnx")
    assert_close(sd.output({"input": x}, sd.outputs()[0])[sd.outputs()[0]], net.output(x))
