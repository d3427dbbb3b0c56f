"""Base of the builders of lists and graphs."""
from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self, TypeVar

from ...layers.preprocessors import InputPreProcessor
from ...samediff.configuration.builder import Builder
from ...samediff.errors import ConfigurationError
from .configuration import ComputationGraphConfiguration, MultiLayerConfiguration, NeuralNetConfiguration
from .global_configuration import GlobalConfiguration

C = TypeVar("C", MultiLayerConfiguration, ComputationGraphConfiguration)


def finished(value: Any) -> Any:
    """A builder given in place of its product is built."""
    return value.build() if isinstance(value, Builder) else value


class NetworkBuilder(Builder[C]):
    """Base of the builders of layer lists and graphs."""

    def __init__(self, network: Any = None) -> None:
        self._network = network if network is not None else NeuralNetConfiguration.Builder()
        self._override = True
        self._check_tbptt = True
        self._preprocessors: dict[Any, InputPreProcessor] = {}
        super().__init__()

    def validate_tbptt_config(self, check: bool) -> Self:
        """Set whether layers that cannot train with truncated back-propagation are refused."""
        self._check_tbptt = check
        return self

    validateTbpttConfig = validate_tbptt_config

    def override_nin_upon_build(self, override: bool) -> Self:
        """Set whether the input types replace an ``n_in`` that was set by hand."""
        self._override = override
        return self

    overrideNinUponBuild = override_n_in_upon_build = override_nin_upon_build

    def input_pre_processor(self, layer: Any, preprocessor: InputPreProcessor) -> Self:
        """Put a preprocessor in front of a layer: of a list by index, of a graph by name."""
        self._preprocessors[layer] = InputPreProcessor.of(preprocessor)
        return self

    def input_pre_processors(self, preprocessors: Mapping[Any, InputPreProcessor]) -> Self:
        """Put preprocessors in front of layers, in place of those so far."""
        self._preprocessors = {}
        for layer, preprocessor in preprocessors.items():
            self.input_pre_processor(layer, preprocessor)
        return self

    inputPreProcessor = input_pre_processor
    inputPreProcessors = set_input_pre_processors = setInputPreProcessors = input_pre_processors

    def _refuse_unused(self, layers: Collection[Any]) -> None:
        """ConfigurationError for a preprocessor whose key is no layer."""
        for key, preprocessor in self._preprocessors.items():
            if key not in layers:
                raise ConfigurationError(f"the preprocessor {preprocessor!r:.80} stands in front of {key!r}, which is no layer; "
                                         f"layers: {', '.join(map(repr, layers))}")

    def _settings(self) -> GlobalConfiguration:
        settings: GlobalConfiguration = self._network.settings()
        late = self._values.get("data_type", settings.data_type)
        if late is not settings.data_type:
            raise ConfigurationError(f"data_type({late.name}) comes too late: layers have the type {settings.data_type.name} of the "  # type: ignore[union-attr]
                                     "NeuralNetConfiguration.Builder(); say data_type there, before list() or graph_builder()")
        return settings
