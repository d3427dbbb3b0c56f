"""Graphs of layers and vertices, built in DL4J's style."""
from __future__ import annotations

from typing import Any, Self

from ...layers.base.base import Layer
from ...layers.preprocessors import InputPreProcessor
from ...layers.standard.inside import informed
from ...layers.types.input_type import InputType
from ...layers.vertices import GraphVertex, MergeVertex
from ...samediff.errors import ConfigurationError
from .checks import check_outputs, check_truncated
from .configuration import ComputationGraphConfiguration, LayerVertex
from .java_names import GraphBuilderNames
from .network_builder import NetworkBuilder, finished
from .order import topological_order
from .settings import BackpropType


class GraphBuilder(NetworkBuilder[ComputationGraphConfiguration], GraphBuilderNames):
    """Layers and vertices by name, each with the names of its inputs.

    Parameters
    ----------
    network : NeuralNetConfiguration.Builder, optional
        What holds for all layers; its ``graph_builder()`` gives the builder of the graph.

    Examples
    --------
    >>> from dl4py import DenseLayer, NeuralNetConfiguration, OutputLayer
    >>> builder = NeuralNetConfiguration.Builder().graph_builder().add_inputs("in").add_layer("a", DenseLayer(n_in=4, n_out=8), "in")
    >>> conf = builder.add_layer("out", OutputLayer(n_in=8, n_out=3), "a").set_outputs("out").build()
    >>> conf.network_outputs
    ('out',)
    """

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
        """Add a layer whose input is the layer or vertex added last."""
        return self.add_layer(name, layer, *preprocessor, self._last)

    def append_vertex(self, name: str, vertex: Any) -> Self:
        """Add a vertex whose input is the layer or vertex added last."""
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
        """Set whether vertices may lead to no output."""
        self._allow_disconnected = allow
        return self

    def allow_no_output(self, allow: bool) -> Self:
        """Set whether the network may have no output."""
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
                layer = vertex.renamed(name).apply_global_config(given)
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


ComputationGraphConfiguration.Builder = GraphBuilder
ComputationGraphConfiguration.GraphBuilder = GraphBuilder
