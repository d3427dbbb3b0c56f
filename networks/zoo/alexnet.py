"""AlexNet."""
from __future__ import annotations

from typing import Any

from ...layers import ConvolutionLayer, DenseLayer, LocalResponseNormalization, NormalDistribution, OutputLayer, SubsamplingLayer
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import Nesterovs
from ..structure.configuration import MultiLayerConfiguration
from ..structure.java_names import AlexNetNames
from .model import ZooModel

__all__ = ["AlexNet"]


@configuration(kw_only=True, tag="")
class AlexNet(ZooModel, AlexNetNames):
    """AlexNet (Krizhevsky et al., 2012) in one tower: a list network.

    Shapes: x (batch, 3, 224, 224) by default -> (batch, num_classes).

    Parameters
    ----------
    seed, input_shape, num_classes, updater, ...
        See `ZooModel`; the updater is Nesterovs(0.01, 0.9) by default, that of biases always Nesterovs(0.02, 0.9).
    """

    updater: Convertible[IUpdater] = Nesterovs(1e-2, 0.9)

    def conf(self) -> MultiLayerConfiguration:
        narrow = NormalDistribution(0.0, 0.005)
        builder = self.network(
            weight_init=NormalDistribution(0.0, 0.01), activation="relu", bias_updater=Nesterovs(2e-2, 0.9), convolution_mode="Same",
            gradient_normalization="RenormalizeL2PerLayer", l2=5e-4, mini_batch=False).list()
        fast: dict[str, Any] = {"cudnn_algo_mode": "PREFER_FASTEST"}
        cut: dict[str, Any] = {"convolution_mode": "Truncate"}
        small: dict[str, Any] = {"kernel_size": 3, **fast}
        builder.layer(ConvolutionLayer(layer_name="cnn1", kernel_size=11, stride=4, n_in=self.input_shape[0], n_out=96, **cut, **fast))
        builder.layer(LocalResponseNormalization())
        builder.layer(SubsamplingLayer(layer_name="maxpool1", kernel_size=3, padding=1))
        builder.layer(ConvolutionLayer(layer_name="cnn2", kernel_size=5, padding=2, n_out=256, bias_init=1.0, **cut, **fast))
        builder.layer(SubsamplingLayer(layer_name="maxpool2", kernel_size=3, **cut))
        builder.layer(LocalResponseNormalization())
        builder.layer(ConvolutionLayer(layer_name="cnn3", n_out=384, convolution_mode="Same", **small))
        builder.layer(ConvolutionLayer(layer_name="cnn4", n_out=384, bias_init=1.0, **small))
        builder.layer(ConvolutionLayer(layer_name="cnn5", n_out=256, bias_init=1.0, **small))
        builder.layer(SubsamplingLayer(layer_name="maxpool3", kernel_size=3, **cut))
        builder.layer(DenseLayer(layer_name="ffn1", n_out=4096, weight_init=narrow, bias_init=1.0))
        builder.layer(DenseLayer(layer_name="ffn2", n_out=4096, weight_init=narrow, bias_init=1.0, dropout=0.5))
        builder.layer(OutputLayer(layer_name="output", n_out=self.num_classes, loss="NEGATIVELOGLIKELIHOOD", weight_init=narrow,
                                  bias_init=0.1))
        return builder.set_input_type(self.image_type()).build()
