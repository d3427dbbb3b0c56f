"""Networks of any directed acyclic shape, with several inputs and outputs."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...samediff.data import DataSet
from ...samediff.errors import ConfigurationError, GraphError, UnknownNameError, did_you_mean
from ...samediff.expressions.arrays import as_array
from ..engine.batch import Batch
from ..engine.gradient import Gradient
from ..files.model_reader import read_model
from ..reports.layer_view import LayerView
from ..reports.summary import graph_summary
from ..structure.configuration import ComputationGraphConfiguration, LayerVertex, NetworkConfiguration, NeuralNetConfiguration
from ..structure.graph_arguments import Forward, arrays_of, asked_of_feed_forward, asked_of_output
from ..structure.settings import BackpropType
from ..structure.structure import Structure, of_graph
from ..structure.variable_names import variable_names
from .evaluating import Evaluating
from .external_errors import ExternalErrors
from .fitting import OPTIONS
from .graph_indices import GraphIndices
from .graph_inputs import GraphInputs
from .inspection import Inspecting
from .pretraining import Pretraining
from .profiling import Profiling
from .reconfiguring import Reconfiguring
from .recurrent_state import RecurrentState


class ComputationGraph(GraphInputs, Profiling, Evaluating, Inspecting, Pretraining, RecurrentState, ExternalErrors, Reconfiguring):
    """A network of layers and vertices in any directed acyclic shape (DL4J's ``ComputationGraph``).

    Parameters
    ----------
    configuration : ComputationGraphConfiguration, or its JSON text

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.networks import ComputationGraph, NeuralNetConfiguration
    >>> from dl4py.layers import DenseLayer, OutputLayer, MergeVertex
    >>> conf = (NeuralNetConfiguration.Builder().seed(1).graph_builder().add_inputs("a", "b")
    ...         .add_layer("left", DenseLayer(n_in=2, n_out=3), "a").add_layer("right", DenseLayer(n_in=2, n_out=3), "b")
    ...         .add_vertex("both", MergeVertex(), "left", "right")
    ...         .add_layer("out", OutputLayer(n_in=6, n_out=2), "both").set_outputs("out").build())
    >>> net = ComputationGraph(conf).init()
    >>> [o.shape for o in net.output(np.zeros((4, 2)), np.zeros((4, 2)))]
    [(4, 2)]
    """

    _configuration_type: ClassVar[type[NetworkConfiguration]] = ComputationGraphConfiguration

    def __init__(self, configuration: ComputationGraphConfiguration | str) -> None:
        if isinstance(configuration, str):
            configuration = ComputationGraphConfiguration.from_json(configuration)
        if not isinstance(configuration, ComputationGraphConfiguration):
            raise ConfigurationError(f"expected a ComputationGraphConfiguration, got {type(configuration).__name__}; "
                                     "lists of layers go into MultiLayerNetwork")
        super().__init__(configuration)
        self._configuration: ComputationGraphConfiguration

    def _structure(self) -> Structure:
        return of_graph(self._configuration)

    def _counters(self) -> tuple[int, int]:
        return self._configuration.iteration_count, self._configuration.epoch_count

    def _with_layers(self, change: Callable[[str, Any], Any]) -> ComputationGraphConfiguration:
        def changed(name: str, vertex: Any) -> Any:
            if not isinstance(vertex, LayerVertex):
                return vertex
            return vertex.replace(layer_conf=vertex.layer_conf.replace(layer=change(name, vertex.layer)))
        return self._configuration.replace(vertices={n: changed(n, v) for n, v in self._configuration.vertices.items()})

    def get_configuration(self) -> ComputationGraphConfiguration:
        """The configuration, with the present counters, the names of the parameters and the order of the vertices."""
        conf, names = self._configuration, variable_names(self.engine.structure)
        vertices = {n: v.replace(layer_conf=v.layer_conf.replace(variables=names[n])) if isinstance(v, LayerVertex) else v
                    for n, v in conf.vertices.items()}
        every = tuple(f"{n}_{p}" for n in conf.vertices for p in names.get(n, ()))
        return conf.replace(vertices=vertices, default_configuration=conf.default_configuration.replace(variables=every),
                            topological_order=GraphIndices.of(conf).topological_sort_order, topological_order_str=tuple(conf.order()),
                            iteration_count=self.get_iteration_count(), epoch_count=self.get_epoch_count())

    def get_layer(self, name: str | int) -> Any:
        """A layer, by name or place; for a vertex that is no layer its configuration."""
        key = self._layer_key(name)
        vertex = self._configuration.vertices[key]
        return LayerView(self, key) if isinstance(vertex, LayerVertex) else vertex

    def _layer_conf(self, key: str) -> NeuralNetConfiguration:
        vertex = self._configuration.vertices[key]
        assert isinstance(vertex, LayerVertex)
        return vertex.layer_conf

    def get_vertex(self, name: str) -> Any:
        """Configuration of a vertex."""
        return self._configuration.vertices[self._layer_key(name)]

    def _layer_key(self, layer: Any) -> str:
        names = list(self._configuration.vertices)
        if isinstance(layer, int):
            return names[layer]
        if layer not in names:
            raise UnknownNameError(f"no layer or vertex named {layer!r}{did_you_mean(str(layer), names)}; there are: {', '.join(names)}")
        return str(layer)

    def get_vertices(self) -> list[Any]:
        """The configurations of all vertices in the order of the configuration (inputs have none)."""
        return list(self._configuration.vertices.values())

    def calculate_indices(self) -> GraphIndices:
        """DL4J's numbers of inputs and vertices, and the order in which they run."""
        return GraphIndices.of(self._configuration)

    def topological_sort_order(self) -> list[int]:
        """The order in which inputs and vertices run, by DL4J's numbers: inputs first, then vertices as configured."""
        return list(self.calculate_indices().topological_sort_order)

    def get_num_input_arrays(self) -> int:
        """Number of inputs."""
        return len(self._configuration.network_inputs)

    def get_num_output_arrays(self) -> int:
        """Number of outputs."""
        return len(self._configuration.network_outputs)

    # Forward

    def output(self, *inputs: Any, train: bool = False, features_masks: Any = None, labels_masks: Any = None) -> list[Any]:
        """Activations of the outputs, one array each.

        DL4J's forms work too: ``output(train, x, …)``, ``output(train, [x, …], [mask, …], [labels mask, …])``,
        ``output(["layer", …], train, [x, …], [mask, …])`` and ``output(iterator)``, which puts the outputs of all batches one below the
        other.
        """
        if len(inputs) == 1 and hasattr(inputs[0], "has_next"):
            found = [self.output(*b.inputs, train=train, features_masks=b.features_masks or None)
                     for b in self._batches_in(inputs[0], "compute")]
            return [np.concatenate(parts) for parts in zip(*found)]
        asked = asked_of_output(inputs, train, (features_masks, labels_masks))
        names = [self._layer_key(n) for n in asked.members or ()] or list(self.engine.structure.outputs)
        return self._forward(asked.inputs, names, asked.train, *asked.masks)

    def output_single(self, *inputs: Any, train: bool = False) -> Any:
        """The only output; takes what :meth:`output` takes."""
        found = self.output(*inputs, train=train)
        if len(found) != 1:
            raise GraphError(f"output_single needs a graph with one output, this one has {len(found)}")
        return found[0]

    def _forward(self, x: list[Any], members: list[str], train: bool, *masks: Any, was_set: bool = False) -> list[Any]:
        given = [m if m is not None else kept for m, kept in zip(masks, self._masks)]
        return self.engine.forward(Batch(x, None, *given), members, train, as_in_step=was_set)[0]

    def feed_forward(self, *inputs: Any, train: bool = False, features_masks: Any = None, labels_masks: Any = None) -> dict[str, Any]:
        """Inputs and activations of every vertex, by name; without inputs for those that were set. Where classes are missing, of those
        that need none of them.

        DL4J's forms work too: ``feed_forward(train)``, ``feed_forward(x, train)``, ``feed_forward([x, …], train, clear_inputs)`` (inputs
        stay set in any case), ``feed_forward(train, exclude_output_layers, include_vertices)``, and with the number of the last layer,
        counted as layers run: ``feed_forward(x, 1, train)``, ``feed_forward(train, 1)``.
        """
        asked = asked_of_feed_forward(inputs, train)
        x = asked.inputs or self.get_inputs()
        structure = self.engine.structure
        keys = self._that_run(self._shown(asked), Batch(x))
        found = dict(zip(structure.inputs, map(np.array, x)))
        found.update(zip(keys, self._forward(x, keys, asked.train, features_masks, labels_masks, was_set=not asked.inputs)))
        return found

    def _shown(self, asked: Forward) -> list[str]:
        """The members whose activations are asked for."""
        members = list(self.engine.structure.members)
        if asked.till is not None:
            places = [k for k, m in enumerate(members) if m.is_layer]
            if not 0 <= asked.till < len(places):
                raise GraphError(f"layer {asked.till} does not exist; the graph has {len(places)} layers")
            members = members[:places[asked.till] + 1]
        if not asked.inputs and len(asked.flags) == 2:
            without_outputs, with_vertices = asked.flags
            outputs = self.engine.structure.outputs if without_outputs else ()
            members = [m for m in members if m.key not in outputs and (with_vertices or m.is_layer)]
        return [m.key for m in members]

    def rnn_time_step(self, *inputs: Any) -> list[Any]:
        """Outputs for the next steps of series, going on from the state of the last call; (batch, size) is one step."""
        x = [as_array(v) for v in arrays_of(inputs)]
        single = all(v.ndim == 2 for v in x)
        outs = self._step_in_time(Batch([v[:, :, None] if single else v for v in x]))
        return [o[:, :, 0] if single and o.ndim == 3 else o for o in outs]

    def rnn_activate_using_stored_state(self, inputs: Sequence[Any], training: bool = False,
                                        store_last_for_tbptt: bool = False) -> dict[str, Any]:
        """Inputs and activations of every vertex for a piece of series, going on from the states that the last piece left.

        The states are kept for the next piece with ``store_last_for_tbptt``; they are apart from those of :meth:`rnn_time_step`.
        """
        found = dict(zip(self.engine.structure.inputs, map(np.array, inputs)))
        keys = [m.key for m in self.engine.structure.members]
        return {**found, **dict(zip(keys, self._activate_piece(Batch(inputs), training, store_last_for_tbptt)))}

    # Training

    def backprop_gradient(self, *epsilons: Any) -> Gradient:
        """Gradients for the inputs that were set, given those of some loss for the activations of the outputs ("external errors").

        Parameters
        ----------
        *epsilons : arrays
            One for each output, shaped as its activations. None takes the loss of that output for the labels that were set.

        Returns
        -------
        Gradient
            Of the parameters, as sums over examples; its ``get_input_gradients()`` has those of the inputs.

        See Also
        --------
        MultiLayerNetwork.backprop_gradient
        """
        return self._backprop(epsilons)[0]

    def _batch_of(self, data: Any) -> Batch:
        if isinstance(data, DataSet):
            data = data.to_multi_data_set()
        return Batch(data.features, data.labels or None, data.features_masks, data.labels_masks)

    def _batch_from(self, *args: Any, **options: Any) -> Batch:
        names = ("inputs", "labels", "features_masks", "labels_masks")
        given = {**dict(zip(names, args)), **options}
        unknown = [k for k in given if k not in names]
        if unknown or len(args) > 4 or given.get("inputs") is None:
            near = did_you_mean(unknown[0], [*names, *OPTIONS]) if unknown else ""
            raise GraphError(f"fit takes a data set, an iterator, or {', '.join(names)}, and the options {', '.join(OPTIONS)}; "
                             f"got {', '.join(unknown or [type(a).__name__ for a in args]) or 'nothing'}{near}")
        lists = [given.get(n) if given.get(n) is None or isinstance(given.get(n), (list, tuple)) else [given.get(n)] for n in names]
        return Batch(*lists)  # type: ignore[arg-type]  # inputs are checked above

    def _tbptt(self) -> int | None:
        conf = self._configuration
        return conf.tbptt_fwd_length if conf.backprop_type is BackpropType.TruncatedBPTT else None

    def _activations_for_listeners(self, batch: Batch) -> dict[str, Any]:
        keys = [m.key for m in self.engine.structure.members if m.key not in self.engine.structure.outputs]   # as DL4J does
        found = dict(zip(self.engine.structure.inputs, batch.inputs))
        found.update(zip(keys, self.engine.forward(batch, keys, True)[0]))
        return found

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str], load_updater: bool = True) -> ComputationGraph:
        """Read a DL4J model zip."""
        return read_model(path, ComputationGraph, load_updater)

    def summary(self, *input_types: Any) -> str:
        """A table of the vertices: name, sizes, parameters, shapes, inputs."""
        return graph_summary(self.engine, self.get_configuration(), input_types)
