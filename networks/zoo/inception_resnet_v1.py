"""InceptionResNetV1."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...layers import (
    ActivationLayer,
    BatchNormalization,
    CenterLossOutputLayer,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    L2NormalizeVertex,
    MergeVertex,
    ScaleVertex,
    SubsamplingLayer,
    TruncatedNormalDistribution,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import RmsProp
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import InceptionResNetV1Names
from .model import ZooGraph

__all__ = ["InceptionResNetV1"]

EMBEDDING = 128
#: Convolutions of a block, one tuple for each path: number of the layer, size of the windows, channels.
Paths = Sequence[Sequence[tuple[int, Any, int]]]
_A: Paths = (((1, 1, 32),), ((2, 1, 32), (3, 3, 32)), ((4, 1, 32), (5, 3, 32), (6, 3, 32)))
_B: Paths = (((1, 1, 128),), ((2, 1, 128), (3, (1, 3), 128), (4, (3, 1), 128)))
_C: Paths = (((1, 1, 192),), ((2, 1, 192), (3, (1, 3), 192), (4, (3, 1), 192)))


@configuration(kw_only=True, tag="")
class InceptionResNetV1(ZooGraph, InceptionResNetV1Names):
    """Inception-ResNet 1 (Szegedy et al., 2016) for embeddings of faces, as in FaceNet: a graph.

    Shapes: x (batch, 3, 160, 160) by default -> (batch, num_classes); ``embeddings`` are (batch, 128).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is RmsProp(0.1, 0.96, 0.001) by default.
    """

    input_shape: Convertible[tuple[int, ...]] = (3, 160, 160)
    updater: Convertible[IUpdater] = RmsProp(0.1, 0.96, 0.001)

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(activation="relu", weight_init=TruncatedNormalDistribution(0.0, 0.5), l2=5e-5,
                             convolution_mode="Truncate").graph_builder()
        graph.add_inputs("input1").set_input_types(self.image_type())
        last, size = self._stem(graph)
        last = add_blocks(graph, "resnetA", 5, 0.17, last, _A, size, (7, 3))
        last = self._reduce_a(graph, last, size)
        size = 576
        graph.append_layer("resnetB-activation1-0", ActivationLayer("tanh"))
        last = add_blocks(graph, "resnetB", 10, 0.10, "resnetB-activation1-0", _B, size, (5, 1))
        last = self._reduce_b(graph, last, size)
        add_blocks(graph, "resnetC", 5, 0.20, last, _C, 1344, (5, 1), bounded=(4, 5))
        graph.append_layer("avgpool", SubsamplingLayer("AVG", kernel_size=1))
        graph.append_layer("bottleneck", DenseLayer(n_out=EMBEDDING))
        graph.append_vertex("embeddings", L2NormalizeVertex((1,), 1e-10))
        graph.append_layer("outputLayer", CenterLossOutputLayer(n_in=EMBEDDING, n_out=self.num_classes, loss="NEGATIVELOGLIKELIHOOD",
                                                                activation="softmax", alpha=0.9, lambda_=1e-4))
        return graph.set_outputs("outputLayer")

    def _stem(self, graph: GraphBuilder) -> tuple[str, int]:
        last, size = "input1", self.input_shape[0]
        for number, kernel, stride, channels in ((1, 3, 2, 32), (2, 3, 1, 32), (3, 3, 1, 64), (4, 0, 0, 0), (5, 1, 1, 80), (6, 3, 1, 128),
                                                 (7, 3, 2, 192)):
            if kernel:
                last = self._convolution(graph, "stem", number, last, (kernel, stride, size, channels), same=number == 3)
                size = channels
            else:
                last = "stem-pool4"
                graph.append_layer(last, SubsamplingLayer(kernel_size=3))
        return last, size

    def _convolution(self, graph: GraphBuilder, part: str, number: int, source: str, sizes: tuple[int, int, int, int], same: bool = False,
                     batch: int | None = None) -> str:
        """Add a convolution (window, stride, channels before and after) and a normalization, whose name is the result."""
        kernel, stride, n_in, n_out = sizes
        mode = "Same" if same else None
        layer = ConvolutionLayer(kernel_size=kernel, stride=stride, n_in=n_in, n_out=n_out, convolution_mode=mode,
                                 cudnn_algo_mode=self.cudnn_algo_mode)
        name = f"{part}-batch{batch or number}"
        graph.add_layer(f"{part}-cnn{number}", layer, source).append_layer(name, normalization(n_out))
        return name

    def _reduce_a(self, graph: GraphBuilder, source: str, size: int) -> str:
        first = self._convolution(graph, "reduceA", 1, source, (3, 2, size, 192))
        last = self._convolution(graph, "reduceA", 2, source, (1, 1, size, 128), same=True)
        last = self._convolution(graph, "reduceA", 3, last, (3, 1, 128, 128), same=True)
        last = self._convolution(graph, "reduceA", 4, last, (3, 2, 128, 192))
        graph.add_layer("reduceA-pool5", SubsamplingLayer(kernel_size=3), source)
        graph.add_vertex("reduceA", MergeVertex(), first, last, "reduceA-pool5")
        return "reduceA"

    def _reduce_b(self, graph: GraphBuilder, source: str, size: int) -> str:
        graph.add_layer("reduceB-pool1", SubsamplingLayer(kernel_size=3), source)
        ends = ["reduceB-pool1"]
        for numbers in ((2, 3), (4, 5), (6, 7, 8)):
            last, channels = source, size
            for number in numbers:
                kernel, shrinks = (1 if number == numbers[0] else 3), number == numbers[-1]
                last = self._convolution(graph, "reduceB", number, last, (kernel, 2 if shrinks else 1, channels, 256), same=not shrinks,
                                         batch=number - 1)
                channels = 256
            ends.append(last)
        graph.add_vertex("reduceB", MergeVertex(), *ends)
        return "reduceB"


def normalization(size: int, **options: Any) -> BatchNormalization:
    """A normalization with a slow running mean."""
    return BatchNormalization(n_in=size, n_out=size, decay=0.995, eps=0.001, **options)


def add_blocks(graph: GraphBuilder, name: str, count: int, scale: float, source: str, paths: Paths, size: int, last: tuple[int, int],
               bounded: tuple[int, ...] = ()) -> str:
    """Add residual blocks, each fed by the one before, and the name of the last, which is that of them all.

    Parameters
    ----------
    graph : GraphBuilder
        Where to add them.
    name : str
        Stands in the names of the layers.
    count : int
        How many blocks.
    scale : float
        What a block is multiplied with before it is added to its input.
    source : str
        What the first block is fed.
    paths : tuple
        Convolutions that lie beside each other, and are merged.
    size : int
        Channels before and after each block.
    last : (int, int)
        Number and size of the windows of the convolution that follows.
    bounded : tuple of int
        Normalizations that have the hyperbolic tangent for their activation.
    """
    for i in range(1, count + 1):
        ends = []

        def convolve(number: int, kernel: Any, n_in: int, n_out: int, before: str, i: int = i) -> str:
            layer = ConvolutionLayer(kernel_size=kernel, n_in=n_in, n_out=n_out, convolution_mode="Same", cudnn_algo_mode="NO_WORKSPACE")
            options: dict[str, Any] = {"activation": "tanh"} if number in bounded else {}
            graph.add_layer(f"{name}-cnn{number}-{i}", layer, before)
            graph.append_layer(f"{name}-batch{number}-{i}", normalization(n_out, **options))
            return f"{name}-batch{number}-{i}"

        for path in paths:
            before, channels = source, size
            for number, kernel, n_out in path:
                before, channels = convolve(number, kernel, channels, n_out, before), n_out
            ends.append(before)
        graph.add_vertex(f"{name}-merge1-{i}", MergeVertex(), *ends)
        merged = sum(path[-1][2] for path in paths)
        graph.add_vertex(f"{name}-scaling-{i}", ScaleVertex(scale), convolve(*last, merged, size, f"{name}-merge1-{i}"))
        graph.add_layer(f"{name}-shortcut-identity-{i}", ActivationLayer("identity"), source)
        graph.add_vertex(f"{name}-shortcut-{i}", ElementWiseVertex("Add"), f"{name}-scaling-{i}", f"{name}-shortcut-identity-{i}")
        source = name if i == count else f"{name}-activation-{i}"
        graph.append_layer(source, ActivationLayer("tanh"))
    return source
