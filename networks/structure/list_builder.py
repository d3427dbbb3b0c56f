"""Lists of layers, built in DL4J's style."""
from __future__ import annotations

from typing import Any, Self

from ...layers import BaseRecurrentLayer, DenseLayer, EmbeddingLayer, EmbeddingSequenceLayer, OutputLayer
from ...layers.base.base import Layer
from ...layers.preprocessors import InputPreProcessor
from ...layers.standard.inside import informed
from ...layers.types.input_type import InputType
from ...samediff.errors import ConfigurationError
from .checks import check_outputs, check_truncated
from .configuration import MultiLayerConfiguration, NeuralNetConfiguration
from .java_names import ListBuilderNames
from .network_builder import NetworkBuilder, finished
from .settings import BackpropType


class ListBuilder(NetworkBuilder[MultiLayerConfiguration], ListBuilderNames):
    """Layers in order, each fed by the one before.

    Parameters
    ----------
    network : NeuralNetConfiguration.Builder, optional
        What holds for all layers; its ``list()`` gives the builder of the layers.

    Examples
    --------
    >>> from dl4py import DenseLayer, NeuralNetConfiguration, OutputLayer
    >>> builder = NeuralNetConfiguration.Builder().list()
    >>> conf = builder.layer(DenseLayer(n_in=4, n_out=8)).layer(OutputLayer(n_in=8, n_out=3)).build()
    >>> len(conf.confs)
    2
    """

    target = MultiLayerConfiguration
    made = frozenset({"confs", "input_pre_processors"})

    def __init__(self, network: Any = None) -> None:
        super().__init__(network)
        self._layers: dict[int, Layer] = {}
        self._input_type: InputType | None = None

    def layer(self, *arguments: Any) -> Self:
        """Append a layer, or set one by index: ``layer([index, ]layer)``."""
        index, layer = arguments if len(arguments) == 2 else (len(self._layers), arguments[0])
        layer = finished(layer)
        if isinstance(layer, NeuralNetConfiguration):
            layer = layer.layer
        if not isinstance(layer, Layer):
            raise ConfigurationError(f"expected a layer; got {layer!r:.80} of type {type(layer).__name__}")
        self._layers[int(index)] = layer
        return self

    def set_input_type(self, input_type: InputType) -> Self:
        """State what the network is fed: sizes and preprocessors of all layers follow from it."""
        self._input_type = InputType.of(input_type)
        return self

    input_type = set_input_type
    setInputType = set_input_type

    def build(self) -> MultiLayerConfiguration:
        """Return the configuration.

        Raises
        ------
        ConfigurationError
            No layers, a gap between them, input types that do not fit, or an output layer that makes no sense.
        """
        count = len(self._layers)
        if sorted(self._layers) != list(range(count)) or not count:
            found = sorted(self._layers)
            raise ConfigurationError(f"a network needs layers 0, 1, 2 … without gaps; got layers {found}")
        self._refuse_unused(range(count))
        given = self._settings()
        layers = []
        for i in range(count):
            layer = self._layers[i]
            layer = layer if layer.layer_name else layer.renamed(f"layer{i}")
            layers.append(layer.apply_global_config(given))
        layers, preprocessors = self._sized(layers)
        confs = tuple(given.of_layer(layer) for layer in layers)
        values = {**given.of_network(), **self._values, **{k: getattr(given, k) for k in ("cache_mode", "data_type")}}
        conf = MultiLayerConfiguration(**{**values, "confs": confs, "input_pre_processors": preprocessors})
        if conf.validate_output_layer_config:
            check_outputs([layers[-1]])
        if self._check_tbptt and conf.backprop_type is BackpropType.TruncatedBPTT:
            check_truncated(layers)
        return conf.replace(validate_output_layer_config=True)      # DL4J's lists do not keep it

    def _sized(self, layers: list[Layer]) -> tuple[list[Layer], dict[int, InputPreProcessor]]:
        preprocessors = dict(self._preprocessors)
        current = self._input_type or (None if 0 in preprocessors else own_input_type(layers[0]))
        if current is None:
            return layers, preprocessors
        for i, layer in enumerate(layers):
            needed = preprocessors.get(i) or layer.get_pre_processor_for_input_type(current)
            if needed is not None:
                preprocessors[i] = needed
                current = needed.output_type(current)
            layers[i] = informed(layer, current, self._override)
            current = layers[i].get_output_type(i, current)
        return layers, preprocessors


def own_input_type(layer: Layer) -> InputType | None:
    """Return the input type that the first layer tells by its kind and ``n_in``."""
    telling = (BaseRecurrentLayer, DenseLayer, EmbeddingLayer, EmbeddingSequenceLayer, OutputLayer)
    if isinstance(layer, telling) and layer.n_in > 0:
        if isinstance(layer, BaseRecurrentLayer):
            return InputType.recurrent(layer.n_in, layer.rnn_data_format)
        return InputType.feed_forward(layer.n_in)
    return None


MultiLayerConfiguration.Builder = ListBuilder
