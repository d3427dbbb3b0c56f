"""Rows of the grid for whole networks and larger graphs, as people write them, in training and inference."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from grid_rows import Call, Network, Row, network, normal, one_hot, positive

from dl4py import layers as L
from dl4py.layers import InputType
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.networks.batches.batch import NetworkBatch
from dl4py.samediff import Conv2DConfig, DataType, SameDiff
from dl4py.samediff.training import Adam, Sgd

BATCH = 32
SAME = {"convolution_mode": "Same"}
#: An input: its type, and how many whole numbers it is drawn from (0: normal ones).
Input = tuple[Any, int]


def _conv(out: int, kernel: Any = 3, activation: str = "relu", **more: Any) -> Any:
    return L.ConvolutionLayer(kernel_size=kernel, n_out=out, activation=activation, **SAME, **more)


def _graph(inputs: Sequence[Input], members: Sequence[tuple[Any, ...]], batch: int, outputs: Sequence[str] = ("out",),
           updater: Any = None) -> Network:
    """A graph of (name, layer or vertex, *inputs), which are ``in0``, ``in1`` ... or members."""
    updater = updater or Adam(1e-3)
    names = [f"in{i}" for i in range(len(inputs))]
    builder = NeuralNetConfiguration.Builder().seed(5).updater(updater).graph_builder().add_inputs(*names)
    for name, member, *given in members:
        add = builder.add_layer if isinstance(member, L.Layer) else builder.add_vertex
        builder = add(name, member, *given)
    net = ComputationGraph(builder.set_outputs(*outputs).set_input_types(*[kind for kind, _ in inputs]).build())
    net.init()
    rng = np.random.default_rng(3)

    def drawn(kind: Any, whole: int) -> Any:
        shape = (batch, *kind.array_shape()[1:])
        if not whole:
            return (0.3 * rng.standard_normal(shape)).astype(np.float32)
        return rng.integers(0, whole, (batch, 1, *shape[2:])).astype(np.float32)

    def one() -> NetworkBatch:
        given = [drawn(*each) for each in inputs]
        found = net.output(*given)
        made = found if isinstance(found, (list, tuple)) else [found]
        return NetworkBatch(given, [one_hot(rng, np.shape(a), np.ndim(a)).astype(np.float32) for a in made])
    return Network(net, [one() for _ in range(4)], updater)


def _words(words: int, steps: int) -> Input:
    return InputType.recurrent(words, steps), words


def _images(size: int, channels: int) -> Input:
    return InputType.convolutional(size, size, channels), 0


def _series(size: int, steps: int) -> Input:
    return InputType.recurrent(size, steps), 0


def _rows(size: int, whole: int = 0) -> Input:
    return InputType.feed_forward(size), whole


def _text_of_windows() -> list[tuple[Any, ...]]:
    made: list[tuple[Any, ...]] = [("e", L.EmbeddingSequenceLayer(n_in=10000, n_out=64, input_length=40), "in0")]
    for k in (3, 4, 5):
        made += [(f"c{k}", L.Convolution1DLayer(kernel_size=k, n_out=64, activation="relu", **SAME), "e"),
                 (f"p{k}", L.GlobalPoolingLayer("max"), f"c{k}")]
    return [*made, ("m", L.MergeVertex(), "p3", "p4", "p5"), ("out", L.OutputLayer(n_out=5), "m")]


def _mobile() -> list[tuple[Any, ...]]:
    made = [("s", _conv(16, stride=2, has_bias=False, activation="identity"), "in0"), ("b", L.BatchNormalization(), "s"),
            ("a", L.ActivationLayer("relu6"), "b")]
    before = "a"
    for i, (out, stride) in enumerate([(32, 1), (64, 2), (64, 1), (128, 2)]):
        depthwise = L.DepthwiseConvolution2D(kernel_size=3, stride=stride, depth_multiplier=1, has_bias=False, **SAME)
        for name, layer in (("d", depthwise), ("e", L.BatchNormalization()), ("f", L.ActivationLayer("relu6")),
                            ("p", _conv(out, 1, "identity", has_bias=False)), ("q", L.BatchNormalization()),
                            ("r", L.ActivationLayer("relu6"))):
            made.append((f"{name}{i}", layer, before))
            before = f"{name}{i}"
    return [*made, ("g", L.GlobalPoolingLayer("avg"), before), ("out", L.OutputLayer(n_out=10), "g")]


def _residual() -> list[tuple[Any, ...]]:
    made, before = [("s", _conv(16), "in0")], "s"
    for i in range(3):
        made += [(f"a{i}", _conv(16, activation="identity", has_bias=False), before), (f"b{i}", L.BatchNormalization(), f"a{i}"),
                 (f"c{i}", _conv(16, activation="identity", has_bias=False), f"b{i}"), (f"d{i}", L.BatchNormalization(), f"c{i}"),
                 (f"e{i}", L.ElementWiseVertex("Add"), f"d{i}", before), (f"f{i}", L.ActivationLayer("relu"), f"e{i}")]
        before = f"f{i}"
    return [*made, ("g", L.GlobalPoolingLayer("avg"), before), ("out", L.OutputLayer(n_out=10), "g")]


#: Graphs: inputs, members, and what differs from one output and Adam.
GRAPHS: dict[str, tuple[list[Input], Callable[[], list[tuple[Any, ...]]], dict[str, Any]]] = {
    "recommender": ([_rows(20000, 20000), _rows(5000, 5000)], lambda: [
        ("u", L.EmbeddingLayer(n_in=20000, n_out=64), "in0"), ("i", L.EmbeddingLayer(n_in=5000, n_out=64), "in1"),
        ("p", L.ElementWiseVertex("Product"), "u", "i"), ("m", L.MergeVertex(), "u", "i", "p"),
        ("d", L.DenseLayer(n_out=64, activation="relu"), "m"), ("out", L.OutputLayer(n_out=2), "d")], {"updater": Sgd(0.01)}),
    "text by windows": ([_words(10000, 40)], _text_of_windows, {"updater": Sgd(0.01)}),
    "bag of words": ([_words(50000, 60)], lambda: [
        ("e", L.EmbeddingSequenceLayer(n_in=50000, n_out=100), "in0"), ("p", L.GlobalPoolingLayer("avg"), "e"),
        ("out", L.OutputLayer(n_out=4), "p")], {"updater": Sgd(0.01)}),
    "words and LSTM": ([_words(5000, 40)], lambda: [
        ("e", L.EmbeddingSequenceLayer(n_in=5000, n_out=64), "in0"), ("l", L.LSTM(n_out=64, activation="tanh"), "e"),
        ("p", L.GlobalPoolingLayer("max"), "l"), ("out", L.OutputLayer(n_out=4), "p")], {}),
    "sequence to sequence": ([_series(12, 20), _series(12, 15)], lambda: [
        ("a", L.LSTM(n_out=64, activation="tanh"), "in0"), ("b", L.LastTimeStepVertex("in0"), "a"),
        ("c", L.DuplicateToTimeSeriesVertex("in1"), "b"), ("m", L.MergeVertex(), "in1", "c"),
        ("d", L.LSTM(n_out=64, activation="tanh"), "m"), ("out", L.RnnOutputLayer(n_out=12), "d")], {}),
    "MobileNet": ([_images(32, 3)], _mobile, {}),
    "residual": ([_images(24, 3)], _residual, {}),
    "inception": ([_images(20, 16)], lambda: [
        ("a", _conv(16, 1), "in0"), ("b", _conv(8, 1), "in0"), ("c", _conv(16), "b"), ("d", _conv(8, 5), "in0"),
        ("e", L.SubsamplingLayer(pooling_type="max", kernel_size=3, stride=1, **SAME), "in0"), ("f", _conv(8, 1), "e"),
        ("m", L.MergeVertex(), "a", "c", "d", "f"), ("n", L.LocalResponseNormalization(), "m"),
        ("p", L.SubsamplingLayer(pooling_type="avg", kernel_size=2, stride=2), "n"), ("out", L.OutputLayer(n_out=10), "p")], {}),
    "U-Net": ([_images(32, 3)], lambda: [
        ("a", _conv(16), "in0"), ("p", L.SubsamplingLayer(pooling_type="max", kernel_size=2, stride=2), "a"), ("b", _conv(32), "p"),
        ("u", L.Upsampling2D(2), "b"), ("m", L.MergeVertex(), "u", "a"), ("c", _conv(16), "m"), ("z", _conv(2, 1, "identity"), "c"),
        ("out", L.CnnLossLayer(loss="mcxent", activation="softmax"), "z")], {}),
    "siamese": ([_rows(50), _rows(50)], lambda: [
        ("s", L.StackVertex(), "in0", "in1"), ("a", L.DenseLayer(n_out=64, activation="relu"), "s"), ("b", L.DenseLayer(n_out=32), "a"),
        ("u", L.UnstackVertex(0, 2), "b"), ("v", L.UnstackVertex(1, 2), "b"), ("l", L.L2Vertex(), "u", "v"),
        ("out", L.OutputLayer(n_out=2), "l")], {}),
    "two outputs": ([_rows(30)], lambda: [
        ("h", L.DenseLayer(n_out=64, activation="tanh"), "in0"), ("o", L.OutputLayer(n_out=3), "h"), ("q", L.OutputLayer(n_out=7), "h")],
        {"outputs": ("o", "q")}),
}

_DENSE = partial(L.DenseLayer, activation="elu")
#: Lists of layers: input type, layers, and what differs from Adam and classes as labels.
LISTS: dict[str, tuple[Any, Callable[[], list[Any]], dict[str, Any]]] = {
    "bidirectional LSTM": (InputType.recurrent(16, 50), lambda: [
        *(L.Bidirectional(L.LSTM(n_out=32)) for _ in range(2)), L.GlobalPoolingLayer("max"), L.OutputLayer(n_out=5)], {}),
    "wide LSTM": (InputType.recurrent(40, 30), lambda: [L.LSTM(n_out=256, activation="tanh"), L.RnnOutputLayer(n_out=20)], {}),
    "LSTM as by default": (InputType.recurrent(12, 40), lambda: [
        L.LSTM(n_out=64), L.LSTM(n_out=64), L.LastTimeStep(L.LSTM(n_out=32)), L.OutputLayer(n_out=3)], {}),
    "self attention": (InputType.recurrent(32, 30), lambda: [
        *(L.SelfAttentionLayer(n_out=32, n_heads=4, head_size=8, project_input=True) for _ in range(2)), L.GlobalPoolingLayer("avg"),
        L.OutputLayer(n_out=5)], {}),
    "learned attention": (InputType.recurrent(32, 30), lambda: [
        L.LearnedSelfAttentionLayer(n_out=32, n_heads=4, head_size=8, n_queries=4, project_input=True), L.GlobalPoolingLayer("avg"),
        L.OutputLayer(n_out=5)], {}),
    "recurrent attention": (InputType.recurrent(32, 12), lambda: [
        L.RecurrentAttentionLayer(n_out=32, n_heads=4, head_size=8, project_input=True), L.RnnOutputLayer(n_out=5)], {}),
    "SimpleRnn": (InputType.recurrent(10, 30), lambda: [
        L.SimpleRnn(n_out=48, activation="tanh"), L.SimpleRnn(n_out=48, activation="relu", has_layer_norm=True),
        L.LastTimeStep(L.SimpleRnn(n_out=24)), L.OutputLayer(n_out=4)], {}),
    "volumes": (InputType.convolutional3d("NCDHW", 12, 16, 16, 4), lambda: [
        L.Convolution3D(kernel_size=3, n_out=16, activation="relu", **SAME),
        L.Subsampling3DLayer(pooling_type="max", kernel_size=2, stride=2),
        L.Convolution3D(kernel_size=3, n_out=32, activation="relu", **SAME), L.GlobalPoolingLayer("avg"), L.OutputLayer(n_out=5)], {}),
    "Conv1D": (InputType.recurrent(32, 200), lambda: [
        *(L.Convolution1DLayer(kernel_size=5, n_out=64, activation="relu") for _ in range(2)), L.GlobalPoolingLayer("max"),
        L.OutputLayer(n_out=6)], {}),
    "dilated Conv1D": (InputType.recurrent(8, 64), lambda: [
        *(L.Convolution1DLayer(kernel_size=3, n_out=32, dilation=d, convolution_mode="Causal", activation="relu") for d in (1, 2, 4, 8)),
        L.RnnOutputLayer(n_out=4)], {}),
    "VGG": (InputType.convolutional(32, 32, 3), lambda: [
        *(_conv(n) if n else L.SubsamplingLayer(pooling_type="max", kernel_size=2, stride=2) for n in (32, 32, 0, 64, 64, 0, 128, 128, 0)),
        L.DenseLayer(n_out=128, activation="relu"), L.OutputLayer(n_out=10)], {}),
    "dilated": (InputType.convolutional(32, 32, 3), lambda: [
        *(_conv(16, dilation=d) for d in (1, 2, 4)), _conv(3, 1, "identity"), L.CnnLossLayer(loss="mcxent", activation="softmax")], {}),
    "separable": (InputType.convolutional(24, 24, 8), lambda: [
        *(L.SeparableConvolution2D(kernel_size=3, n_out=n, stride=s, activation="relu", **SAME) for n, s in ((32, 1), (64, 2))),
        L.GlobalPoolingLayer("max"), L.OutputLayer(n_out=5)], {}),
    "convolutional autoencoder": (InputType.convolutional(28, 28, 1), lambda: [
        _conv(8, stride=2), _conv(16, stride=2),
        *(L.Deconvolution2D(kernel_size=3, stride=2, n_out=n, activation=a, **SAME) for n, a in ((8, "relu"), (1, "sigmoid"))),
        L.CnnLossLayer(loss="mse", activation="identity")], {"labels": positive}),
    "super resolution": (InputType.convolutional(14, 14, 4), lambda: [
        _conv(16), L.Upsampling2D(2), _conv(8), L.Upsampling2D(2), _conv(1, activation="sigmoid"),
        L.CnnLossLayer(loss="mse", activation="identity")], {"labels": positive}),
    "capsules": (InputType.convolutional(16, 16, 1), lambda: [
        L.ConvolutionLayer(kernel_size=5, n_out=16, activation="relu"),
        L.PrimaryCapsules(capsules=4, capsule_dimensions=8, kernel_size=(5, 5), stride=(2, 2)),
        L.CapsuleLayer(capsules=5, capsule_dimensions=8, routings=2), L.CapsuleStrengthLayer(), L.ActivationLayer("softmax"),
        L.LossLayer(loss="mse", activation="identity")], {}),
    "autoencoder": (InputType.feed_forward(200), lambda: [
        *(_DENSE(n_out=n) for n in (128, 32, 128)), L.OutputLayer(n_out=200, activation="sigmoid", loss="xent")], {"labels": positive}),
    "deep and narrow": (InputType.feed_forward(12), lambda: [
        *(L.DenseLayer(n_out=24, activation="selu") for _ in range(30)), L.OutputLayer(n_out=1, loss="mse", activation="identity")],
        {"labels": normal}),
    "wide and flat": (InputType.feed_forward(512), lambda: [
        *(L.DenseLayer(n_out=1024, activation="relu") for _ in range(2)), L.OutputLayer(n_out=1000)], {}),
    "layer norm": (InputType.feed_forward(60), lambda: [
        *(L.DenseLayer(n_out=128, activation=a, has_layer_norm=True) for a in ("relu", "tanh")), L.OutputLayer(n_out=5)], {}),
    "double": (InputType.feed_forward(60), lambda: [
        L.DenseLayer(n_out=128, activation="tanh"), L.DenseLayer(n_out=64, activation="relu"), L.OutputLayer(n_out=5)],
        {"dtype": "DOUBLE"}),
    "double LSTM": (InputType.recurrent(8, 20), lambda: [
        L.LSTM(n_out=32, activation="tanh"), L.RnnOutputLayer(n_out=4)], {"dtype": "DOUBLE"}),
}


def _list(name: str, batch: int) -> Network:
    given, layers, more = LISTS[name]
    return network(layers(), given, batch, **{"updater": Adam(1e-3), **more})


def _members(name: str, batch: int) -> Network:
    inputs, members, more = GRAPHS[name]
    return _graph(inputs, members(), batch, **more)


class Written:
    """A SameDiff graph that is being written: placeholders and variables with random numbers."""

    def __init__(self) -> None:
        self.sd, self.rng = SameDiff.create(), np.random.default_rng(5)
        self.feeds: dict[str, np.ndarray] = {}

    def given(self, *shape: int) -> Any:
        """A placeholder."""
        name = f"x{len(self.feeds)}"
        self.feeds[name] = self.rng.standard_normal(shape).astype(np.float32)
        return self.sd.placeholder(name, DataType.FLOAT, *shape)

    def weight(self, *shape: int) -> Any:
        """A variable whose products keep the size of what they are given."""
        return self.sd.var((self.rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))


def _normalized(g: Written, x: Any, size: int) -> Any:
    centred = x - g.sd.mean(x, True, -1)
    return centred / g.sd.math.sqrt(g.sd.mean(centred * centred, True, -1) + 1e-5) * g.weight(size) + g.weight(size)


def _transformer(g: Written, batch: int = 8, steps: int = 32, size: int = 64, heads: int = 4) -> Any:
    sd, x = g.sd, g.given(batch, steps, size)
    for _ in range(2):
        rows = _normalized(g, x, size).reshape(batch * steps, size)
        q, k, v = (rows.mmul(g.weight(size, size)).reshape(batch, steps, heads, size // heads).permute(0, 2, 1, 3) for _ in range(3))
        shares = sd.nn.softmax(sd.linalg.matmul(q, k, transpose_y=True) * (heads / size) ** 0.5, -1)
        seen = sd.linalg.matmul(shares, v).permute(0, 2, 1, 3).reshape(batch * steps, size)
        x = x + seen.mmul(g.weight(size, size)).reshape(batch, steps, size)
        rows = _normalized(g, x, size).reshape(batch * steps, size)
        x = x + sd.nn.gelu(rows.mmul(g.weight(size, 4 * size))).mmul(g.weight(4 * size, size)).reshape(batch, steps, size)
    return x * x


def _convolved_graph(g: Written, nodes: int = 500, edges: int = 3000) -> Any:
    x, (source, target) = g.given(nodes, 32), (g.sd.constant(g.rng.integers(0, nodes, edges).astype(np.int32)) for _ in range(2))
    for size in (32, 16):
        messages = g.sd.gather(x.mmul(g.weight(32, size)), source, 0)
        x = g.sd.nn.relu(g.sd.math.unsorted_segment_sum(messages, target, nodes), 0)
    return x * x


def _mixture_density(g: Written) -> Any:
    sd, x, y = g.sd, g.given(128, 8), g.given(128, 1)
    hidden = sd.math.tanh(x.mmul(g.weight(8, 32)))
    mean, deviation, share = (hidden.mmul(g.weight(32, 5)) for _ in range(3))
    logs = sd.nn.log_softmax(share) - deviation - (y - mean) ** 2 / (2 * sd.math.exp(2 * deviation))
    top = sd.max(logs, True, -1)
    return (sd.math.log(sd.sum(sd.math.exp(logs - top), True, -1)) + top).neg()


def _variational(g: Written) -> Any:
    sd, x = g.sd, g.given(64, 100)
    hidden = sd.math.tanh(x.mmul(g.weight(100, 64)))
    mean, log_variance = (hidden.mmul(g.weight(64, 8)) for _ in range(2))
    z = mean + sd.math.exp(log_variance * 0.5) * g.given(64, 8)
    made = sd.math.sigmoid(sd.math.tanh(z.mmul(g.weight(8, 64))).mmul(g.weight(64, 100)))
    return sd.math.square(made - x).sum() + sd.sum(sd.math.exp(log_variance) + mean * mean - 1 - log_variance) * 0.5


def _attending_graph(g: Written, nodes: int = 60) -> Any:
    sd = g.sd
    hidden = g.given(nodes, 16).mmul(g.weight(16, 16))
    scores = sd.nn.leaky_relu(hidden.mmul(g.weight(16, 1)) + sd.transpose(hidden.mmul(g.weight(16, 1))), 0.2)
    hides = sd.constant(np.where(g.rng.random((nodes, nodes)) < 0.2, 0, -1e9).astype(np.float32))
    return sd.math.square(sd.nn.softmax(scores + hides, -1).mmul(hidden))


def _contrastive(g: Written) -> Any:
    sd, w = g.sd, g.weight(32, 16)
    a, b = (v / sd.math.sqrt(sd.sum(v * v, True, 1) + 1e-8) for v in (g.given(64, 32).mmul(w), g.given(64, 32).mmul(w)))
    return (sd.nn.log_softmax(a.mmul(sd.transpose(b)) * 10) * sd.constant(np.eye(64, dtype=np.float32))).neg()


def _crossed(g: Written) -> Any:
    first = x = g.given(256, 40)
    for _ in range(3):
        x = first * x.mmul(g.weight(40, 1)) + g.weight(40) + x
    return g.sd.math.log(1 + g.sd.math.exp(x.mmul(g.weight(40, 1)).neg()))


def _group_norm(g: Written) -> Any:
    sd, config = g.sd, Conv2DConfig(k_h=3, k_w=3, p_h=1, p_w=1)
    x = sd.cnn.conv2d(g.given(8, 32, 14, 14), g.weight(3, 3, 32, 32) * 0.1, config).reshape(8, 4, 8 * 14 * 14)
    centred = x - sd.mean(x, True, 2)
    x = centred / sd.math.sqrt(sd.mean(centred * centred, True, 2) + 1e-5)
    return sd.nn.swish(x.reshape(8, 32, 14, 14) * g.weight(1, 32, 1, 1))


def _nearest(g: Written) -> Any:
    apart = g.given(200, 16).reshape(200, 1, 16) - g.weight(20, 16).reshape(1, 20, 16)
    return g.sd.min(g.sd.sum(apart * apart, False, 2), False, 1)


WRITTEN: dict[str, Callable[[Written], Any]] = {
    "transformer": _transformer, "long transformer": partial(_transformer, batch=4, steps=128, size=128, heads=8),
    "graph convolution": _convolved_graph, "graph attention": _attending_graph, "mixture density": _mixture_density,
    "variational": _variational, "contrastive": _contrastive, "crossed features": _crossed, "group norm": _group_norm, "nearest": _nearest,
    "largest": lambda g: g.sd.nn.top_k(g.given(64, 200) * g.weight(200), 5, True)[0],
    "factorization machine": lambda g: (lambda x, v: g.sd.sum(g.sd.math.square(x.mmul(v)) - (x * x).mmul(v * v), False, 1))(
        g.given(128, 60), g.weight(60, 10)),
    "running sums": lambda g: g.sd.math.cumsum(g.sd.math.abs(g.given(128, 100) * g.weight(100)), False, False, 1),
    "softmax of many": lambda g: g.sd.math.square(g.sd.nn.softmax(g.given(64, 10000) * g.weight(1, 10000), -1)),
}


def _written(name: str, gradients: bool) -> Call:
    g = Written()
    made = g.sd.mean(WRITTEN[name](g))
    if gradients:
        made.mark_as_loss()
    weights = [v.name() for v in g.sd.variables() if v.get_variable_type().name == "VARIABLE"]
    return Call(g.sd, g.feeds, [made.name()], weights if gradients else [])


def network_rows() -> Iterator[Row]:
    """Steps of training, inference of one example and of a batch; graphs forward and with gradients."""
    for names, made in ((GRAPHS, _members), (LISTS, _list)):
        for name in names:
            yield Row(f"network/{name}/train", "train", partial(made, name, BATCH))
            yield Row(f"network/{name}/infer 1", "infer", partial(made, name, 1))
            yield Row(f"network/{name}/infer {BATCH}", "infer", partial(made, name, BATCH))
    for name in WRITTEN:
        yield Row(f"written/{name}/forward", "call", partial(_written, name, False))
        yield Row(f"written/{name}/gradients", "call", partial(_written, name, True))
