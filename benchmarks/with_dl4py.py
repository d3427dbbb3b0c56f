"""The workloads in dl4py, through `fit` and `output` of networks and graphs.

On a GPU a step is one CUDA graph; in "dl4py_uncaptured" its launches are put into the queue one by one.
"""
from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from workloads import CPU, GATE, HEADS, RATE, Place, Task, Workload, cross_entropy, looped, table, total

from dl4py.layers import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    InputType,
    LastTimeStep,
    OutputLayer,
    RnnOutputLayer,
    SameDiffLambdaLayer,
    SubsamplingLayer,
    layer,
)
from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
from dl4py.samediff import DataType, SameDiff, device
from dl4py.samediff.data import CSVRecordReader, DataSet, NormalizerStandardize, RecordReaderDataSetIterator
from dl4py.samediff.training import Adam, TrainingConfig
from dl4py.udf import UserOp, user_op

SYSTEMS = ("dl4py", "dl4py_uncaptured")


@user_op("benchmark.gated")
class Gated(UserOp):
    """x * sigmoid(beta x), with a gradient of its own."""

    beta: float = GATE

    def compute(self, xp, x):
        return x / (1 + xp.exp(-self.beta * x))

    def grad(self, inputs, outputs, output_grads):
        s = inputs[0].sd.nn.sigmoid(inputs[0] * self.beta)
        return [output_grads[0] * (s + outputs[0] * (1 - s) * self.beta)]


@layer("benchmark.CustomGate")
class CustomGate(SameDiffLambdaLayer):
    """The custom op as a layer."""

    def define_layer(self, sd, layer_input):
        return sd.benchmark.gated(layer_input)

    def get_output_type(self, layer_index, input_type):
        return input_type


@layer("benchmark.BuiltInGate")
class BuiltInGate(CustomGate):
    """The same of built-in ops."""

    def define_layer(self, sd, layer_input):
        return layer_input * sd.nn.sigmoid(layer_input * GATE)


def _dense(w: Workload) -> list[Any]:
    *hidden, out = w.sizes[1:]
    between = {"custom": [CustomGate()], "builtin": [BuiltInGate()]}.get(w.task, [])
    if w.task == "regular":
        between = [BatchNormalization(), ActivationLayer("relu"), DropoutLayer(0.5)]
    act = "identity" if between else "relu"
    return [made for n in hidden for made in (DenseLayer(n_out=n, activation=act), *between)] + [OutputLayer(n_out=out)]


def _lenet(w: Workload) -> list[Any]:
    def pool() -> Any:
        return SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2))
    return [ConvolutionLayer(kernel_size=(5, 5), n_out=20, activation="relu"), pool(),
            ConvolutionLayer(kernel_size=(5, 5), n_out=50, activation="relu"), pool(),
            DenseLayer(n_out=500, activation="relu"), OutputLayer(n_out=10)]


LAYERS: dict[str, Callable[[Workload], list[Any]]] = {
    **dict.fromkeys(("mlp", "custom", "builtin", "regular", "table"), _dense),
    "lenet": _lenet,
    "char": lambda w: [*(LSTM(n_out=n, activation="tanh") for n in w.sizes[1:-1]), RnnOutputLayer(n_out=w.sizes[-1])],
    "uci": lambda w: [LastTimeStep(underlying=LSTM(n_out=w.sizes[1], activation="tanh")), OutputLayer(n_out=w.sizes[2])],
}
PARAMETERS = ("W", "RW", "b")        # in the order of Workload.weights; those of batch norm stay as they are


def network(w: Workload) -> MultiLayerNetwork:
    """The network with the common initial weights."""
    kind = {"lenet": InputType.convolutional(28, 28, 1), "char": InputType.recurrent(w.sizes[0]), "uci": InputType.recurrent(1)}
    conf = (NeuralNetConfiguration.Builder().seed(1).updater(Adam(RATE)).list(*LAYERS[w.task](w))
            .set_input_type(kind.get(w.task) or InputType.feed_forward(w.sizes[0])).build())
    net = MultiLayerNetwork(conf).init()
    names = [n.split("_") for n in net.param_table() if n.split("_")[1] in PARAMETERS]
    names.sort(key=lambda n: (int(n[0]), PARAMETERS.index(n[1])))
    for name, value in zip(names, w.weights().values(), strict=True):
        net.set_param("_".join(name), value)
    return net


def _features_first(a: np.ndarray) -> np.ndarray:
    """Series (batch, time, features) as DL4J has them: (batch, features, time)."""
    return np.ascontiguousarray(a.swapaxes(1, 2)) if a.ndim == 3 else a


def _fits(net: Any, data: list[DataSet]) -> Callable[[int], object]:
    """One call of ``fit`` for all steps of a slice."""
    turn = itertools.cycle(data)
    return lambda n: net.fit(list(itertools.islice(turn, n)))


def _network(w: Workload) -> Task:
    net, batches = network(w), w.batches()
    data = [DataSet(_features_first(x), _features_first(y)) for x, y in batches]
    if w.kind == "train":
        return Task(_fits(net, data), lambda: net.score(data[0]))
    inputs = [(d.get_features(),) for d in data]
    return Task(looped(net.output, inputs), lambda: cross_entropy(net.output(*inputs[0]), batches[0][1]))


def _block(w: Workload) -> Task:
    """x + attention(norm(x)), then x + feed_forward(norm(x)), as one graph; mean squared error."""
    batches, values = w.batches(), w.weights()
    sd, d, t = SameDiff.create(), w.sizes[0], w.steps
    x = sd.placeholder("x", DataType.FLOAT, -1, t, d)
    y = sd.placeholder("y", DataType.FLOAT, -1, t, d)
    p = {name: sd.var(name, value) for name, value in values.items()}

    def norm(name: str, v: Any) -> Any:
        return sd.nn.layer_norm(v, sd.var("g" + name, np.ones(d, np.float32)), sd.var("c" + name, np.zeros(d, np.float32)), False, 2)

    def heads(v: Any) -> Any:
        return v.reshape(-1, t, HEADS, d // HEADS).permute(0, 2, 1, 3)

    rows = norm("1", x).reshape(-1, d)
    q, k, v = (heads(rows.mmul(p[n])) for n in ("Wq", "Wk", "Wv"))
    shares = sd.nn.softmax(sd.linalg.matmul(q, k, transpose_y=True) * (d // HEADS) ** -0.5, 3)
    mixed = sd.linalg.matmul(shares, v).permute(0, 2, 1, 3).reshape(-1, d).mmul(p["Wo"])
    x2 = x + mixed.reshape(-1, t, d)
    hidden = sd.nn.relu(norm("2", x2).reshape(-1, d).mmul(p["W1"]) + p["bW1"], 0)
    out = x2 + (hidden.mmul(p["W2"]) + p["bW2"]).reshape(-1, t, d)
    sd.loss.mean_squared_error("loss", y, out, None)
    sd.set_training_config(TrainingConfig(updater=Adam(RATE), data_set_feature_mapping="x", data_set_label_mapping="y"))
    first = dict(zip("xy", batches[0]))
    return Task(_fits(sd, [DataSet(*b) for b in batches]), lambda: float(sd.output_single(first, "loss")))


def _graph(w: Workload, build: Callable[..., Any], gradients: Iterable[str]) -> Task:
    """A graph that is computed, with gradients where names are given."""
    sd, batches = SameDiff.create(), w.batches()
    feeds = [(dict(zip("xy", pair[:1 + (w.task == "slopes")])),) for pair in batches]
    placeholders = [sd.placeholder(name, DataType.FLOAT, *a.shape) for name, a in feeds[0][0].items()]
    build(sd, *placeholders, **{name: sd.var(name, value) for name, value in w.weights().items()}).mark_as_loss()
    asked = list(gradients)

    def step(given: dict[str, np.ndarray]) -> list[np.ndarray]:
        if not asked:
            return list(sd.output(given, "out").values())
        outputs, slopes = sd.calculate_gradients_and_outputs(given, ["out"], asked)
        return [*outputs.values(), *slopes.values()]
    return Task(looped(step, feeds), lambda: total(step(*feeds[0])))


def _map(sd: SameDiff, x: Any) -> Any:
    return sd.math.add("out", x * sd.nn.sigmoid(x * 1.7), sd.math.tanh(x) * sd.math.exp(-x * x))


def _chain(sd: SameDiff, x: Any) -> Any:
    return (x * sd.nn.sigmoid(x * 1.7) + sd.math.tanh(x) * sd.math.exp(-x * x)).sum("out")


def _slopes(sd: SameDiff, x: Any, y: Any, W1: Any, bW1: Any, W2: Any, bW2: Any) -> Any:
    hidden = sd.nn.relu(x.mmul(W1) + bW1, 0)
    return sd.loss.softmax_cross_entropy("out", y, hidden.mmul(W2) + bW2, None)


def _tiny(sd: SameDiff, x: Any, W: Any, b: Any) -> Any:
    for i in range(10):
        x = sd.math.tanh("out" if i == 9 else None, x * 1.01 + b)
    return x


def _tiny_mm(sd: SameDiff, x: Any, W: Any, b: Any) -> Any:
    for i in range(10):
        x = sd.math.tanh("out" if i == 9 else None, x.mmul(W) + b)
    return x


GRAPHS = {"map": (_map, []), "slopes": (_slopes, ["W1", "bW1", "W2", "bW2"]), "chain": (_chain, ["x"]),
          "tiny": (_tiny, []), "tiny_mm": (_tiny_mm, []), "tiny_grad": (_tiny, ["x", "b"])}


def _job(w: Workload) -> Task:
    """From the file to a trained network."""
    done: list[Any] = []

    def job() -> None:
        data = RecordReaderDataSetIterator(CSVRecordReader().initialize(table()), w.batch, 20, 3)
        scale = NormalizerStandardize()
        scale.fit(data)
        data.reset()
        data.set_pre_processor(scale)
        net = network(w)
        net.fit(data)
        done[:] = net, data

    def score() -> float:
        net, data = done
        data.reset()
        return net.score(data.next())
    return Task(looped(job, [()]), score)


def _placed(task: Task, place: Place, is_captured: bool) -> Task:
    """The task on a device; whether steps become CUDA graphs is decided in their first run."""
    def there(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            os.environ["DL4PY_CUDA_GRAPHS"] = str(int(is_captured))
            with device(place.device):
                return call(*given)
        return called
    return Task(there(task.run), there(task.score))


def device_name(place: Place) -> str:
    """What the GPU calls itself, and its memory; DeviceError where it is not there."""
    with device(place.device):
        if not place.is_gpu:
            return "the emulator of a GPU"
        import cupy
        found = cupy.cuda.runtime.getDeviceProperties(place.index)
        name = found["name"].decode() if isinstance(found["name"], bytes) else found["name"]
        return f"{name}, {found['totalGlobalMem'] / 2**30:.0f} GiB"


def make(w: Workload, system: str = "dl4py", place: Place = CPU) -> Task:
    """The workload in dl4py."""
    if w.task in GRAPHS:
        task = _graph(w, *GRAPHS[w.task])
    else:
        task = {"block": _block, "table": _job}.get(w.task, _network)(w)
    return task if place == CPU else _placed(task, place, system != "dl4py_uncaptured")
