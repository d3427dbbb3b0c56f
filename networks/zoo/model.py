"""Base class of all architectures of the zoo."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Self

from ...layers.types.formats import AlgoMode
from ...layers.types.input_type import InputType
from ...samediff.base.java.java_enum import JavaEnum
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration
from ...samediff.errors import ConfigurationError
from ...samediff.training.updaters.updater import IUpdater
from ..files.model_reader import read_model
from ..models.computation_graph import ComputationGraph
from ..models.multilayer import MultiLayerNetwork
from ..structure.builders import NeuralNetConfigurationBuilder
from ..structure.configuration import ComputationGraphConfiguration, MultiLayerConfiguration
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import ZooGraphNames, ZooModelNames
from ..structure.settings import CacheMode, WorkspaceMode
from .pretrained import PretrainedFile, PretrainedType

Source = str | os.PathLike[str] | BinaryIO


class ZooType(JavaEnum):
    """Kinds of architectures."""

    CNN = "CNN"
    RNN = "RNN"


@dataclass(frozen=True)
class ModelMetaData:
    """Shapes of the inputs and outputs of a model.

    Parameters
    ----------
    input_shape : tuple of tuple of int
        The shape of each input, without the batch.
    num_outputs : int
        The number of outputs.
    zoo_type : ZooType
        The kind of architecture.
    """

    input_shape: tuple[tuple[int, ...], ...]
    num_outputs: int
    zoo_type: ZooType


@configuration(kw_only=True, tag="")
class ZooModel(Configuration, ZooModelNames):
    """Base of the architectures of DL4J's zoo: options by keyword, or by ``builder()`` in both spellings, then ``init()``.

    Parameters
    ----------
    seed : int
        Seed of the first weights; 1234 by default.
    input_shape : tuple of int
        (channels, height, width) of an image. DL4J takes the last number for the height of its input type and the second for its
        width, so that other than square images need them the other way round; that is kept.
    num_classes : int
        Number of classes; it has to be given, but for networks that have none.
    updater : IUpdater
        What the network is trained with.
    cache_mode, workspace_mode, cudnn_algo_mode
        Settings of DL4J's memory and of cuDNN: kept in files, without effect here.
    """

    network_type: ClassVar[type[MultiLayerNetwork] | type[ComputationGraph]] = MultiLayerNetwork
    zoo_type: ClassVar[ZooType] = ZooType.CNN
    #: The files that DL4J publishes, by the data that they were trained on.
    pretrained: ClassVar[Mapping[PretrainedType, PretrainedFile]] = {}
    needs_classes: ClassVar[bool] = True
    updater: Convertible[IUpdater]
    seed: int = 1234
    input_shape: Convertible[tuple[int, ...]] = (3, 224, 224)
    num_classes: int = 0
    cache_mode: Convertible[CacheMode] = CacheMode.NONE
    workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    cudnn_algo_mode: Convertible[AlgoMode] = AlgoMode.PREFER_FASTEST

    def conf(self) -> MultiLayerConfiguration | ComputationGraphConfiguration:
        """The configuration of the network."""
        raise NotImplementedError

    def init(self) -> Any:
        """The network with first weights: a MultiLayerNetwork or a ComputationGraph.

        Raises
        ------
        ConfigurationError
            The number of classes was not given, or the input is too small for the architecture.
        """
        return self.network_type(self.conf()).init()  # type: ignore[arg-type]  # each has its own configuration

    def init_pretrained(self, pretrained_type: PretrainedType | str | None = None, path: Source | None = None) -> Any:
        """The network of a local model file; nothing is downloaded, and options of this object do not matter.

        Parameters
        ----------
        pretrained_type : PretrainedType or str, optional
            The data that the published weights come from; IMAGENET where neither this nor a path is given.
        path : str, path or binary stream, optional
            The model file. Without it, DL4J's own copy of the published file is taken, below ``~/.deeplearning4j``.

        Raises
        ------
        ConfigurationError
            DL4J publishes no such weights for this architecture.
        PathError
            DL4J's copy is not there: the text says where it is to be had.
        FileFormatError
            No model file, that of another kind of network, or a copy with another checksum than that of the published file.
        """
        if path is None:
            path = self._file(pretrained_type or PretrainedType.IMAGENET).found(self.model_name())
        return read_model(path, self.network_type)

    def pretrained_available(self, pretrained_type: PretrainedType | str) -> bool:
        """Whether DL4J publishes weights trained on that data."""
        return _type_of(pretrained_type) in self.files()

    def pretrained_url(self, pretrained_type: PretrainedType | str) -> str | None:
        """Where DL4J finds the weights trained on that data; None where it has none."""
        file = self.files().get(_type_of(pretrained_type))
        return file.url if file else None

    def pretrained_checksum(self, pretrained_type: PretrainedType | str) -> int:
        """The Adler-32 checksum of the published file; 0 where there is none."""
        file = self.files().get(_type_of(pretrained_type))
        return file.checksum if file else 0

    def files(self) -> Mapping[PretrainedType, PretrainedFile]:
        """The files that DL4J publishes for this model."""
        return self.pretrained

    def model_type(self) -> type[MultiLayerNetwork] | type[ComputationGraph]:
        """The class of the network."""
        return self.network_type

    def model_name(self) -> str:
        """The name of the architecture in lower case, which DL4J uses for folders."""
        return type(self).__name__.lower()

    def meta_data(self) -> ModelMetaData:
        """Shapes of the inputs, number of outputs, kind of architecture."""
        return ModelMetaData((self.input_shape,), 1, self.zoo_type)

    def set_input_shape(self, input_shape: Sequence[Any]) -> Self:
        """A copy for inputs of another shape; DL4J changes the model itself.

        Parameters
        ----------
        input_shape : sequence
            (channels, height, width), or a list with that alone, as DL4J has it.
        """
        inner = input_shape[0] if len(input_shape) == 1 else input_shape
        return self.replace(input_shape=tuple(inner))

    setInputShape = set_input_shape

    def image_type(self, flat: bool = False) -> InputType:
        """The input type of the images."""
        self._check()
        channels, width, height = self.input_shape
        return (InputType.convolutional_flat if flat else InputType.convolutional)(height, width, channels)

    def network(self, **options: Any) -> NeuralNetConfigurationBuilder:
        """A builder of networks with the options of this model, and further ones."""
        self._check()
        return NeuralNetConfigurationBuilder(
            seed=self.seed, updater=self.updater, cache_mode=self.cache_mode, training_workspace_mode=self.workspace_mode,
            inference_workspace_mode=self.workspace_mode, **options)

    def validate(self) -> None:
        if len(self.input_shape) != 3 and self.zoo_type is ZooType.CNN:
            raise ConfigurationError(f"{type(self).__name__}.input_shape is (channels, height, width); got {self.input_shape}")

    def _check(self) -> None:
        if self.needs_classes and self.num_classes < 1:
            raise ConfigurationError(f"{type(self).__name__} needs num_classes, the number of classes; got {self.num_classes}")

    def _file(self, pretrained_type: PretrainedType | str) -> PretrainedFile:
        wanted, files = _type_of(pretrained_type), self.files()
        if wanted not in files:
            known = ", ".join(t.name for t in files) or "none"
            raise ConfigurationError(f"DL4J publishes no weights of {type(self).__name__} for {wanted.name}; it has: {known}. "
                                     "For a file of your own pass path=")
        return files[wanted]


@configuration(kw_only=True, tag="")
class ZooGraph(ZooModel, ZooGraphNames):
    """Base of the architectures that are graphs."""

    network_type: ClassVar[type[MultiLayerNetwork] | type[ComputationGraph]] = ComputationGraph

    def graph_builder(self) -> GraphBuilder:
        """The builder of the graph with all its layers, for those who change it."""
        raise NotImplementedError

    def conf(self) -> ComputationGraphConfiguration:
        return self.graph_builder().build()


def _type_of(pretrained_type: PretrainedType | str) -> PretrainedType:
    return pretrained_type if isinstance(pretrained_type, PretrainedType) else PretrainedType.value_of(pretrained_type.upper())
