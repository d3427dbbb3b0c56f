"""Configurations of whole networks, equal to DL4J's JSON and YAML."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar
from typing import Any, ClassVar, Self

from ...layers.base.base import Layer
from ...layers.preprocessors import InputPreProcessor
from ...layers.types.input_type import InputType
from ...layers.types.old_options import OLD_OPTIONS
from ...layers.vertices import GraphVertex, vertex
from ...samediff.base.datatype import DataType
from ...samediff.configuration.classes import is_registered
from ...samediff.configuration.configuration import Configuration
from ...samediff.configuration.declaring import Convertible, configuration, field, option
from ...samediff.errors import ConfigurationError, LimitError, MissingOpError
from ...samediff.text.document_text import read_text
from ..legacy import class_names, layers_of, upgraded_graph, upgraded_list
from .java_names import (
    ComputationGraphConfigurationNames,
    GraphBuilder,
    LayerVertexNames,
    ListBuilder,
    MultiLayerConfigurationNames,
    NetworkConfigurationNames,
    NeuralNetConfigurationBuilder,
    NeuralNetConfigurationNames,
)
from .order import is_topological, topological_order
from .settings import BackpropType, CacheMode, OptimizationAlgorithm, StepFunction, WorkspaceMode

#: The largest number of layers in a configuration; model files, where text is compressed, have a limit of their own.
MOST_LAYERS = 5000
_PACKAGE = "org.deeplearning4j.nn.conf."


@configuration(_PACKAGE + "NeuralNetConfiguration", kw_only=True, tag="")
class NeuralNetConfiguration(Configuration, NeuralNetConfigurationNames):
    """One layer with the network-wide settings that it trains under.

    Built by ``NeuralNetConfiguration.Builder()``, whose ``list()`` and ``graph_builder()`` make whole networks.

    Parameters
    ----------
    layer : Layer, optional
        The layer; None for what holds for a whole graph.
    seed : int
        Of first values and of everything random in training; 0 by default, the time in a builder that is told none.
    mini_batch : bool
        Whether loss and gradient of a batch are divided by its number of examples (default), rather than sums.
    optimization_algo : OptimizationAlgorithm or str
        How a batch changes the parameters: ``STOCHASTIC_GRADIENT_DESCENT`` (default) by the updaters, the others by a line search
        too.
    max_num_line_search_iterations : int
        Steps that a line search tries for a batch; 5 by default.
    step_function : StepFunction, optional
        How an update changes the parameters; by default it is subtracted.
    data_type : DataType or str
        FLOAT (default), DOUBLE, HALF or BFLOAT16: what parameters and activations are.
    variables : tuple of str
        Names of the layer's parameters, as DL4J's files list them.
    iteration_count, epoch_count : int
        What the counters of a network start from; 0 by default.
    minimize, cache_mode
        Stand in DL4J's files; without effect here.

    Examples
    --------
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> conf = (NeuralNetConfiguration.Builder().seed(1).list()
    ...         .layer(DenseLayer(n_in=4, n_out=8, activation="relu")).layer(OutputLayer(n_out=3)).build())
    >>> conf.get_conf(1).layer.n_in
    8
    """

    Builder: ClassVar[type[NeuralNetConfigurationBuilder]]  # type: ignore[assignment]  # has methods of its own
    layer: Layer | None = None
    seed: int = 0
    mini_batch: bool = True
    minimize: bool = True
    max_num_line_search_iterations: int = 5
    optimization_algo: Convertible[OptimizationAlgorithm] = OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    step_function: StepFunction | None = None
    variables: Convertible[tuple[str, ...]] = ()
    cache_mode: Convertible[CacheMode] = CacheMode.NONE
    data_type: Convertible[DataType] = DataType.FLOAT
    iteration_count: int = 0
    epoch_count: int = 0


def _both_lengths(values: dict[str, Any], length: int) -> None:
    values["tbptt_fwd_length"] = values["tbptt_back_length"] = length


@configuration(kw_only=True, tag="")
class NetworkConfiguration(Configuration, NetworkConfigurationNames):
    """Base of the configurations of whole networks, lists and graphs.

    Parameters
    ----------
    backprop_type : BackpropType or str
        ``Standard`` (default), or ``TruncatedBPTT``: series are trained in pieces, a step for each, and states go on from one to the
        next.
    tbptt_fwd_length : int
        Steps of a piece, at least 1; 20 by default. ``tbptt_length`` sets both lengths.
    tbptt_back_length : int
        Stands in DL4J's files; without effect, as gradients go back through the whole piece, there and here.
    data_type : DataType or str
        FLOAT (default), DOUBLE, HALF or BFLOAT16: what parameters and activations are.
    validate_output_layer_config : bool
        Whether builders refuse a loss that does not fit the activation, such as cross entropy of an identity; True by default.
    iteration_count, epoch_count : int
        What the counters of a network start from; 0 by default.
    training_workspace_mode, inference_workspace_mode, cache_mode
        Of DL4J's memory; kept in files, without effect here.
    """

    removed: ClassVar[Mapping[str, str]] = OLD_OPTIONS
    backprop_type: Convertible[BackpropType] = BackpropType.Standard
    tbptt_fwd_length: int = field(default=20, aliases=("tbptt_forward_length",))
    tbptt_back_length: int = field(default=20, aliases=("tbptt_backward_length",))
    training_workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    inference_workspace_mode: Convertible[WorkspaceMode] = WorkspaceMode.ENABLED
    cache_mode: Convertible[CacheMode] = CacheMode.NONE
    data_type: Convertible[DataType] = DataType.FLOAT
    validate_output_layer_config: bool = True
    iteration_count: int = 0
    epoch_count: int = 0
    tbptt_length: InitVar[int | None] = option(_both_lengths)

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """The configuration of a JSON document.

        Raises
        ------
        MissingOpError
            Classes that are not registered; the text names all of them, and the layers.
        """
        try:
            return super().from_document(document)
        except MissingOpError as error:
            missing = [name for name in dict.fromkeys(class_names(document)) if not is_registered(name)]
            layers = [f"{key} ({name})" for key, name in layers_of(document) if any(m.rpartition(".")[2] == name for m in missing)]
            where = f" (layers {', '.join(layers)})" if layers else ""
            raise MissingOpError(f"{len(missing)} of the configuration's classes are not registered: {', '.join(missing)}{where}. "
                                 f"{error}") from None

    def validate(self) -> None:
        if self.tbptt_fwd_length < 1 or self.tbptt_back_length < 1:
            lengths = f"{self.tbptt_fwd_length} and {self.tbptt_back_length}"
            raise ConfigurationError(f"lengths of truncated back-propagation must be positive; got {lengths}")


@configuration(_PACKAGE + "MultiLayerConfiguration", kw_only=True)
class MultiLayerConfiguration(NetworkConfiguration, MultiLayerConfigurationNames):
    """A list of layers, each fed by the one before. `ListBuilder` makes it.

    Parameters
    ----------
    confs : sequence of NeuralNetConfiguration
        The layers in their order, each with what holds for the network.
    input_pre_processors : dict of InputPreProcessor by int
        What stands in front of layers, by their places from 0.
    """

    Builder: ClassVar[type[ListBuilder]]  # type: ignore[assignment]
    confs: Convertible[tuple[NeuralNetConfiguration, ...]] = ()
    input_pre_processors: dict[int, InputPreProcessor] = field(default_factory=dict)

    @classmethod
    def upgrade(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Convert a document of any version since 0.5.0 to the current form."""
        check_count(document, MOST_LAYERS)
        return upgraded_list(document)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in order."""
        return tuple(c.layer for c in self.confs if c.layer is not None)

    def get_conf(self, index: int) -> NeuralNetConfiguration:
        """Return the configuration of one layer."""
        return self.confs[index]

    def get_input_pre_process(self, index: int) -> InputPreProcessor | None:
        """Return the preprocessor in front of one layer, if any."""
        return self.input_pre_processors.get(index)

    def layer_activation_types(self, input_type: InputType) -> list[InputType]:
        """Return the type of each layer's activations for inputs of that type (DL4J's ``getLayerActivationTypes``)."""
        types = []
        for i, layer in enumerate(self.layers):
            pre = self.input_pre_processors.get(i)
            input_type = layer.get_output_type(0, pre.output_type(input_type) if pre else input_type)
            types.append(input_type)
        return types


@vertex("LayerVertex")
class LayerVertex(GraphVertex, LayerVertexNames):
    """A layer as vertex, with a preprocessor in front of it if needed.

    Parameters
    ----------
    layer_conf : NeuralNetConfiguration
        The layer, with what holds for the network.
    pre_processor : InputPreProcessor, optional
        Stands in front of the layer.
    output_vertex : bool
        Stands in DL4J's files; without effect here.
    """

    layer_conf: NeuralNetConfiguration
    pre_processor: InputPreProcessor | None = None
    output_vertex: bool = False

    def validate(self) -> None:
        super().validate()
        if self.layer_conf.layer is None:
            raise ConfigurationError("LayerVertex needs a layer in its layer_conf")

    @property
    def layer(self) -> Layer:
        """The configuration of the layer."""
        assert self.layer_conf.layer is not None
        return self.layer_conf.layer

    def output_type(self, *input_types: InputType) -> InputType:
        self.check_count(len(input_types))
        (given,) = input_types
        return self.layer.get_output_type(0, self.pre_processor.output_type(given) if self.pre_processor else given)


@configuration(_PACKAGE + "ComputationGraphConfiguration", kw_only=True)
class ComputationGraphConfiguration(NetworkConfiguration, ComputationGraphConfigurationNames):
    """Vertices by name, and for each the names of its inputs: network inputs or other vertices. `GraphBuilder` makes it.

    Parameters
    ----------
    network_inputs, network_outputs : sequence of str
        Names of the inputs, and of the vertices that are outputs, in the order in which arrays are given and come.
    vertices : dict of GraphVertex by str
        Layers stand in it as `LayerVertex`.
    vertex_inputs : dict of tuple of str by str
        For each vertex the inputs and vertices that feed it.
    default_configuration : NeuralNetConfiguration
        What holds for the network, without a layer.
    topological_order, topological_order_str : tuple, optional
        The order in which inputs and vertices run, by DL4J's numbers and by name, where a file holds it.

    Raises
    ------
    ConfigurationError
        A vertex without inputs, an input that does not exist, or a circle.
    """

    Builder: ClassVar[type[GraphBuilder]]  # type: ignore[assignment]
    GraphBuilder: ClassVar[type[GraphBuilder]]
    default_configuration: NeuralNetConfiguration = NeuralNetConfiguration()
    network_inputs: Convertible[tuple[str, ...]] = ()
    network_outputs: Convertible[tuple[str, ...]] = ()
    vertices: dict[str, GraphVertex] = field(default_factory=dict)
    vertex_inputs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    topological_order: Convertible[tuple[int, ...] | None] = None
    topological_order_str: Convertible[tuple[str, ...] | None] = None

    @classmethod
    def upgrade(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Convert a document of any version since 0.5.0 to the current form."""
        check_count(document, MOST_LAYERS)
        return upgraded_graph(document)

    def validate(self) -> None:
        super().validate()
        for name, one in self.vertices.items():
            if one is None or self.vertex_inputs.get(name) is None:
                raise ConfigurationError(f"vertex {name!r} has no {'configuration' if one is None else 'inputs'}")
        for name, inputs in self.vertex_inputs.items():
            for source in inputs or ():
                if source not in self.vertices and source not in self.network_inputs:
                    raise ConfigurationError(f"vertex {name!r} has the input {source!r}, which does not exist")
        sources = self._sources()
        topological_order(self.network_inputs, sources)
        if self.topological_order_str is not None and not is_topological(self.topological_order_str, self.network_inputs, sources):
            self._put(topological_order=None, topological_order_str=None)      # these describe the graph before it was changed

    def order(self) -> list[str]:
        """Return the names of inputs and vertices in the order in which they run (also that of the flat parameters).

        An order that a file holds counts.
        """
        return list(self.topological_order_str or topological_order(self.network_inputs, self._sources()))

    def _sources(self) -> dict[str, tuple[str, ...]]:
        """The inputs of each vertex, vertices as they were added."""
        return {name: self.vertex_inputs.get(name, ()) for name in (*self.vertices, *self.vertex_inputs)}

    def layer_activation_types(self, *input_types: InputType) -> dict[str, InputType]:
        """Return the type of each vertex's activations for inputs of those types."""
        types = dict(zip(self.network_inputs, input_types, strict=True))
        for name in self.order():
            if name in self.vertices:
                types[name] = self.vertices[name].get_output_type(0, *(types[i] for i in self.vertex_inputs[name]))
        return types


def conf_of(configuration: MultiLayerConfiguration | ComputationGraphConfiguration, key: str) -> NeuralNetConfiguration:
    """A layer with its settings, by the key of its member."""
    if isinstance(configuration, MultiLayerConfiguration):
        return configuration.confs[int(key)]
    vertex = configuration.vertices[key]
    assert isinstance(vertex, LayerVertex)
    return vertex.layer_conf


def check_count(document: Any, most: int) -> None:
    """LimitError for more layers, vertices or preprocessors than allowed."""
    for key in ("confs", "vertices", "vertexInputs", "inputPreProcessors", "networkInputs", "networkOutputs"):
        part = document.get(key) if isinstance(document, Mapping) else None
        if isinstance(part, (list, Mapping)) and len(part) > most:
            raise LimitError(f"the configuration has {len(part)} {key}, at most {most} are allowed; "
                             "for model files ModelLimits.max_layers says another number")


def is_graph(document: Any) -> bool:
    """Whether the JSON document of a network is that of a computation graph."""
    return isinstance(document, Mapping) and "vertices" in document


def kind_of(document: Any) -> type[MultiLayerConfiguration] | type[ComputationGraphConfiguration]:
    """The kind of configuration that the JSON document of a network is."""
    return ComputationGraphConfiguration if is_graph(document) else MultiLayerConfiguration


def of_document(document: Any, most_layers: int = MOST_LAYERS) -> MultiLayerConfiguration | ComputationGraphConfiguration:
    """The configuration of either kind of network from its JSON document.

    Raises
    ------
    MissingOpError
        As :meth:`NetworkConfiguration.from_document`.
    LimitError
        More than ``most_layers`` layers or vertices.
    """
    check_count(document, most_layers)
    return kind_of(document).from_document(document)


def read(text: str) -> MultiLayerConfiguration | ComputationGraphConfiguration:
    """Return the configuration of either kind of network from its JSON."""
    return of_document(read_text(text, "JSON"))
