"""TextGenerationLSTM."""
from __future__ import annotations

from typing import ClassVar

from ...layers import GravesLSTM, RnnOutputLayer
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.updater import IUpdater
from ...samediff.training.updaters.updaters import RmsProp
from ..structure.configuration import MultiLayerConfiguration
from ..structure.java_names import TextGenerationLSTMNames
from .model import ModelMetaData, ZooModel, ZooType

__all__ = ["TextGenerationLSTM"]


@configuration(kw_only=True, tag="")
class TextGenerationLSTM(ZooModel, TextGenerationLSTMNames):
    """Two layers of `GravesLSTM` that say the next character of a text: a list network, trained by truncated back-propagation.

    Shapes: x (batch, total_unique_characters, time) -> the same.

    Parameters
    ----------
    max_length : int
        Characters of a series; 40 by default. The network takes series of any length.
    total_unique_characters : int
        How many characters there are; 47 by default.
    seed : int
        Without effect: as in DL4J, the seed of the network is 12345.
    input_shape : tuple of int, optional
        (time, characters of the input); (max_length, total_unique_characters) by default. DL4J has no default and fails without it.
    updater, ...
        See `ZooModel`; the updater is RmsProp(0.01) by default. There is no ``num_classes``.
    """

    zoo_type: ClassVar[ZooType] = ZooType.RNN
    needs_classes: ClassVar[bool] = False
    input_shape: Convertible[tuple[int, ...]] = ()
    max_length: int = 40
    total_unique_characters: int = 47
    updater: Convertible[IUpdater] = RmsProp(0.01)

    def shape(self) -> tuple[int, ...]:
        """The shape of a series: time, characters."""
        return self.input_shape or (self.max_length, self.total_unique_characters)

    def meta_data(self) -> ModelMetaData:
        return ModelMetaData((self.shape(),), 1, self.zoo_type)

    def validate(self) -> None:
        if len(self.input_shape) not in (0, 2):
            raise ConfigurationError(f"TextGenerationLSTM.input_shape is (time, characters); got {self.input_shape}")

    def conf(self) -> MultiLayerConfiguration:
        builder = self.replace(seed=12345).network(l2=0.001, weight_init="xavier", cudnn_algo_mode=self.cudnn_algo_mode).list()
        builder.layer(GravesLSTM(n_in=self.shape()[1], n_out=256, activation="tanh"))
        builder.layer(GravesLSTM(n_out=256, activation="tanh"))
        builder.layer(RnnOutputLayer(n_out=self.total_unique_characters, loss="MCXENT", activation="softmax"))
        return builder.backprop_type("TruncatedBPTT").tbptt_fwd_length(50).tbptt_back_length(50).build()
