"""FaceNetNN4Small2."""
from __future__ import annotations

from typing import Any

from ...layers import (
    Activation,
    ActivationLayer,
    BatchNormalization,
    CenterLossOutputLayer,
    ConvolutionLayer,
    DenseLayer,
    L2NormalizeVertex,
    LocalResponseNormalization,
    MergeVertex,
    SubsamplingLayer,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import Adam
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import FaceNetNN4Small2Names
from .model import ZooGraph

__all__ = ["FaceNetNN4Small2"]


@configuration(kw_only=True, tag="")
class FaceNetNN4Small2(ZooGraph, FaceNetNN4Small2Names):
    """A small variant of FaceNet (Schroff et al., 2015), after OpenFace (Amos et al., 2016): a graph.

    Shapes: x (batch, 3, 96, 96) by default -> (batch, num_classes); ``embeddings`` are (batch, embedding_size).

    Parameters
    ----------
    transfer_function : Activation or str
        Activation between convolutions; ``RELU`` by default.
    embedding_size : int
        Size of the embeddings; 128 by default.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Adam(0.1, 0.9, 0.999, 0.01) by default.
    """

    input_shape: Convertible[tuple[int, ...]] = (3, 96, 96)
    updater: Convertible[IUpdater] = Adam(0.1, 0.9, 0.999, 0.01)
    transfer_function: Convertible[Activation] = Activation.RELU
    embedding_size: int = 128

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(activation="identity", weight_init="relu", l2=5e-5, cudnn_algo_mode=self.cudnn_algo_mode,
                             convolution_mode="Same").graph_builder()
        graph.add_inputs("input1").set_input_types(self.image_type())
        self._stem(graph)
        inception(graph, "3a", "inception-2-pool1", 192, (128, 32), (96, 16, 32, 64), max_pooling(), self.transfer_function)
        inception(graph, "3b", "inception-3a", 256, (128, 64), (96, 32, 64, 64), p_norm_pooling(), self.transfer_function)
        self._shrink(graph, "3c", "inception-3b", 320, (128, 256), (32, 64))
        inception(graph, "4a", "inception-3c", 640, (192, 64), (96, 32, 128, 256), p_norm_pooling(), self.transfer_function)
        self._shrink(graph, "4e", "inception-4a", 640, (160, 256), (64, 128))
        self._last(graph, "5a", "inception-4e", 1024, SubsamplingLayer("PNORM", kernel_size=3, stride=1, pnorm=2), "5a-transfer3")
        self._last(graph, "5b", "inception-5a", 736, max_pooling(), "5b-2-transfer3")
        graph.append_layer("avgpool", SubsamplingLayer("AVG", kernel_size=3, stride=3))
        graph.append_layer("bottleneck", DenseLayer(n_out=self.embedding_size, activation="identity"))
        graph.append_vertex("embeddings", L2NormalizeVertex((), 1e-6))
        graph.append_layer("lossLayer", CenterLossOutputLayer(
            n_in=self.embedding_size, n_out=self.num_classes, loss="SQUARED_LOSS", activation="softmax", lambda_=1e-4, alpha=0.9,
            gradient_normalization="RenormalizeL2PerLayer"))
        return graph.set_outputs("lossLayer")

    def _stem(self, graph: GraphBuilder) -> None:
        unit = ActivationLayer("relu")
        around = LocalResponseNormalization(1, 5, 1e-4, 0.75)
        graph.append_layer("stem-cnn1", convolution(7, self.input_shape[0], 64, 2, padding=3))
        graph.append_layer("stem-batch1", normalization(64)).append_layer("stem-activation1", unit)
        graph.append_layer("stem-pool1", max_pooling(2)).append_layer("stem-lrn1", around)
        graph.append_layer("inception-2-cnn1", convolution(1, 64, 64))
        graph.append_layer("inception-2-batch1", normalization(64)).append_layer("inception-2-activation1", unit)
        graph.append_layer("inception-2-cnn2", convolution(3, 64, 192, padding=1))
        graph.append_layer("inception-2-batch2", normalization(192)).append_layer("inception-2-activation2", unit)
        graph.append_layer("inception-2-lrn1", around).append_layer("inception-2-pool1", max_pooling(2))

    def _step(self, graph: GraphBuilder, name: str, layer: ConvolutionLayer, source: str, transfer: str) -> str:
        """Add a convolution, a normalization and the activation, whose name is the result."""
        graph.add_layer(name, layer, source).append_layer(f"{name}-norm", normalization(layer.n_out))
        graph.append_layer(transfer, ActivationLayer(self.transfer_function))
        return transfer

    def _shrink(self, graph: GraphBuilder, name: str, source: str, n_in: int, first: tuple[int, int], second: tuple[int, int]) -> None:
        """Add two paths of convolutions and a pooling, all of stride 2, and merge them."""
        ends = []
        for part, wide, sizes, transfers in ((name, "3x3", first, (1, 2)), (f"{name}-2", "5x5", second, (3, 4))):
            last = self._step(graph, f"{part}-1x1", convolution(1, n_in, sizes[0]), source, f"{part}-transfer{transfers[0]}")
            ends.append(self._step(graph, f"{part}-{wide}", convolution(3, sizes[0], sizes[1], 2), last, f"{part}-transfer{transfers[1]}"))
        graph.add_layer(f"{name}-pool", max_pooling(2), source)
        graph.add_vertex(f"inception-{name}", MergeVertex(), *ends, f"{name}-pool")

    def _last(self, graph: GraphBuilder, name: str, source: str, n_in: int, pooling: SubsamplingLayer, second: str) -> None:
        """Add a convolution of single cells, one of 3 x 3, and one behind a pooling, and merge them."""
        first = self._step(graph, f"{name}-1x1", convolution(1, n_in, 256), source, f"{name}-transfer1")
        last = self._step(graph, f"{name}-2-1x1", convolution(1, n_in, 96), source, f"{name}-2-transfer2")
        self._step(graph, f"{name}-2-3x3", convolution(3, 96, 384), last, second)
        graph.add_layer(f"{name}-3-pool", pooling, source)
        third = self._step(graph, f"{name}-3-1x1reduce", convolution(1, n_in, 96), f"{name}-3-pool", f"{name}-3-transfer4")
        graph.add_vertex(f"inception-{name}", MergeVertex(), first, second, third)


def convolution(size: int, n_in: int, n_out: int, stride: int = 1, padding: int = 0, **options: Any) -> ConvolutionLayer:
    """A convolution of images of the same size, divided by the stride."""
    return ConvolutionLayer(kernel_size=size, stride=stride, padding=padding, n_in=n_in, n_out=n_out, cudnn_algo_mode="NO_WORKSPACE",
                            **options)


def normalization(size: int) -> BatchNormalization:
    """A normalization with its scale and shift."""
    return BatchNormalization(n_in=size, n_out=size)


def max_pooling(stride: int = 1) -> SubsamplingLayer:
    """The maximum of 3 x 3 cells."""
    return SubsamplingLayer(kernel_size=3, stride=stride, padding=1)


def p_norm_pooling() -> SubsamplingLayer:
    """The Euclidean norm of 3 x 3 cells."""
    return SubsamplingLayer("PNORM", kernel_size=3, stride=1, pnorm=2)


def inception(graph: GraphBuilder, name: str, source: str, n_in: int, sizes: tuple[int, int], reduced: tuple[int, int, int, int],
              pooling: SubsamplingLayer, transfer: Activation) -> None:
    """Add a module of four paths: two convolutions of 3 x 3 and 5 x 5 cells, a pooling, and a convolution of single cells.

    Parameters
    ----------
    graph : GraphBuilder
        Where to add it.
    name : str
        Number of the module, such as ``3a``.
    source : str
        What it is fed.
    n_in : int
        Channels of that.
    sizes : (int, int)
        Channels of the two convolutions.
    reduced : tuple of int
        Channels of the convolutions of single cells of the four paths.
    pooling : SubsamplingLayer
        That of the third path.
    transfer : Activation
        Activation behind each convolution.
    """
    module = f"inception-{name}"

    def step(part: str, layer: ConvolutionLayer, before: str, numbers: str) -> str:
        graph.add_layer(f"{module}-{part}", layer, before).append_layer(f"{module}-batch{numbers}", normalization(layer.n_out))
        graph.append_layer(f"{module}-transfer{numbers}", ActivationLayer(transfer))
        return f"{module}-transfer{numbers}"

    ends = []
    for i, kernel in enumerate((3, 5)):
        last = step(f"cnn1-{i}", convolution(1, n_in, reduced[i], bias_init=0.2), source, f"1-{i}")
        ends.append(step(f"reduce1-{i}", convolution(kernel, reduced[i], sizes[i], bias_init=0.2), last, f"2-{i}"))
    graph.add_layer(f"{module}-pool1", pooling, source)
    ends.append(step("cnn2", convolution(1, n_in, reduced[2], bias_init=0.2), f"{module}-pool1", "3"))
    ends.append(step("reduce2", convolution(1, n_in, reduced[3], bias_init=0.2), source, "4"))
    graph.add_vertex(module, MergeVertex(), *ends)
