"""Rows of the grid for graphs: ops and small graphs of them, vertices of computation graphs."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from grid_rows import RATE, Call, Network, Row, one_hot

from dl4py import layers as L
from dl4py.networks import ComputationGraph, NeuralNetConfiguration
from dl4py.networks.batches.batch import NetworkBatch
from dl4py.samediff import Conv2DConfig, DataType, SameDiff
from dl4py.samediff.training import Sgd

Shape = tuple[int, ...]

#: What is computed of x (and y, z), by name, with shapes of the small and the large size; whole numbers stand for classes below them.
SMALL3, LARGE3 = (4, 8, 16), (32, 64, 64)
SMALL2, LARGE2 = (16, 16), (512, 256)
GRAPHS: dict[str, tuple[Callable[..., Any], Sequence[Shape], Sequence[Shape]]] = {
    "batched product": (lambda sd, x, y: sd.linalg.matmul(x, y, transpose_y=True), [SMALL3, SMALL3], [LARGE3, LARGE3]),
    "einsum bij,bjk->bik": (lambda sd, x, y: np.einsum("bij,bkj->bik", x, y), [SMALL3, SMALL3], [LARGE3, LARGE3]),
    "permute and add": (lambda sd, x, y: x.permute(2, 0, 1) * 2.0 + y.permute(2, 0, 1), [SMALL3, SMALL3], [LARGE3, LARGE3]),
    "permute": (lambda sd, x: x.permute(1, 2, 0) + 0.0, [SMALL3], [LARGE3]),
    **{f"{how} over {axes}": (lambda sd, x, how=how, axes=axes: getattr(x, how)(*axes), [SMALL3], [LARGE3])
       for how in ("sum", "mean", "max", "std", "norm2", "prod") for axes in ((0,), (1,), (2,), (0, 2))},
    "argmax last": (lambda sd, x: sd.math.argmax(x, False, 1), [SMALL2], [LARGE2]),
    "softmax last": (lambda sd, x: sd.nn.softmax(x, -1), [SMALL3], [LARGE3]),
    "softmax middle": (lambda sd, x: sd.nn.softmax(x, 1), [SMALL3], [LARGE3]),
    "log softmax": (lambda sd, x: sd.nn.log_softmax(x), [SMALL2], [LARGE2]),
    "layer norm": (lambda sd, x: sd.nn.layer_norm(x, sd.var("g", np.ones(x.spec.shape[-1], np.float32)), False, 1), [SMALL2], [LARGE2]),
    "cumsum": (lambda sd, x: sd.math.cumsum(x, False, False, 1), [SMALL2], [LARGE2]),
    "concat": (lambda sd, x, y: sd.math.concat(1, x, y), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "stack": (lambda sd, x, y: sd.math.stack(1, x, y), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "tile": (lambda sd, x: sd.math.tile(x, 2, 2), [SMALL2], [LARGE2]),
    "slices": (lambda sd, x: x[:, 1:-1] * x[:, 2:][:, :1], [SMALL2], [LARGE2]),
    "strided slice": (lambda sd, x: x[::2, ::-1], [SMALL2], [LARGE2]),
    "where": (lambda sd, x, y: sd.math.where(x, y, x > y), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "broadcast row": (lambda sd, x, y: x * y + y, [SMALL2, SMALL2[1:]], [LARGE2, LARGE2[1:]]),
    "broadcast column": (lambda sd, x, y: x * y + y, [SMALL2, (SMALL2[0], 1)], [LARGE2, (LARGE2[0], 1)]),
    "outer": (lambda sd, x, y: x.reshape(-1, 1) * y.reshape(1, -1), [(32,), (32,)], [(700,), (700,)]),
    "gather rows": (lambda sd, x: sd.math.gather(x, np.arange(0, 16, 3, dtype=np.int32), 0), [SMALL2], [LARGE2]),
    "gather columns": (lambda sd, x: sd.math.gather(x, np.arange(0, 16, 3, dtype=np.int32), 1), [SMALL2], [LARGE2]),
    "segment sum": (lambda sd, x: sd.math.unsorted_segment_sum(x, sd.constant(np.arange(x.spec.shape[0], dtype=np.int32) % 7), 7),
                    [SMALL2], [LARGE2]),
    "one hot": (lambda sd, x: sd.nn.softmax(x, -1) * sd.math.one_hot(sd.math.argmax(x, False, 1), x.spec.shape[1]), [SMALL2], [LARGE2]),
    "sort": (lambda sd, x: sd.nn.top_k(x, 4, True)[0], [SMALL2], [LARGE2]),
    "erf gelu": (lambda sd, x: x * 0.5 * (sd.math.erf(x * 0.7071) + 1.0), [SMALL2], [LARGE2]),
    "pow": (lambda sd, x: sd.math.pow(sd.math.abs(x) + 0.1, 1.7), [SMALL2], [LARGE2]),
    "log exp sqrt": (lambda sd, x: sd.math.log(sd.math.exp(x) + 1.0) * sd.math.sqrt(sd.math.abs(x) + 1.0), [SMALL2], [LARGE2]),
    "sin cos": (lambda sd, x: sd.math.sin(x) * sd.math.cos(x), [SMALL2], [LARGE2]),
    "product": (lambda sd, x, y: x.mmul(y), [SMALL2, SMALL2], [LARGE2, LARGE2[::-1]]),
    "product of column": (lambda sd, x, y: x.mmul(y), [SMALL2, (16, 1)], [LARGE2, (256, 1)]),
    "pad": (lambda sd, x: sd.image.pad(x, np.array([[1, 1], [2, 2]], np.int32), "CONSTANT", 0.0), [SMALL2], [LARGE2]),
    "norm of rows": (lambda sd, x: x / (x.norm2(True, 1) + 1e-3), [SMALL2], [LARGE2]),
    "mean square": (lambda sd, x, y: sd.loss.mean_squared_error(x, y, None), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "huber": (lambda sd, x, y: sd.loss.huber_loss(x, y, None), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "cosine": (lambda sd, x, y: sd.math.cosine_similarity(x, y, 1), [SMALL2, SMALL2], [LARGE2, LARGE2]),
    "conv nodes": (lambda sd, x, y: sd.nn.relu(sd.cnn.conv2d(x, y, Conv2DConfig(k_h=3, k_w=3)), 0),
                   [(4, 3, 10, 10), (3, 3, 3, 8)], [(16, 16, 32, 32), (3, 3, 16, 16)]),
    "attention": (lambda sd, x, y: _attention(sd, x, y), [(4, 8, 16), (4, 8, 16)], [(16, 64, 64), (16, 64, 64)]),
}
WITHOUT_GRADIENT = ("argmax last",)


def _attention(sd: SameDiff, x: Any, y: Any) -> Any:
    shares = sd.nn.softmax(sd.linalg.matmul(x, y, transpose_y=True) * 0.125, -1)
    return sd.linalg.matmul(shares, y)


def _call(name: str, slopes: bool, large: bool, dtype: str = "FLOAT") -> Call:
    make, *sizes = GRAPHS[name]
    sd, rng, kind = SameDiff.create(), np.random.default_rng(5), np.dtype("float64" if dtype == "DOUBLE" else "float32")
    feeds = {n: rng.standard_normal(s).astype(kind) for n, s in zip("xyz", sizes[large])}
    made = make(sd, *[sd.placeholder(n, DataType[dtype], *a.shape) for n, a in feeds.items()])
    if slopes:
        made.mark_as_loss()
    return Call(sd, feeds, [made.name()], list(feeds) if slopes else [], dtype == "DOUBLE")


VERTICES: dict[str, Callable[[], Any]] = {
    "merge": lambda: L.MergeVertex(), "l2": lambda: L.L2Vertex(), "stack": lambda: L.StackVertex(),
    **{how.lower(): (lambda how=how: L.ElementWiseVertex(how)) for how in ("Add", "Product", "Average", "Max", "Subtract")},
}
ONE: dict[str, Callable[[], Any]] = {
    "subset": lambda: L.SubsetVertex(0, 7), "scale": lambda: L.ScaleVertex(0.5), "shift": lambda: L.ShiftVertex(0.5),
    "l2 normalize": lambda: L.L2NormalizeVertex(),
}


def _graph(name: str, large: bool) -> Network:
    batch, width = (128, 256) if large else (16, 16)
    updater, two = Sgd(RATE), name in VERTICES
    builder = NeuralNetConfiguration.Builder().seed(5).updater(updater).graph_builder().add_inputs("in")
    for dense in "ab"[:1 + two]:
        builder = builder.add_layer(dense, L.DenseLayer(n_out=width, activation="tanh"), "in")
    builder = builder.add_vertex("v", {**VERTICES, **ONE}[name](), *"ab"[:1 + two])
    if name == "stack":
        builder = builder.add_vertex("u", L.UnstackVertex(0, 2), "v")
    builder = builder.add_layer("out", L.OutputLayer(n_out=4), "u" if name == "stack" else "v").set_outputs("out")
    net = ComputationGraph(builder.set_input_types(L.InputType.feed_forward(width)).build())
    net.init()
    rng = np.random.default_rng(3)

    def one() -> NetworkBatch:
        return NetworkBatch([rng.standard_normal((batch, width)).astype(np.float32)], [one_hot(rng, (batch, 4), 2).astype(np.float32)])
    return Network(net, [one() for _ in range(4)], updater)


def graph_rows() -> Iterator[Row]:
    """Ops forward and with gradients, then vertices."""
    for large, size in ((False, "small"), (True, "large")):
        for name in GRAPHS:
            yield Row(f"graph/{name}/{size}/forward", "call", partial(_call, name, False, large))
            if name not in WITHOUT_GRADIENT:
                yield Row(f"graph/{name}/{size}/gradients", "call", partial(_call, name, True, large))
        for name in ("batched product", "sum over (1,)", "softmax last"):
            yield Row(f"graph/{name} double/{size}/gradients", "call", partial(_call, name, True, large, "DOUBLE"))
        for name in (*VERTICES, *ONE):
            for kind in ("train", "infer"):
                yield Row(f"vertex/{name}/{size}/{kind}", kind, partial(_graph, name, large))
