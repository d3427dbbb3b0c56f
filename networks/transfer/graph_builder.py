"""Changing a trained graph."""
from __future__ import annotations

from typing import Any, Self, cast

from ...layers.base.base import Layer
from ...layers.functions.weight_init import IWeightInit
from ...layers.preprocessors import InputPreProcessor
from ...layers.types.input_type import InputType
from ...layers.vertices import FrozenVertex, GraphVertex, MergeVertex
from ...samediff.configuration.builder import Builder
from ...samediff.configuration.method_builder import MethodBuilder
from ...samediff.errors import ConfigurationError, UnknownNameError, did_you_mean
from ...samediff.training.listeners.listeners import report
from ..models.computation_graph import ComputationGraph
from ..structure.builders import NeuralNetConfigurationBuilder
from ..structure.configuration import LayerVertex, NeuralNetConfiguration
from ..structure.global_configuration import GlobalConfiguration
from ..structure.graph_builder import GraphBuilder
from ..structure.java_names import TransferGraphBuilderNames
from ..structure.settings import WorkspaceMode
from .fine_tune import FineTuneConfiguration
from .list_builder import frozen
from .sizes import NetworkPart, Types, carried, check_fed, check_runs, fed_with, resizes, taking, with_scheme


class TransferGraphBuilder(MethodBuilder, TransferGraphBuilderNames):
    """Builds a new :class:`~dl4py.networks.ComputationGraph` from a trained one, which stays as it is.

    Vertices keep their parameters unless they are replaced; the others are drawn from the seed of the configuration. Updater
    state starts anew, counters at 0.

    Parameters
    ----------
    graph : ComputationGraph
        The trained one.
    """

    def __init__(self, graph: ComputationGraph) -> None:
        if not isinstance(graph, ComputationGraph):
            raise ConfigurationError(f"TransferLearning.GraphBuilder takes a ComputationGraph; got a {type(graph).__name__}. "
                                     "TransferLearning.Builder is for lists of layers")
        self._graph, self._conf = graph, graph.get_configuration()
        self._tune = FineTuneConfiguration()
        self._vertices: dict[str, GraphVertex] = dict(self._conf.vertices)
        self._sources: dict[str, tuple[str, ...]] = dict(self._conf.vertex_inputs)
        self._inputs, self._outputs = list(self._conf.network_inputs), list(self._conf.network_outputs)
        self._added: dict[str, Layer | GraphVertex] = {}
        self._preprocessors: dict[str, InputPreProcessor] = {}
        self._input_types: tuple[InputType, ...] = ()
        self._renewed: set[str] = set()
        self._n_out: dict[str, tuple[int, IWeightInit]] = {}
        self._n_in: set[str] = set()
        self._schemes: dict[str, IWeightInit] = {}          # of layers with new weights: fine-tune settings leave them
        self._frozen: tuple[str, ...] = ()
        self._more: dict[str, Any] = {}

    def fine_tune_configuration(self, configuration: FineTuneConfiguration) -> Self:
        """Settings for all layers, kept and new."""
        if not isinstance(configuration, FineTuneConfiguration):
            raise ConfigurationError(f"expected a FineTuneConfiguration; got {configuration!r:.60}")
        self._tune = configuration
        return self

    def set_feature_extractor(self, *names: str) -> Self:
        """Freeze these vertices and all that lead to them."""
        for name in names:
            self._vertex(name)
        self._frozen = names
        return self

    def n_out_replace(self, name: str, n_out: int, scheme: Any, scheme_next: Any = None) -> Self:
        """Give a layer another number of outputs; it and the layers that it feeds start with new weights."""
        first = IWeightInit.of(scheme)
        following = first if scheme_next is None else IWeightInit.of(scheme_next)
        fed = [other for other, sources in self._sources.items() if name in sources]
        self._change(name, n_out=int(n_out), weight_init=first)
        for other in fed:
            vertex = self._vertices[other]
            if isinstance(vertex, LayerVertex) and with_scheme(vertex.layer, following) is not vertex.layer:
                self._change(other, weight_init=following)
        self._n_out[name] = int(n_out), following
        return self

    def n_in_replace(self, name: str, n_in: int, scheme: Any, distribution: Any = None) -> Self:
        """Give a layer another number of inputs and new weights."""
        sizes = taking(self._layer(name), int(n_in))
        self._change(name, **sizes, weight_init=IWeightInit.of(scheme if distribution is None else distribution))
        self._n_in.add(name)
        return self

    def remove_vertex_keep_connections(self, name: str) -> Self:
        """Remove a vertex; another of the same name is to take its place."""
        self._vertex(name)
        del self._vertices[name], self._sources[name]
        self._renewed.add(name)
        return self

    def remove_vertex_and_connections(self, name: str) -> Self:
        """Remove a vertex, and its name from the inputs of others and the outputs."""
        self.remove_vertex_keep_connections(name)
        self._sources = {k: tuple(s for s in v if s != name) for k, v in self._sources.items()}
        self._outputs = [o for o in self._outputs if o != name]
        return self

    def add_layer(self, name: str, layer: Any, *inputs: Any) -> Self:
        """Add a layer: ``add_layer(name, layer[, preprocessor], input…)``."""
        made = layer.build() if isinstance(layer, Builder) else layer
        if not isinstance(made, Layer):
            raise ConfigurationError(f"layer {name!r}: expected a layer; got {made!r:.60}")
        if inputs and isinstance(inputs[0], InputPreProcessor):
            self._preprocessors[name], inputs = inputs[0], inputs[1:]
        sources = tuple(map(str, inputs))
        if len(sources) > 1:
            self.add_vertex(f"{name}-merge", MergeVertex(), *sources)
            sources = (f"{name}-merge",)
        return self._add(name, made, sources)

    def add_vertex(self, name: str, vertex: GraphVertex, *inputs: str) -> Self:
        """Add a vertex with its inputs."""
        if not isinstance(vertex, GraphVertex):
            raise ConfigurationError(f"vertex {name!r}: expected a vertex; got {vertex!r:.60}")
        return self._add(name, vertex, inputs)

    def set_outputs(self, *names: str) -> Self:
        """Name the outputs."""
        self._outputs = list(names)
        return self

    def set_inputs(self, *names: str) -> Self:
        """Name the inputs."""
        self._inputs = list(names)
        return self

    def add_inputs(self, *names: str) -> Self:
        """Name further inputs."""
        self._inputs += names
        return self

    def set_input_types(self, *types: InputType) -> Self:
        """State what the network is fed, one type per input: sizes and preprocessors of new layers follow from it."""
        self._input_types = tuple(InputType.of(t) for t in types)
        return self

    def set_workspace_mode(self, mode: WorkspaceMode) -> Self:
        """Kept in the configuration."""
        self._more.update(training_workspace_mode=mode, inference_workspace_mode=mode)
        return self

    def validate_output_layer_config(self, validate: bool) -> Self:
        """Whether ``build`` refuses an output layer that makes no sense, such as softmax over one output: it does unless told not to."""
        self._more["validate_output_layer_config"] = validate
        return self

    def build(self) -> ComputationGraph:
        """The new network.

        Raises
        ------
        ConfigurationError
            Names that do not exist or occur twice, no outputs, vertices that lead nowhere, an output layer that makes no sense.
        """
        inputs = self._carry() if self._n_out else None
        if self._n_in:
            check_fed(self._parts(old=True), self._parts(), self._conf.network_inputs, ", ".join(sorted(self._n_in)))
        conf = self._assembled()
        graph = ComputationGraph(self._with_frozen(conf)).init()
        fresh, kept = graph.engine.flat.arrays, self._graph.engine.flat.arrays
        for name in set(conf.vertices) - self._renewed - set(self._added):
            for key in (k for k in fresh if k.startswith(f"{name}_")):
                if key in kept and kept[key].shape == fresh[key].shape:
                    fresh[key][...] = kept[key]
        if inputs is not None and not self._added and not self._n_in:
            check_runs(graph, self._graph, inputs, f"{', '.join(self._n_out)} with another number of outputs")
        return graph

    def _parts(self, old: bool = False) -> list[NetworkPart]:
        """What stays, or what was there, in the order in which it runs."""
        conf = self._conf
        vertices, sources = (conf.vertices, conf.vertex_inputs) if old else (self._vertices, self._sources)
        return [self._part(k, vertices[k], sources[k]) for k in conf.order() if k in vertices]

    def _carry(self) -> Types | None:
        """Fit what is behind layers with another number of outputs; the types of the inputs, where they are known."""
        parts, names = self._parts(old=True), self._conf.network_inputs
        given = self._input_types if len(self._input_types) == len(names) else ()
        inputs = dict(zip(names, given)) if given else fed_with(parts, names)
        if inputs is None:
            self._carry_directly()
            return None
        new = {k: self._part(k, v, self._sources[k]) for k, v in self._vertices.items()}
        made, changed = carried(parts, new, inputs, self._n_in)
        for part in made:
            vertex, fitted = self._vertices[part.key], cast("GraphVertex", part.conf)
            if isinstance(vertex, LayerVertex):
                fitted = vertex.replace(layer_conf=vertex.layer_conf.replace(layer=part.conf), pre_processor=part.preprocessor)
            self._vertices[part.key] = fitted
        further = [k for k in changed if k not in self._renewed]
        _, following = [*self._n_out.values()][-1]
        for name in further:
            vertex = self._vertices[name]
            if isinstance(vertex, LayerVertex) and with_scheme(vertex.layer, following) is not vertex.layer:
                self._schemes[name] = following
        if further:
            report(f"{', '.join(further)} have new parameters, as {', '.join(self._n_out)} have another number of outputs")
        self._renewed |= set(changed)
        return inputs

    def _carry_directly(self) -> None:
        """The same where the sizes between the vertices are not known: to layers that have them alone."""
        for name, (n_out, _) in self._n_out.items():
            for other in [k for k, sources in self._sources.items() if name in sources and k not in self._n_in and k in self._vertices]:
                vertex = self._vertices[other]
                if not isinstance(vertex, LayerVertex) or resizes(vertex.pre_processor) or "n_in" not in type(vertex.layer)._fields:
                    raise ConfigurationError(
                        f"{name!r} feeds {other!r}, and how large the input of what is behind it will be is not known: say what the "
                        "network is fed with set_input_types, or use remove_vertex_keep_connections and add_layer instead")
                self._vertices[other] = vertex.replace(layer_conf=vertex.layer_conf.replace(layer=vertex.layer.replace(n_in=n_out)))
                self._renewed.add(other)

    @staticmethod
    def _part(key: str, vertex: GraphVertex, sources: tuple[str, ...]) -> NetworkPart:
        if isinstance(vertex, LayerVertex):
            return NetworkPart(key, vertex.layer, vertex.pre_processor, tuple(sources))
        return NetworkPart(key, vertex, None, tuple(sources))

    def _assembled(self) -> Any:
        """The configuration without what is to be frozen."""
        confs = (v.layer_conf for v in self._conf.vertices.values() if isinstance(v, LayerVertex))
        default = self._tune.applied_to(next(confs, self._conf.default_configuration))
        settings: NeuralNetConfigurationBuilder = self._tune.applied_neural_net_configuration_builder()
        for name in set(NeuralNetConfiguration._fields) & set(GlobalConfiguration._fields) - {"layer"}:
            settings.set_option(name, self._conf.data_type if name == "data_type" else getattr(default, name))
        given = settings.settings()                     # of new layers; those that are kept have their regularization already
        settings.set_option("regularization", ()).set_option("regularization_bias", ())
        builder = GraphBuilder(settings).add_inputs(*self._inputs).set_outputs(*self._outputs)
        if self._input_types:
            builder.set_input_types(*self._input_types)
        shared = {n: getattr(self._conf, n) for n in ("backprop_type", "tbptt_fwd_length", "tbptt_back_length")}
        for name, value in {**shared, **self._more}.items():
            builder.set_option(name, value)
        for name, vertex in self._vertices.items():
            if isinstance(vertex, LayerVertex):
                layer: Any = self._tune.applied_to(vertex.layer_conf).layer
                scheme = self._schemes.get(name)
                self._put(builder, name, layer if scheme is None else layer.replace(weight_init=scheme), vertex.pre_processor)
            else:
                self._put(builder, name, vertex)
        for name, added in self._added.items():
            new = added.apply_global_config(given) if isinstance(added, Layer) else added
            self._put(builder, name, new, self._preprocessors.get(name))
        conf = self._tune.applied_to_network(builder.build())
        return conf.replace(**{"validate_output_layer_config": self._conf.validate_output_layer_config, **self._more})

    def _put(self, builder: GraphBuilder, name: str, what: Any, preprocessor: InputPreProcessor | None = None) -> None:
        """Give a layer or vertex with its inputs to the builder of the configuration."""
        sources = self._sources[name]
        if isinstance(what, Layer):
            builder.add_layer(name, what, *([] if preprocessor is None else [preprocessor]), *sources)
        else:
            builder.add_vertex(name, what, *sources)

    def _with_frozen(self, conf: Any) -> Any:
        reached, ahead = set(), list(self._frozen)
        while ahead:
            name = ahead.pop()
            if name in conf.vertices and name not in reached:
                reached.add(name)
                ahead += conf.vertex_inputs[name]
        vertices = dict(conf.vertices)
        for name in reached:
            vertex = vertices[name]
            if isinstance(vertex, LayerVertex):
                vertices[name] = vertex.replace(layer_conf=vertex.layer_conf.replace(layer=frozen(vertex.layer)))
            elif not isinstance(vertex, FrozenVertex):
                vertices[name] = FrozenVertex(underlying=vertex)
        return conf.replace(vertices=vertices)

    def _vertex(self, name: str) -> GraphVertex:
        if name not in self._vertices:
            known = ", ".join(self._vertices)
            raise UnknownNameError(f"there is no vertex {name!r}{did_you_mean(name, self._vertices)}; vertices: {known}")
        return self._vertices[name]

    def _layer(self, name: str) -> Layer:
        vertex = self._vertex(name)
        if not isinstance(vertex, LayerVertex):
            raise ConfigurationError(f"vertex {name!r} ({type(vertex).__name__}) is no layer")
        return vertex.layer

    def _change(self, name: str, **changes: Any) -> None:
        """Replace options of a layer; as in DL4J it moves to the end of the vertices."""
        layer = self._layer(name)
        missing = [option for option in changes if option not in type(layer)._fields]
        if missing:
            raise ConfigurationError(f"layer {name!r} ({type(layer).__name__}) has no {missing[0]} to replace")
        vertex, sources = self._vertices.pop(name), self._sources.pop(name)
        assert isinstance(vertex, LayerVertex)
        self._vertices[name] = vertex.replace(layer_conf=vertex.layer_conf.replace(layer=layer.replace(**changes)))
        self._sources[name] = sources
        if "weight_init" in changes:
            self._schemes[name] = changes["weight_init"]
        self._renewed.add(name)

    def _add(self, name: str, added: Layer | GraphVertex, sources: tuple[str, ...]) -> Self:
        if name in self._vertices or name in self._added or name in self._inputs:
            raise ConfigurationError(f"the name {name!r} is used twice")
        self._added[name], self._sources[name] = added, tuple(sources)
        return self
