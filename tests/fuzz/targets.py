"""Everything that reads files from strangers: a name, small good files, a way to damage them, and the reading itself."""
from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from onnx import helper

from dl4py.layers import LSTM, BatchNormalization, ConvolutionLayer, DenseLayer, InputType, OutputLayer, RnnOutputLayer, SubsamplingLayer
from dl4py.layers.vertices import ElementWiseVertex
from dl4py.networks import (
    ComputationGraph,
    ComputationGraphConfiguration,
    KerasModelImport,
    ModelSerializer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
)
from dl4py.networks.commands.inspection import inspect
from dl4py.networks.files.model_zip import read_configuration
from dl4py.networks.structure.configuration import is_graph
from dl4py.networks.structure.structure import of_graph
from dl4py.samediff import DataSet, SameDiff
from dl4py.samediff.codecs.array_files import read_arrays, write_arrays
from dl4py.samediff.data import CSVRecordReader, MultiDataSet, NormalizerMinMaxScaler, NormalizerStandardize
from dl4py.samediff.errors import DL4PyError
from dl4py.samediff.files import Nd4j, NormalizerSerializer
from dl4py.samediff.nd4j import BinarySerde
from dl4py.samediff.tensorflow.bundle import TensorBundle
from dl4py.samediff.text.document_text import read_text
from dl4py.samediff.training import Adam, FileStatsStorage, TrainingConfig
from tests.fuzz import mutators
from tests.samediff.onnx.models import model as onnx_model
from tests.samediff.onnx.models import value
from tests.samediff.tensorflow.checkpoints import write_bundle
from tests.samediff.tensorflow.graphs import const, function, graph, library, node, placeholder, runs

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Target:
    """``read(data)`` must return, or raise a typed error."""

    name: str
    seeds: Callable[[], list[bytes]]
    mutate: mutators.Mutator
    read: Callable[[bytes], object]


def _stored(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """One for all files: to remove a folder takes longer than to read most of them."""
    return tempfile.TemporaryDirectory()


def _through_file(suffix: str, use: Callable[[Path], object]) -> Callable[[bytes], object]:
    def run(data: bytes) -> object:
        path = Path(_folder().name, "file" + suffix)
        path.write_bytes(data)
        try:
            return use(path)
        finally:
            path.unlink()
    return run


@cache
def networks() -> tuple[MultiLayerNetwork, ...]:
    """Small list networks: a single layer, dense, convolutional, recurrent."""
    def made(input_type, *layers):
        conf = NeuralNetConfiguration.Builder().seed(1).updater("adam").l2(0.01).list(*layers)
        return MultiLayerNetwork(conf.set_input_type(input_type).build()).init()
    return (
        made(InputType.feed_forward(1), OutputLayer(n_out=2)),
        made(InputType.feed_forward(3), DenseLayer(n_out=2, activation="tanh", dropout=0.5), OutputLayer(n_out=2)),
        made(InputType.convolutional(4, 4, 1), ConvolutionLayer(n_out=2, kernel_size=(2, 2)), BatchNormalization(),
             SubsamplingLayer(kernel_size=(2, 2)), OutputLayer(n_out=2)),
        made(InputType.recurrent(2), LSTM(n_out=2), RnnOutputLayer(n_out=2)))


def graph_configuration() -> ComputationGraphConfiguration:
    """A small graph."""
    return (NeuralNetConfiguration.Builder().seed(1).updater("adam").graph_builder().add_inputs("in")
            .add_layer("a", DenseLayer(n_in=3, n_out=3), "in").add_layer("b", DenseLayer(n_in=3, n_out=3), "in")
            .add_vertex("sum", ElementWiseVertex("Add"), "a", "b").add_layer("out", OutputLayer(n_in=3, n_out=2), "sum")
            .set_outputs("out").build())


def _zips() -> list[bytes]:
    normalizer = NormalizerStandardize([1.0, 2, 3], [1.0, 1, 1])
    return [_stored(lambda s, n=n: ModelSerializer.write_model(n, s, True, normalizer)) for n in networks()]


def _old_configurations() -> list[bytes]:
    layer = (b'{"layerName":"a","activationFunction":"relu","weightInit":"XAVIER","learningRate":0.1,"updater":"ADAM","l2":0.1,'
             b'"dropOut":0.5,"dist":{"normal":{"mean":0,"std":1}},"nin":2,"nout":2}')
    return [b'{"backprop":true,"confs":[{"layer":{"dense":' + layer + b'},"variables":["W","b"],"useRegularization":true}],'
            b'"inputPreProcessors":{"0":{"rnnToFeedForward":{}}}}']


def _configurations() -> list[bytes]:
    made = [json.dumps(n.get_configuration().to_document(), separators=(",", ":")).encode() for n in networks()]
    return made + _old_configurations()


def _graphs() -> list[bytes]:
    sd = SameDiff.create()
    x, y = sd.placeholder("x", "FLOAT", -1, 3), sd.placeholder("y", "FLOAT", -1, 2)
    w, b = sd.var("w", np.ones((3, 2), "f4")), sd.var("b", np.zeros(2, "f4"))
    z = sd.nn.softmax(x.mmul(w) + b)
    sd.loss.log_loss("loss", y, z)
    sd.set_loss_variables("loss")
    sd.set_training_config(TrainingConfig(Adam(0.1), data_set_feature_mapping="x", data_set_label_mapping="y"))
    sd.fit(DataSet(np.ones((2, 3), "f4"), np.ones((2, 2), "f4")))
    small = sorted((GOLDEN / "samediff").glob("*/*/graph.fb"), key=lambda p: p.stat().st_size)[:6]
    return [sd.as_flat_buffers(True), *(p.read_bytes() for p in small)]


def _newer_graphs(suffix: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("g" + suffix)
            SameDiff.from_flat_buffers(_graphs()[0]).save(path, True)
            return [path.read_bytes()]
    return seeds


_ARRAYS = (np.arange(6, dtype="f4").reshape(2, 3), np.arange(4, dtype="i8"), np.asfortranarray(np.eye(3)), np.array(2.5),
           np.ones((0, 2), "f2"))


def _arrays() -> list[bytes]:
    return [_stored(lambda s, a=a: Nd4j.write(a, s)) for a in _ARRAYS]


def _normalizers() -> list[bytes]:
    write = NormalizerSerializer.get_default().write
    recorded = sorted((GOLDEN / "files" / "normalizers").glob("*.normalizer"), key=lambda p: p.stat().st_size)[:8]
    made = (NormalizerStandardize([1.0, 2], [1.0, 1]), NormalizerMinMaxScaler())
    made[1].set_feature_stats([0.0, 1], [2.0, 3])
    objects = sorted((GOLDEN / "files" / "java_objects").glob("*.ser"))
    return [*(_stored(lambda s, n=n: write(n, s)) for n in made), *(p.read_bytes() for p in (*recorded, *objects))]


def _data_sets() -> list[bytes]:
    return [p.read_bytes() for p in sorted((GOLDEN / "files" / "datasets").glob("*.dataset"))]


def _multi_data_sets() -> list[bytes]:
    return [p.read_bytes() for p in sorted((GOLDEN / "files" / "datasets").glob("*.multidataset"))]


def _array_files(suffix: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("a" + suffix)
            write_arrays(path, {"w": np.ones((2, 3), "f4"), "n": np.arange(3)}, {"note": "text"})
            return [path.read_bytes()]
    return seeds


def _restored(data: bytes) -> object:
    return ModelSerializer.restore_multi_layer_network(io.BytesIO(data))


def _graph_zips() -> list[bytes]:
    return [_stored(ComputationGraph(graph_configuration()).init().save)]


def _with_unknown_classes() -> list[bytes]:
    """Networks with layers, updaters, vertices and activations that nobody registers, and what is recorded of these."""
    names = ("DenseLayer", "Adam", "ActivationSoftmax", "ElementWiseVertex", "LSTM", "L2Regularization")
    record = b'{"classes": {"org.acme.X": "acme 1.0"}, "parameters": {"0": 8, "a": 12}}'
    made = []
    for good in (*_zips()[1:], *_graph_zips()):
        for name in names:
            stream = io.BytesIO()
            with zipfile.ZipFile(io.BytesIO(good)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
                for entry in old.namelist():
                    data = old.read(entry)
                    if entry == "configuration.json":
                        data = re.sub(rf'"[\w.]+\.{name}"', f'"org.acme.{name}"', data.decode(), count=1).encode()
                    new.writestr(entry, data)
                new.writestr("classes.dl4py.json", record)
            made.append(stream.getvalue())
    return made


def _kept(data: bytes) -> object:
    """What loads can be run or says what is missing, and can be saved."""
    graph = is_graph(read_text(read_configuration(io.BytesIO(data)), "JSON"))
    net = (ModelSerializer.restore_computation_graph if graph else ModelSerializer.restore_multi_layer_network)(io.BytesIO(data))
    with contextlib.suppress(DL4PyError):
        net.output(np.ones((1, 3), "f4"))
    net.save(io.BytesIO())
    return net.summary()


def _onnx_models() -> list[bytes]:
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("Gemm", ["f", "v", "b"], ["y"], transB=1)]
    held = {"w": np.ones((2, 1, 3, 3), "f4"), "v": np.ones((2, 8), "f4"), "b": np.zeros(2, "f4")}
    return [onnx_model(nodes, [value("x", shape=["batch", 1, 2, 2])], [value("y")], held).SerializeToString()]


def _tensorflow_graphs() -> list[bytes]:
    plain = graph(const("w", np.ones((3, 2), "f4")), placeholder("x"), const("a", np.int32(1)),
                  node("h", "MatMul", "x", "w", transpose_a=False, transpose_b=False), node("y", "ArgMax", "h", "a"))
    test = function("test", ["i", "v"], ["o"], [node("n", "Const", value=np.asarray(2, "i4")), node("c", "Less", "i", "n:output:0")],
                    {"o": "c:z:0"})
    step = function("step", ["i", "v"], ["j", "w"], [
        node("one", "Const", value=np.asarray(1, "i4")), node("more", "AddV2", "i", "one:output:0"), node("d", "AddV2", "v", "v")],
        {"j": "more:z:0", "w": "d:z:0"})
    looping = graph(placeholder("x"), placeholder("c", (), np.bool_), const("zero", np.int32(0)),
                    runs("loop", "While", "zero", "x", cond="test", body="step"), node("s", "Switch", "loop:1", "c"),
                    node("no", "Neg", "s"), node("yes", "Abs", "s:1"), node("m", "Merge", "no", "yes"),
                    runs("y", "Case", "zero", "zero", "m", branches=["step"]))
    return [plain, looping + library(test, step)]


def _checkpoints() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "variables", {"a": np.ones((2, 3), "f4"), "b": np.arange(3)})
        return [(Path(folder) / "variables.index").read_bytes()]


def _checkpoint(path: Path) -> object:
    path.with_name("file.data-00000-of-00001").write_bytes(bytes(64))
    bundle = TensorBundle(str(path).removesuffix(".index"))
    return [bundle.array(name) for name in bundle.entries]


def _keras_texts() -> list[bytes]:
    layers = [{"class_name": "Conv2D", "config": {"name": "c", "batch_input_shape": [None, 4, 4, 1], "filters": 2, "kernel_size": [2, 2]}},
              {"class_name": "Flatten", "config": {"name": "f"}},
              {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "softmax"}}]
    return [json.dumps({"class_name": "Sequential", "config": {"name": "small", "layers": layers}}).encode()]


TARGETS = {t.name: t for t in (
    Target("model", _zips, mutators.zipped({"configuration.json": mutators.json_text}), _restored),
    Target("list_json", _configurations, mutators.json_text, lambda d: MultiLayerConfiguration.from_json(d.decode("utf-8", "replace"))),
    Target("graph_json", lambda: [graph_configuration().to_json().encode()], mutators.json_text,
           lambda d: of_graph(ComputationGraphConfiguration.from_json(d.decode("utf-8", "replace")))),
    Target("yaml", lambda: [n.get_configuration().to_yaml().encode() for n in networks()[:1]], mutators.any_bytes,
           lambda d: MultiLayerConfiguration.from_yaml(d.decode("utf-8", "replace"))),
    Target("array", _arrays, mutators.any_bytes, lambda d: Nd4j.read(io.BytesIO(d))),
    Target("serde", lambda: [BinarySerde.to_byte_buffer(a) for a in _ARRAYS], mutators.any_bytes, BinarySerde.to_array),
    Target("graph", _graphs, mutators.any_bytes, SameDiff.from_flat_buffers),
    Target("sdnb", _newer_graphs(".sdnb"), mutators.any_bytes, _through_file(".sdnb", SameDiff.load)),
    Target("sdz", _newer_graphs(".sdz"), mutators.zipped({}), _through_file(".sdz", SameDiff.load)),
    Target("normalizer", _normalizers, mutators.any_bytes, lambda d: NormalizerSerializer.get_default().restore(io.BytesIO(d))),
    Target("data_set", _data_sets, mutators.any_bytes, lambda d: DataSet().load(io.BytesIO(d))),
    Target("multi_data_set", _multi_data_sets, mutators.any_bytes, lambda d: MultiDataSet().load(io.BytesIO(d))),
    Target("npz", _array_files(".npz"), mutators.zipped({}), _through_file(".npz", read_arrays)),
    Target("safetensors", _array_files(".safetensors"), mutators.any_bytes, _through_file(".safetensors", read_arrays)),
    Target("graph_model", _graph_zips, mutators.zipped({"configuration.json": mutators.json_text}), _kept),
    Target("unknown_classes", _with_unknown_classes,
           mutators.zipped({"configuration.json": mutators.json_text, "classes.dl4py.json": mutators.json_text}), _kept),
    Target("table", lambda: [b"1,2,x\n3,4.5,y\n", b"1;2\n\n3;4\n", b'"a","b"\n1,"2,5"\n'], mutators.any_bytes,
           _through_file(".csv", lambda p: CSVRecordReader().initialize(p).table())),
    Target("statistics", lambda: [b'{"format": "dl4py-training-stats", "version": 1}\n{"iteration": 1, "score": 0.5}\n'],
           mutators.any_bytes, _through_file(".jsonl", lambda p: FileStatsStorage(p).series("score"))),
    Target("onnx", _onnx_models, mutators.any_bytes, _through_file(".onnx", SameDiff.import_onnx)),
    Target("tensorflow", _tensorflow_graphs, mutators.any_bytes, SameDiff.import_frozen_tf),
    Target("checkpoint", _checkpoints, mutators.any_bytes, _through_file(".index", _checkpoint)),
    Target("keras", _keras_texts, mutators.json_text, lambda d: KerasModelImport.import_keras_model_configuration(io.BytesIO(d))),
    Target("inspect", lambda: [*_zips()[:1], *_graphs()[:1], *_normalizers()[:1]],
           mutators.zipped({"configuration.json": mutators.json_text}), _through_file("", inspect)),
)}
