"""UNet."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...layers import (
    CnnLossLayer,
    ConvolutionLayer,
    DropoutLayer,
    IWeightInit,
    MergeVertex,
    SubsamplingLayer,
    Upsampling2D,
    WeightInitRelu,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import UNetNames
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["UNet"]


@configuration(kw_only=True, tag="")
class UNet(ZooGraph, UNetNames):
    """U-Net (Ronneberger et al., 2015), which says of each pixel whether it belongs to what is looked for: a graph.

    Shapes: x (batch, 3, 512, 512) by default -> (batch, 1, height, width), from 0 to 1. Height and width are multiples of 16. As in DL4J
    there is one class, whatever ``num_classes`` says, and the image is narrowed by rectified units to two channels before the last one.

    Parameters
    ----------
    weight_init : IWeightInit, WeightInit or str
        First weights; ``relu`` by default.
    seed, input_shape, updater, ...
        See `ZooModel`; the updater is AdaDelta by default.
    """

    needs_classes: ClassVar[bool] = False
    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.SEGMENT: PretrainedFile("models/unet_dl4j_segment_inference.v1.zip", 712347958)}
    input_shape: Convertible[tuple[int, ...]] = (3, 512, 512)
    weight_init: Convertible[IWeightInit] = WeightInitRelu()
    updater: Convertible[IUpdater] = AdaDelta()

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(weight_init=self.weight_init, l2=5e-5).graph_builder()
        graph.add_inputs("input").set_input_types(self.image_type())
        ends = {}
        for level, channels in enumerate((64, 128, 256, 512, 1024), 1):
            ends[level] = self._pair(graph, level, channels)
            if level > 3:
                ends[level] = f"drop{level}"
                graph.append_layer(ends[level], DropoutLayer(0.5))
            if level < 5:
                graph.append_layer(f"pool{level}", SubsamplingLayer(kernel_size=2))
        for level, channels in enumerate((512, 256, 128, 64), 6):
            graph.append_layer(f"up{level}-1", Upsampling2D(2)).append_layer(f"up{level}-2", self._convolution(2, channels))
            graph.add_vertex(f"merge{level}", MergeVertex(), ends[10 - level], f"up{level}-2")
            self._pair(graph, level, channels)
        graph.append_layer("conv9-3", self._convolution(3, 2))
        graph.append_layer("conv10", self._convolution(1, 1, "identity"))
        return graph.append_layer("output", CnnLossLayer(loss="XENT", activation="sigmoid")).set_outputs("output")

    def _pair(self, graph: GraphBuilder, level: int, channels: int) -> str:
        """Add two convolutions; the name of the second."""
        for part in (1, 2):
            graph.append_layer(f"conv{level}-{part}", self._convolution(3, channels))
        return f"conv{level}-2"

    def _convolution(self, size: int, channels: int, activation: str = "relu") -> ConvolutionLayer:
        return ConvolutionLayer(kernel_size=size, n_out=channels, convolution_mode="Same", cudnn_algo_mode=self.cudnn_algo_mode,
                                activation=activation)
