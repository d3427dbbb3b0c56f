"""SqueezeNet."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...layers import (
    ActivationLayer,
    ConvolutionLayer,
    DropoutLayer,
    GlobalPoolingLayer,
    IWeightInit,
    LossLayer,
    MergeVertex,
    SubsamplingLayer,
    WeightInitRelu,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import SqueezeNetNames
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["SqueezeNet"]

#: Number of each fire module, its channels when squeezed and expanded, whether pooling follows.
_MODULES = ((2, 16, 64, False), (3, 16, 64, True), (4, 32, 128, False), (5, 32, 128, True), (6, 48, 192, False), (7, 48, 192, False),
            (8, 64, 256, False), (9, 64, 256, False))


@configuration(kw_only=True, tag="")
class SqueezeNet(ZooGraph, SqueezeNetNames):
    """SqueezeNet (Iandola et al., 2016): a graph.

    Shapes: x (batch, 3, 227, 227) by default -> (batch, num_classes). The published weights give (batch, 1000, 1, 1).

    Parameters
    ----------
    weight_init : IWeightInit, WeightInit or str
        First weights; ``relu`` by default.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is AdaDelta by default.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/squeezenet_dl4j_inference.v2.zip", 3711411239)}
    input_shape: Convertible[tuple[int, ...]] = (3, 227, 227)
    weight_init: Convertible[IWeightInit] = WeightInitRelu()
    updater: Convertible[IUpdater] = AdaDelta()

    def graph_builder(self) -> GraphBuilder:
        mode = self.cudnn_algo_mode
        graph = self.network(weight_init=self.weight_init, l2=5e-5, convolution_mode="Truncate").graph_builder()
        graph.add_inputs("input").set_input_types(self.image_type())
        graph.append_layer("conv1", ConvolutionLayer(kernel_size=3, stride=2, n_out=64, cudnn_algo_mode=mode))
        graph.append_layer("conv1_act", ActivationLayer("relu")).append_layer("pool1", SubsamplingLayer(kernel_size=3))
        source = "pool1"
        for number, squeezed, expanded, pooled in _MODULES:
            source = self._fire(graph, f"fire{number}", squeezed, expanded, source)
            if pooled:
                source = f"pool{number}"
                graph.append_layer(source, SubsamplingLayer(kernel_size=3))
        graph.append_layer("drop9", DropoutLayer(0.5))
        graph.append_layer("conv10", ConvolutionLayer(kernel_size=1, n_out=self.num_classes, cudnn_algo_mode=mode))
        graph.append_layer("conv10_act", ActivationLayer("relu")).append_layer("avg_pool", GlobalPoolingLayer("AVG"))
        graph.append_layer("softmax", ActivationLayer("softmax"))
        return graph.append_layer("loss", LossLayer(loss="MCXENT")).set_outputs("loss")

    def _fire(self, graph: GraphBuilder, name: str, squeezed: int, expanded: int, source: str) -> str:
        """Add a module that squeezes its input by a convolution of single cells and expands it by two; its name."""
        ends = []
        for part, size, channels in (("sq1x1", 1, squeezed), ("exp1x1", 1, expanded), ("exp3x3", 3, expanded)):
            mode = "Same" if size == 3 else None
            before = source if part == "sq1x1" else f"{name}_relu_sq1x1"
            layer = ConvolutionLayer(kernel_size=size, n_out=channels, cudnn_algo_mode=self.cudnn_algo_mode, convolution_mode=mode)
            graph.add_layer(f"{name}_{part}", layer, before).append_layer(f"{name}_relu_{part}", ActivationLayer("relu"))
            ends.append(f"{name}_relu_{part}")
        graph.add_vertex(name, MergeVertex(), *ends[1:])
        return name
