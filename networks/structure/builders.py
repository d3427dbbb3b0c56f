"""Builders in DL4J's style: ``NeuralNetConfiguration.Builder()``, its lists of layers and its graphs."""
from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, Self

from ...layers.base.base import Layer
from ...layers.base.defaults import LayerDefaults
from ...layers.preprocessors import InputPreProcessor
from ...layers.standard.wrappers import informed
from ...layers.types.input_type import InputType
from ...layers.vertices import GraphVertex, MergeVertex
from ...samediff.base.datatype import DataType
from ...samediff.configuration.builder import Builder
from ...samediff.configuration.configuration import configuration, field
from ...samediff.errors import ConfigurationError
from .checks import check_outputs, check_truncated
from .configuration import ComputationGraphConfiguration, LayerVertex, MultiLayerConfiguration, NeuralNetConfiguration
from .order import topological_order
from .settings import BackpropType, CacheMode, OptimizationAlgorithm, StepFunction, WorkspaceMode


def finished(value: Any) -> Any:
    """A builder in place of what it builds is built."""
    return value.build() if isinstance(value, Builder) else value


@configuration(kw_only=True)
class GlobalConfiguration(LayerDefaults):
    """Everything that ``NeuralNetConfiguration.Builder`` sets."""

    seed: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    mini_batch: bool = True
    minimize: bool = True
    max_num_line_search_iterations: int = 5
    optimization_algo: OptimizationAlgorithm = OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    step_function: StepFunction | None = None
    data_type: DataType = DataType.FLOAT
    cache_mode: CacheMode = CacheMode.NONE
    training_workspace_mode: WorkspaceMode = WorkspaceMode.ENABLED
    inference_workspace_mode: WorkspaceMode = WorkspaceMode.ENABLED
    layer: Layer | None = None

    def validate(self) -> None:
        if self.data_type not in (DataType.FLOAT, DataType.DOUBLE, DataType.HALF, DataType.BFLOAT16):
            raise ConfigurationError(f"networks compute in FLOAT, DOUBLE, HALF or BFLOAT16; got {self.data_type.name}")

    def of_layer(self, layer: Layer | None) -> NeuralNetConfiguration:
        """Return the configuration of one layer of the network."""
        shared = {name: getattr(self, name) for name in NeuralNetConfiguration._fields if name in type(self)._fields}
        return NeuralNetConfiguration(**{**shared, "layer": layer})

    def of_network(self) -> dict[str, Any]:
        """Return what list networks and graphs take over."""
        names = ("training_workspace_mode", "inference_workspace_mode", "cache_mode", "data_type")
        return {name: getattr(self, name) for name in names}


class NeuralNetConfigurationBuilder(Builder):
    """Network-wide options; ``list()`` and ``graph_builder()`` go on to the layers, ``build()`` makes one layer's
    configuration.
    """

    target = GlobalConfiguration

    def list(self, *layers: Any) -> ListBuilder:
        """Start a list of layers."""
        builder = ListBuilder(self)
        for layer in layers:
            builder.layer(layer)
        return builder

    def graph_builder(self) -> GraphBuilder:
        """Start a graph."""
        return GraphBuilder(self)

    graphBuilder = graph_builder

    def settings(self) -> GlobalConfiguration:
        """Return the options so far."""
        return GlobalConfiguration(**self._values)

    def layer(self, layer: Any) -> Self:
        """Set the single layer of :meth:`build`."""
        return self.set_option("layer", finished(layer))

    def build(self) -> NeuralNetConfiguration:
        given = self.settings()
        return given.of_layer(given.layer.apply_global_config(given) if given.layer is not None else None)


NeuralNetConfiguration.Builder = NeuralNetConfigurationBuilder


class NetworkBuilder(Builder):
    """What the builders of lists and graphs share."""

    def __init__(self, network: NeuralNetConfigurationBuilder | Any = None) -> None:
        self._network = network if network is not None else NeuralNetConfigurationBuilder()
        self._override = True
        self._check_tbptt = True
        self._preprocessors: dict[Any, InputPreProcessor] = {}
        super().__init__()

    def validate_tbptt_config(self, check: bool) -> Self:
        """Whether layers that cannot train with truncated back-propagation are refused."""
        self._check_tbptt = check
        return self

    validateTbpttConfig = validate_tbptt_config

    def override_nin_upon_build(self, override: bool) -> Self:
        """Whether the input types replace an ``n_in`` that was set by hand."""
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
        """ConfigurationError for preprocessors in front of what is no layer."""
        for key, preprocessor in self._preprocessors.items():
            if key not in layers:
                raise ConfigurationError(f"the preprocessor {preprocessor!r:.80} stands in front of {key!r}, which is no layer; "
                                         f"layers: {', '.join(map(repr, layers))}")

    def _settings(self) -> GlobalConfiguration:
        settings: GlobalConfiguration = self._network.settings()
        late = self._values.get("data_type", settings.data_type)
        if late is not settings.data_type:
            raise ConfigurationError(f"data_type({late.name}) comes too late: layers have the type {settings.data_type.name} of the "
                                     "NeuralNetConfiguration.Builder(); say data_type there, before list() or graph_builder()")
        return settings


class ListBuilder(NetworkBuilder):
    """Layers in order, each fed by the one before."""

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
            layer = layer if layer.layer_name else layer.replace(layer_name=f"layer{i}")
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
    from ...layers import BaseRecurrentLayer, DenseLayer, EmbeddingLayer, EmbeddingSequenceLayer, OutputLayer
    telling = (BaseRecurrentLayer, DenseLayer, EmbeddingLayer, EmbeddingSequenceLayer, OutputLayer)
    if isinstance(layer, telling) and layer.n_in > 0:
        if isinstance(layer, BaseRecurrentLayer):
            return InputType.recurrent(layer.n_in, layer.rnn_data_format)
        return InputType.feed_forward(layer.n_in)
    return None


class GraphBuilder(NetworkBuilder):
    """Layers and vertices by name, each with the names of its inputs."""

    target = ComputationGraphConfiguration
    made = frozenset({"default_configuration", "network_inputs", "network_outputs", "vertices", "vertex_inputs",
                      "topological_order", "topological_order_str"})

    def __init__(self, network: Any = None) -> None:
        super().__init__(network)
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._vertices: dict[str, Any] = {}
        self._sources: dict[str, tuple[str, ...]] = {}
        self._input_types: tuple[InputType, ...] = ()
        self._last = ""
        self._allow_disconnected = self._allow_no_output = False

    def add_inputs(self, *names: Any) -> Self:
        """Name the inputs of the network."""
        self._inputs.extend(_names(names))
        self._last = self._inputs[-1]
        return self

    def set_outputs(self, *names: Any) -> Self:
        """Name the outputs of the network."""
        self._outputs = _names(names)
        return self

    def set_input_types(self, *types: Any) -> Self:
        """State what the network is fed, one type per input."""
        self._input_types = tuple(InputType.of(t) for t in types)
        return self

    def add_layer(self, name: str, layer: Any, *inputs: Any) -> Self:
        """Add a layer: ``add_layer(name, layer[, preprocessor], input…)``; several inputs are merged first."""
        if inputs and isinstance(inputs[0], InputPreProcessor):
            self.input_pre_processor(name, inputs[0])
            inputs = inputs[1:]
        layer = finished(layer)
        if not isinstance(layer, Layer):
            raise ConfigurationError(f"layer {name!r}: expected a layer; got {layer!r:.80}")
        sources = _names(inputs)
        if len(sources) > 1:
            self.add_vertex(f"{name}-merge", MergeVertex(), *sources)
            sources = [f"{name}-merge"]
        return self._add(str(name), layer, sources)

    layer = addLayer = add_layer

    def add_vertex(self, name: str, vertex: Any, *inputs: Any) -> Self:
        """Add a vertex with its inputs."""
        if not isinstance(vertex, GraphVertex):
            raise ConfigurationError(f"vertex {name!r}: expected a vertex; got {vertex!r:.80}")
        return self._add(name, vertex, _names(inputs))

    def append_layer(self, name: str, layer: Any, *preprocessor: Any) -> Self:
        """Add a layer behind what was added last."""
        return self.add_layer(name, layer, *preprocessor, self._last)

    def append_vertex(self, name: str, vertex: Any) -> Self:
        """Add a vertex behind what was added last."""
        return self.add_vertex(name, vertex, self._last)

    def _add(self, name: str, vertex: Any, sources: list[str]) -> Self:
        if name in self._vertices or name in self._inputs:
            raise ConfigurationError(f"the name {name!r} is used twice")
        if not sources:
            raise ConfigurationError(f"vertex {name!r} needs at least one input")
        self._vertices[name], self._sources[name], self._last = vertex, tuple(sources), name
        return self

    def remove_vertex(self, name: str, remove_connections: bool = True) -> Self:
        """Remove a vertex, and its name from the inputs of others."""
        if name not in self._vertices:
            raise ConfigurationError(f"there is no vertex {name!r}")
        del self._vertices[name], self._sources[name]
        self._preprocessors.pop(name, None)
        if remove_connections:
            self._sources = {k: tuple(s for s in v if s != name) for k, v in self._sources.items()}
            self._outputs = [o for o in self._outputs if o != name]
        return self

    def allow_disconnected(self, allow: bool) -> Self:
        """Whether vertices may lead to no output."""
        self._allow_disconnected = allow
        return self

    def allow_no_output(self, allow: bool) -> Self:
        """Whether the network may have no output."""
        self._allow_no_output = allow
        return self

    addInputs, setOutputs, setInputTypes, addVertex = add_inputs, set_outputs, set_input_types, add_vertex
    appendLayer, appendVertex, removeVertex = append_layer, append_vertex, remove_vertex
    allowDisconnected, allowNoOutput = allow_disconnected, allow_no_output

    def build(self) -> ComputationGraphConfiguration:
        """Return the configuration; see :meth:`ListBuilder.build` for the errors."""
        given = self._settings()
        self._check_names()
        self._refuse_unused([name for name, vertex in self._vertices.items() if isinstance(vertex, Layer)])
        order = topological_order(self._inputs, self._sources)
        vertices: dict[str, GraphVertex] = {}
        for name, vertex in self._vertices.items():
            if isinstance(vertex, Layer):
                layer = vertex.replace(layer_name=name).apply_global_config(given)
                vertices[name] = LayerVertex(given.of_layer(layer), self._preprocessors.get(name))
            else:
                inherit = getattr(vertex, "apply_global_config", None)  # vertices with parameters
                vertices[name] = inherit(given) if inherit else vertex
        if self._input_types:
            self._size(order, vertices)
        values = {**given.of_network(), **self._values, **{k: getattr(given, k) for k in ("cache_mode", "data_type")}}
        conf = ComputationGraphConfiguration(**{
            **values, "default_configuration": given.of_layer(None), "network_inputs": self._inputs,
            "network_outputs": self._outputs, "vertices": vertices, "vertex_inputs": self._sources})
        layers = [v.layer for v in vertices.values() if isinstance(v, LayerVertex)]
        if conf.validate_output_layer_config:
            ends = [vertices[o] for o in self._outputs]
            check_outputs([v.layer for v in ends if isinstance(v, LayerVertex)])
        if self._check_tbptt and conf.backprop_type is BackpropType.TruncatedBPTT:
            check_truncated(layers)
        return conf

    def _check_names(self) -> None:
        if not self._inputs:
            raise ConfigurationError("a graph needs inputs: add_inputs(name, …)")
        if not self._outputs and not self._allow_no_output:
            raise ConfigurationError("a graph needs outputs: set_outputs(name, …)")
        for name in self._outputs:
            if name not in self._vertices:
                raise ConfigurationError(f"the output {name!r} is no vertex; vertices: {', '.join(self._vertices)}")
        if self._allow_disconnected or not self._outputs:
            return
        reached, todo = set(), list(self._outputs)
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo.extend(self._sources.get(name, ()))
        lost = [name for name in self._vertices if name not in reached]
        if lost:
            names = ", ".join(lost)
            raise ConfigurationError(f"vertices that lead to no output: {names}; allow_disconnected(True) permits them")

    def _size(self, order: list[str], vertices: dict[str, GraphVertex]) -> None:
        if len(self._input_types) != len(self._inputs):
            counts = f"{len(self._inputs)} inputs, {len(self._input_types)} input types"
            raise ConfigurationError(f"each input needs its type; got {counts}")
        types = dict(zip(self._inputs, self._input_types))
        for name in order:
            if name in types:
                continue
            vertex, given = vertices[name], [types[s] for s in self._sources[name]]
            if isinstance(vertex, LayerVertex):
                needed = vertex.pre_processor or vertex.layer.get_pre_processor_for_input_type(given[0])
                current = needed.output_type(given[0]) if needed is not None else given[0]
                layer = informed(vertex.layer, current, self._override)
                conf = vertex.layer_conf.replace(layer=layer)
                vertices[name] = vertex.replace(pre_processor=needed, layer_conf=conf)
                types[name] = layer.get_output_type(0, current)
            else:
                vertices[name] = vertex = vertex.with_input_types(*given)
                types[name] = vertex.get_output_type(0, *given)


def _names(names: tuple[Any, ...]) -> list[str]:
    """Names one by one, or as one collection."""
    if len(names) == 1 and isinstance(names[0], (list, tuple)):
        names = tuple(names[0])
    wrong = next((n for n in names if not isinstance(n, (str, int))), None)
    if wrong is not None:
        raise ConfigurationError(f"expected names of inputs, layers or vertices; got {wrong!r:.80} of type {type(wrong).__name__}")
    return [str(n) for n in names]


MultiLayerConfiguration.Builder = ListBuilder
ComputationGraphConfiguration.Builder = GraphBuilder
ComputationGraphConfiguration.GraphBuilder = GraphBuilder
