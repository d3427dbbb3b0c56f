"""Xception."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...layers import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    IWeightInit,
    OutputLayer,
    SeparableConvolution2D,
    SubsamplingLayer,
    WeightInitRelu,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import XceptionNames
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["Xception"]


@configuration(kw_only=True, tag="")
class Xception(ZooGraph, XceptionNames):
    """Xception (Chollet, 2016): a graph of separable convolutions.

    Shapes: x (batch, 3, 299, 299) by default -> (batch, num_classes).

    Parameters
    ----------
    weight_init : IWeightInit, WeightInit or str
        First weights; ``relu`` by default.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is AdaDelta by default.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/xception_dl4j_inference.v2.zip", 3277876097)}
    input_shape: Convertible[tuple[int, ...]] = (3, 299, 299)
    weight_init: Convertible[IWeightInit] = WeightInitRelu()
    updater: Convertible[IUpdater] = AdaDelta()

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(weight_init=self.weight_init, l2=4e-5, convolution_mode="Truncate").graph_builder()
        graph.add_inputs("input").set_input_types(self.image_type())
        for name, size, stride in (("block1_conv1", 32, 2), ("block1_conv2", 64, 1)):
            graph.append_layer(name, ConvolutionLayer(kernel_size=3, stride=stride, n_out=size, **self._shared()))
            graph.append_layer(f"{name}_bn", BatchNormalization()).append_layer(f"{name}_act", ActivationLayer("relu"))
        last = "block1_conv2_act"
        for number, size in enumerate((128, 256, 728), 1):
            last = self._shrink(graph, number, last, number + 1, (size, size))
        for number in range(4, 12):
            last = self._tower(graph, number, last)
        self._shrink(graph, 12, last, 13, (728, 1024))
        for part, size in (("1", 1536), ("2", 2048)):
            name = f"block14_sepconv{part}"
            graph.append_layer(name, self._separable(size)).append_layer(f"{name}_bn", BatchNormalization())
            graph.append_layer(f"{name}_act", ActivationLayer("relu"))
        graph.append_layer("avg_pool", GlobalPoolingLayer("AVG"))
        return graph.append_layer("predictions", OutputLayer(n_out=self.num_classes, loss="MCXENT")).set_outputs("predictions")

    def _shared(self) -> dict[str, Any]:
        return {"has_bias": False, "cudnn_algo_mode": self.cudnn_algo_mode}

    def _separable(self, size: int) -> SeparableConvolution2D:
        return SeparableConvolution2D(kernel_size=3, n_out=size, convolution_mode="Same", **self._shared())

    def _shrink(self, graph: GraphBuilder, number: int, source: str, block: int, sizes: tuple[int, int]) -> str:
        """Add a block of two separable convolutions and pooling, with a convolution of stride 2 beside it; the name of their sum."""
        beside = f"residual{number}"
        convolution = ConvolutionLayer(kernel_size=1, stride=2, n_out=sizes[1], convolution_mode="Same", **self._shared())
        graph.add_layer(f"{beside}_conv", convolution, source).append_layer(beside, BatchNormalization())
        last, names = source, [f"block{block}_sepconv{part}" for part in (1, 2)]
        for name, size in zip(names, sizes):
            if number > 1 or name != names[0]:      # the rectified units of block 1 stand before the first
                unit = f"{name}_act" if number > 1 else f"{names[0]}_act"
                graph.add_layer(unit, ActivationLayer("relu"), last)
                last = unit
            graph.add_layer(name, self._separable(size), last).append_layer(f"{name}_bn", BatchNormalization())
            last = f"{name}_bn"
        graph.append_layer(f"block{block}_pool", SubsamplingLayer(kernel_size=3, convolution_mode="Same"))
        graph.add_vertex(f"add{number}", ElementWiseVertex("Add"), f"block{block}_pool", beside)
        return f"add{number}"

    def _tower(self, graph: GraphBuilder, number: int, source: str) -> str:
        """Add a block of three separable convolutions, which is added to its input; the name of the sum."""
        last = source
        for part in (1, 2, 3):
            name = f"block{number + 1}_sepconv{part}"
            graph.add_layer(f"{name}_act", ActivationLayer("relu"), last).append_layer(name, self._separable(728))
            last = f"{name}_bn"
            graph.append_layer(last, BatchNormalization())
        graph.add_vertex(f"add{number}", ElementWiseVertex("Add"), last, source)
        return f"add{number}"
