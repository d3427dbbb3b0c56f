"""LeNet."""
from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...layers import ConvolutionLayer, DenseLayer, OutputLayer, SubsamplingLayer
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.configuration import MultiLayerConfiguration
from ..structure.java_names import LeNetNames
from .model import ZooModel
from .pretrained import PretrainedFile, PretrainedType

__all__ = ["LeNet"]


@configuration(kw_only=True, tag="")
class LeNet(ZooModel, LeNetNames):
    """LeNet (LeCun et al., 1998), with max pooling and rectified units: a list network.

    Shapes: x (batch, channels * height * width) or images, 1 x 28 x 28 by default -> (batch, num_classes).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is AdaDelta by default.

    Examples
    --------
    >>> LeNet(num_classes=10).init().num_params()
    1256080
    """

    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {
        PretrainedType.MNIST: PretrainedFile("models/lenet_dl4j_mnist_inference.zip", 1906861161)}
    input_shape: Convertible[tuple[int, ...]] = (1, 28, 28)
    updater: Convertible[IUpdater] = AdaDelta()

    def conf(self) -> MultiLayerConfiguration:
        builder = self.network(activation="identity", weight_init="xavier", cudnn_algo_mode=self.cudnn_algo_mode,
                               convolution_mode="Same").list()
        for i, (size, n_in) in enumerate(((20, self.input_shape[0]), (50, 0)), 1):
            builder.layer(ConvolutionLayer(layer_name=f"cnn{i}", n_in=n_in, n_out=size, activation="relu"))
            builder.layer(SubsamplingLayer(layer_name=f"maxpool{i}", kernel_size=2))
        builder.layer(DenseLayer(layer_name="ffn1", n_out=500, activation="relu"))
        builder.layer(OutputLayer(layer_name="output", n_out=self.num_classes))
        return builder.set_input_type(self.image_type(flat=True)).build()
