"""Networks of files of Keras, of either kind."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

from ...samediff.errors import ConfigurationError, DL4PyError, FileFormatError, ShapeError, UnknownNameError
from ..structure.configuration import MultiLayerConfiguration, NetworkConfiguration
from .archive import Source, label_of, read_keras
from .building import BuiltModel, build
from .weights import NoWeights


class FilledNetwork(Protocol):
    """Protocol of a network that takes the parameters of a file."""

    configuration_type: ClassVar[type[NetworkConfiguration]]

    def __init__(self, configuration: Any) -> None: ...

    def init(self, params: Any = None, clone_parameters: bool = True) -> Any:
        """Make the parameters."""

    def set_param_table(self, table: Any) -> None:
        """Replace parameters by name."""


N = TypeVar("N", bound=FilledNetwork)


def read_built(source: Source, weights: Source | None = None, enforce_training_config: bool = False, graph: bool = False,
               bare: bool = False) -> BuiltModel:
    """Configuration and parameters of a file; ``graph`` makes a graph of a list too, ``bare`` looks at no weights."""
    with read_keras(source, weights) as file:
        return build(replace(file, weights=NoWeights()) if bare else file, enforce_training_config, graph)


def filled(kind: type[N], built: BuiltModel, where: str) -> N:
    """The network of a configuration, with its parameters."""
    is_list = isinstance(built.configuration, MultiLayerConfiguration)
    if not isinstance(built.configuration, kind.configuration_type):
        right = "MultiLayerNetwork" if is_list else "ComputationGraph"
        raise FileFormatError(f"{where} holds a model of Keras that becomes a {right}; load it with {right}.load")
    net = kind(built.configuration)
    try:
        net.init()
    except (MemoryError, ValueError) as error:
        if isinstance(error, DL4PyError):
            raise
        raise FileFormatError(f"{where}: the model has more parameters than there is room for: {error}") from error
    if built.parameters:
        try:
            net.set_param_table(built.parameters)
        except (ShapeError, UnknownNameError, ConfigurationError) as error:
            raise FileFormatError(f"{where}: the weights do not fit the model: {error}") from error
    return net


def load_keras(source: Source, kind: type[N], graph: bool = False) -> N:
    """The network of a file of Keras that holds its weights too."""
    return filled(kind, read_built(source, graph=graph), label_of(source))
