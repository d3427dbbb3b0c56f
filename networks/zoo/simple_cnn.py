"""SimpleCNN."""
from __future__ import annotations

from typing import Any

from ...layers import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DropoutLayer,
    GlobalPoolingLayer,
    SubsamplingLayer,
)
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import AdaDelta
from ..structure.configuration import MultiLayerConfiguration
from ..structure.java_names import SimpleCNNNames
from .model import ZooModel

__all__ = ["SimpleCNN"]

_BLOCKS = ((7, 16), (5, 32), (3, 64), (3, 128))     # size of the windows, channels


@configuration(kw_only=True, tag="")
class SimpleCNN(ZooModel, SimpleCNNNames):
    """A small network for the classification of images, of convolutions alone (as in Arriaga et al., 2017): a list network.

    Shapes: x (batch, 3, 48, 48) by default -> (batch, num_classes). It ends without a loss, as DL4J's does: to train it, put a loss
    layer behind it.

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is AdaDelta by default.
    """

    input_shape: Convertible[tuple[int, ...]] = (3, 48, 48)
    updater: Convertible[IUpdater] = AdaDelta()

    def conf(self) -> MultiLayerConfiguration:
        builder = self.network(activation="identity", weight_init="relu", convolution_mode="Same").list()
        for i, (size, channels) in enumerate(_BLOCKS):
            for first in (True, False):
                named: dict[str, Any] = {"layer_name": "image_array", "n_in": self.input_shape[0]} if first and not i else {}
                builder.layer(ConvolutionLayer(kernel_size=size, n_out=channels, **named)).layer(BatchNormalization())
            builder.layer(ActivationLayer("relu")).layer(SubsamplingLayer("AVG", kernel_size=2)).layer(DropoutLayer(0.5))
        builder.layer(ConvolutionLayer(kernel_size=3, n_out=256)).layer(BatchNormalization())
        builder.layer(ConvolutionLayer(kernel_size=3, n_out=self.num_classes))
        builder.layer(GlobalPoolingLayer("AVG")).layer(ActivationLayer("softmax"))
        return builder.set_input_type(self.image_type()).build()
