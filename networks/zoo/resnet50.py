"""ResNet50."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...layers import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    ElementWiseVertex,
    IWeightInit,
    OutputLayer,
    SubsamplingLayer,
    TruncatedNormalDistribution,
    WeightInitDistribution,
    ZeroPaddingLayer,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import RmsProp
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import ResNet50Names
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["ResNet50"]

#: Blocks of each stage, channels inside of them.
_STAGES = (("2", "abc", 64), ("3", "abcd", 128), ("4", "abcdef", 256), ("5", "abc", 512))


@configuration(kw_only=True, tag="")
class ResNet50(ZooGraph, ResNet50Names):
    """ResNet-50 (He et al., 2015): a graph.

    As in DL4J, its first stage has stride 2, which the paper's has not, and a maximum over windows of 3 x 3 cells stands for the mean of
    the last images; the published weights come with a configuration of their own. Shapes: x (batch, 3, 224, 224) by default ->
    (batch, num_classes).

    Parameters
    ----------
    weight_init : IWeightInit, WeightInit or str
        First weights; by default from a normal distribution with the deviation 0.5, without its tails.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is RmsProp(0.1, 0.96, 0.001) by default.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/resnet50_dl4j_inference.v3.zip", 3914447815)}
    weight_init: Convertible[IWeightInit] = WeightInitDistribution(TruncatedNormalDistribution(0.0, 0.5))
    updater: Convertible[IUpdater] = RmsProp(0.1, 0.96, 0.001)

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(activation="identity", weight_init=self.weight_init, l1=1e-7, l2=5e-5, convolution_mode="Truncate",
                             cudnn_algo_mode=self.cudnn_algo_mode).graph_builder()
        graph.add_inputs("input").set_input_types(self.image_type())
        graph.add_layer("stem-zero", ZeroPaddingLayer(3, 3), "input")
        graph.append_layer("stem-cnn1", ConvolutionLayer(kernel_size=7, stride=2, n_out=64))
        graph.append_layer("stem-batch1", BatchNormalization()).append_layer("stem-act1", ActivationLayer("relu"))
        last = "stem-maxpool1"
        graph.append_layer(last, SubsamplingLayer(kernel_size=3))
        for stage, blocks, size in _STAGES:
            for block in blocks:
                last = add_block(graph, stage + block, last, size, shrinks=block == "a")
        graph.append_layer("avgpool", SubsamplingLayer(kernel_size=3))
        graph.append_layer("output", OutputLayer(n_out=self.num_classes, loss="NEGATIVELOGLIKELIHOOD"))
        return graph.set_outputs("output")


def add_block(graph: GraphBuilder, name: str, source: str, size: int, shrinks: bool) -> str:
    """Add a residual block of three convolutions, and its name.

    Parameters
    ----------
    graph : GraphBuilder
        Where to add it.
    name : str
        Stage and block, such as ``2a``.
    source : str
        What the block is fed.
    size : int
        Channels inside of the block; it gives four times as many.
    shrinks : bool
        Whether the block halves the images, with a convolution beside it in place of the identity.
    """
    end, stride = f"res{name}_branch", 2 if shrinks else 1
    graph.add_layer(f"{end}2a", ConvolutionLayer(kernel_size=1, stride=stride, n_out=size), source)
    inner, outer = ConvolutionLayer(kernel_size=3, n_out=size, convolution_mode="Same"), ConvolutionLayer(kernel_size=1, n_out=4 * size)
    for part, following, convolution in (("2a", "2b", inner), ("2b", "2c", outer)):
        graph.append_layer(f"bn{name}_branch{part}", BatchNormalization())
        graph.append_layer(f"act{name}_branch{part}", ActivationLayer("relu")).append_layer(f"{end}{following}", convolution)
    graph.append_layer(f"bn{name}_branch2c", BatchNormalization())
    beside = source
    if shrinks:
        beside = f"bn{name}_branch1"
        graph.add_layer(f"{end}1", ConvolutionLayer(kernel_size=1, stride=stride, n_out=4 * size), source)
        graph.append_layer(beside, BatchNormalization())
    graph.add_vertex(f"short{name}_branch", ElementWiseVertex("Add"), f"bn{name}_branch2c", beside)
    graph.append_layer(end, ActivationLayer("relu"))
    return end
