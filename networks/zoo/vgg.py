"""VGG16 and VGG19."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...layers import ConvolutionLayer, DenseLayer, OutputLayer, SubsamplingLayer
from ...layers.types.formats import AlgoMode
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import Nesterovs
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import VGG16Names, VGG19Names, VGGNames
from .model import ZooGraph
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["VGG16", "VGG19"]


@configuration(kw_only=True, tag="")
class VGG(ZooGraph, VGGNames):
    """Base of the networks of the Visual Geometry Group (Simonyan and Zisserman, 2014): graphs whose layers have numbers as names.

    Shapes: x (batch, 3 * 224 * 224) or images, by default -> (batch, num_classes).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Nesterovs by default.
    """

    depths: ClassVar[tuple[int, ...]] = ()          # convolutions of each block
    dense: ClassVar[tuple[DenseLayer, ...]] = ()
    updater: Convertible[IUpdater] = Nesterovs()

    def graph_builder(self) -> GraphBuilder:
        graph = self.network(activation="relu").graph_builder().add_inputs("in")
        layers: list[ConvolutionLayer | SubsamplingLayer | DenseLayer | OutputLayer] = []
        for depth, channels in zip(self.depths, (64, 128, 256, 512, 512)):
            for _ in range(depth):
                layers.append(ConvolutionLayer(kernel_size=3, padding=1, n_in=0 if layers else self.input_shape[0], n_out=channels,
                                               cudnn_algo_mode=self.cudnn_algo_mode))
            layers.append(SubsamplingLayer(kernel_size=2))
        layers += self.dense
        layers.append(OutputLayer(n_out=self.num_classes, loss="NEGATIVELOGLIKELIHOOD"))
        for i, layer in enumerate(layers):
            graph.append_layer(str(i), layer)
        return graph.set_outputs(str(len(layers) - 1)).set_input_types(self.image_type(flat=True))


@configuration(kw_only=True, tag="")
class VGG16(VGG, VGG16Names):
    """VGG-16 (Simonyan and Zisserman, 2014): a graph.

    Shapes: x (batch, 3, 224, 224) by default -> (batch, num_classes).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Nesterovs by default.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/vgg16_dl4j_inference.zip", 3501732770),
        PretrainedType.CIFAR10: PretrainedFile("models/vgg16_dl4j_cifar10_inference.v1.zip", 2192260131),
        PretrainedType.VGGFACE: PretrainedFile("models/vgg16_dl4j_vggface_inference.v1.zip", 2706403553)}
    depths: ClassVar[tuple[int, ...]] = (2, 2, 3, 3, 3)
    dense: ClassVar[tuple[DenseLayer, ...]] = (DenseLayer(n_out=4096, dropout=0.5),) * 2


@configuration(kw_only=True, tag="")
class VGG19(VGG, VGG19Names):
    """VGG-19 (Simonyan and Zisserman, 2014): a graph.

    As in DL4J, it has one dense layer of 4096 units in place of two. Shapes: x (batch, 3, 224, 224) by default -> (batch, num_classes).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Nesterovs by default.
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.IMAGENET: PretrainedFile("models/vgg19_dl4j_inference.zip", 2782932419)}
    depths: ClassVar[tuple[int, ...]] = (2, 2, 4, 4, 4)
    dense: ClassVar[tuple[DenseLayer, ...]] = (DenseLayer(n_out=4096),)
    cudnn_algo_mode: Convertible[AlgoMode] = AlgoMode.NO_WORKSPACE
