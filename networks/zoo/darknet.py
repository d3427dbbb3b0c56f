"""Darknet19, and the detectors of objects that are built of the same blocks."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ...layers import (
    ActivationLayer,
    ActivationLReLU,
    BatchNormalization,
    ConvolutionLayer,
    GlobalPoolingLayer,
    IWeightInit,
    LossLayer,
    MergeVertex,
    SpaceToDepthLayer,
    SubsamplingLayer,
    WeightInitRelu,
    Yolo2OutputLayer,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import Adam, Nesterovs
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import Darknet19Names, TinyYOLONames, YOLO2Names, YOLONames
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["YOLO2", "Darknet19", "TinyYOLO"]

Boxes = tuple[tuple[float, float], ...]
#: Blocks 1 to 18 of Darknet19 and YOLO2: size of the windows, channels, whether pooling follows.
_BLOCKS = ((3, 32, True), (3, 64, True), (3, 128, False), (1, 64, False), (3, 128, True), (3, 256, False), (1, 128, False), (3, 256, True),
           (3, 512, False), (1, 256, False), (3, 512, False), (1, 256, False), (3, 512, True), (3, 1024, False), (1, 512, False),
           (3, 1024, False), (1, 512, False), (3, 1024, False))


@configuration(kw_only=True, tag="")
class Darknet19(ZooGraph, Darknet19Names):
    """Darknet-19 (Redmon and Farhadi, 2016): a graph. Images are RGB, from 0 to 1.

    Shapes: x (batch, 3, 224, 224) by default -> (batch, num_classes). Published weights are those for 224 x 224 pixels, or for 448 x 448
    where the input has that shape.

    Parameters
    ----------
    weight_init : IWeightInit, WeightInit or str
        Stands in DL4J's files as that of the network; layers with weights have their own.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Nesterovs(0.001, 0.9) by default.
    """

    weight_init: Convertible[IWeightInit] = WeightInitRelu()
    updater: Convertible[IUpdater] = Nesterovs(1e-3, 0.9)

    def files(self) -> Mapping[PretrainedType, PretrainedFile]:
        if self.input_shape[1:] == (448, 448):
            return {PretrainedType.IMAGENET: PretrainedFile("models/darknet19_448_dl4j_inference.v2.zip", 1054319943)}
        return {PretrainedType.IMAGENET: PretrainedFile("models/darknet19_dl4j_inference.v2.zip", 691100891)}

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(activation="identity", weight_init=self.weight_init, l2=1e-5,
                             cudnn_algo_mode=self.cudnn_algo_mode).graph_builder()
        graph.add_inputs("input").set_input_types(self.image_type())
        add_blocks(graph, self.input_shape[0], _BLOCKS)
        graph.append_layer("convolution2d_19", last_convolution(self.num_classes))
        graph.append_layer("globalpooling", GlobalPoolingLayer("AVG")).append_layer("softmax", ActivationLayer("softmax"))
        return graph.append_layer("loss", LossLayer(loss="NEGATIVELOGLIKELIHOOD")).set_outputs("loss")


@configuration(kw_only=True, tag="")
class YOLO(ZooGraph, YOLONames):
    """Base of the detectors: a graph that ends with a `Yolo2OutputLayer`. Images are RGB, from 0 to 1.

    Parameters
    ----------
    n_boxes : int
        Boxes per cell; 5 by default.
    prior_boxes : tuple of (float, float)
        Width and height of the prior of each box, in cells.
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Adam(0.001) by default. Height and width are multiples of 32.
    """

    n_boxes: int = 5
    prior_boxes: Convertible[Boxes] = ()
    updater: Convertible[IUpdater] = Adam(1e-3)

    def started(self) -> GraphBuilder:
        """The graph with its input."""
        graph = self.network(activation="identity", l2=1e-5, gradient_normalization="RenormalizeL2PerLayer",
                             gradient_normalization_threshold=1.0, cudnn_algo_mode=self.cudnn_algo_mode).graph_builder()
        return graph.add_inputs("input").set_input_types(self.image_type())

    def ended(self, graph: GraphBuilder, number: int) -> GraphBuilder:
        """The graph with the convolution of that number, which says what is in each box, and its loss."""
        graph.append_layer(f"convolution2d_{number}", last_convolution(self.n_boxes * (5 + self.num_classes)))
        priors = np.asarray(self.prior_boxes, np.float64)
        return graph.append_layer("outputs", Yolo2OutputLayer(bounding_boxes=priors)).set_outputs("outputs")


@configuration(kw_only=True, tag="")
class TinyYOLO(YOLO, TinyYOLONames):
    """Tiny YOLO (Redmon and Farhadi, 2016), a small detector of objects: a graph. Images are RGB, from 0 to 1.

    Shapes: x (batch, 3, 416, 416) by default -> (batch, n_boxes * (5 + num_classes), height / 32, width / 32), which
    `YoloUtils.get_predicted_objects` reads.

    Parameters
    ----------
    n_boxes, prior_boxes, seed, input_shape, num_classes, updater, ...
        See `YOLO` and `ZooModel`.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/tiny-yolo-voc_dl4j_inference.v2.zip", 1256226465)}
    prior_boxes: Convertible[Boxes] = ((1.08, 1.19), (3.42, 4.41), (6.63, 11.38), (9.42, 5.11), (16.62, 10.52))
    input_shape: Convertible[tuple[int, ...]] = (3, 416, 416)

    def graph_builder(self) -> GraphBuilder:
        graph = self.started()
        channels = self.input_shape[0]
        for number, (size, pool) in enumerate(((16, 2), (32, 2), (64, 2), (128, 2), (256, 2), (512, 1), (1024, 0), (1024, 0)), 1):
            add_block(graph, number, 3, channels, size, pool)
            channels = size
        return self.ended(graph, 9)


@configuration(kw_only=True, tag="")
class YOLO2(YOLO, YOLO2Names):
    """YOLO 2 (Redmon and Farhadi, 2016), a detector of objects: a graph. Images are RGB, from 0 to 1.

    Shapes: x (batch, 3, 608, 608) by default -> (batch, n_boxes * (5 + num_classes), height / 32, width / 32), which
    `YoloUtils.get_predicted_objects` reads.

    Parameters
    ----------
    n_boxes, prior_boxes, seed, input_shape, num_classes, updater, ...
        See `YOLO` and `ZooModel`.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/yolo2_dl4j_inference.v3.zip", 3658373840)}
    prior_boxes: Convertible[Boxes] = ((0.57273, 0.677385), (1.87446, 2.06253), (3.33843, 5.47434), (7.88282, 3.52778), (9.77052, 9.16828))
    input_shape: Convertible[tuple[int, ...]] = (3, 608, 608)

    def graph_builder(self) -> GraphBuilder:
        graph = self.started()
        add_blocks(graph, self.input_shape[0], (*_BLOCKS, (3, 1024, False), (3, 1024, False)))
        add_block(graph, 21, 1, 512, 64, source="activation_13")
        graph.append_layer("rearrange_21", SpaceToDepthLayer(2))
        graph.add_vertex("concatenate_21", MergeVertex(), "rearrange_21", "activation_20")
        add_block(graph, 22, 3, 1024 + 256, 1024)
        return self.ended(graph, 23)


def add_blocks(graph: GraphBuilder, channels: int, blocks: Iterable[tuple[int, int, bool]]) -> None:
    """Add blocks numbered from 1, each fed by the one before: size of the windows, channels, whether pooling follows."""
    for number, (kernel, size, pooled) in enumerate(blocks, 1):
        add_block(graph, number, kernel, channels, size, 2 if pooled else 0)
        channels = size


def add_block(graph: GraphBuilder, number: int, kernel: int, n_in: int, n_out: int, pool_stride: int = 0, source: str = "") -> None:
    """Add a convolution, normalization and leaky rectified units, then pooling of 2 x 2 cells.

    Parameters
    ----------
    graph : GraphBuilder
        Where to add them.
    number : int
        Stands in the names of the layers.
    kernel, n_in, n_out : int
        Size of the windows, channels before and after.
    pool_stride : int
        Stride of the pooling; 0 for none.
    source : str, optional
        What the block is fed; what was added last by default.
    """
    options: dict[str, Any] = {"weight_init": "xavier", "activation": "identity"}
    convolution = ConvolutionLayer(kernel_size=kernel, n_in=n_in, n_out=n_out, convolution_mode="Same", has_bias=False, **options)
    name = f"convolution2d_{number}"
    if source:
        graph.add_layer(name, convolution, source)
    else:
        graph.append_layer(name, convolution)
    graph.append_layer(f"batchnormalization_{number}", BatchNormalization(n_in=n_out, n_out=n_out, **options))
    graph.append_layer(f"activation_{number}", ActivationLayer(ActivationLReLU(0.1)))
    if pool_stride:
        graph.append_layer(f"maxpooling2d_{number}", SubsamplingLayer(kernel_size=2, stride=pool_stride, convolution_mode="Same"))


def last_convolution(size: int) -> ConvolutionLayer:
    """The convolution of single cells that ends a network."""
    return ConvolutionLayer(kernel_size=1, n_in=1024, n_out=size, weight_init="relu", convolution_mode="Same", activation="identity")
