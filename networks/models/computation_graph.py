"""Networks of any directed acyclic shape, with several inputs and outputs."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Never, Self

import numpy as np

from ...samediff.base.user_code.users_arrays import answers_in_kind, in_kind
from ...samediff.errors import ConfigurationError, GraphError
from ...samediff.expressions.arrays import as_array
from ...samediff.files.missing import Missing
from ...samediff.training.fit_options import FitOptions
from ..batches.batch import NetworkBatch
from ..engine.gradient import Gradient
from ..files.model_reader import read_model
from ..keras.archive import is_keras
from ..keras.loading import load_keras
from ..reports.layer_view import LayerView
from ..reports.summary import graph_summary
from ..structure.configuration import ComputationGraphConfiguration, LayerVertex, NetworkConfiguration
from ..structure.graph_arguments import ForwardRequest, arrays_of, asked_of_feed_forward, asked_of_output
from ..structure.java_names import ComputationGraphNames
from ..structure.variable_names import variable_names
from .evaluating import NetworkEvaluationMixin
from .external_errors import NetworkExternalErrorsMixin
from .fitting import arguments_of_fit
from .graph_indices import GraphIndicesMixin
from .graph_inputs import GraphInputsMixin
from .inspection import NetworkInspectionMixin
from .predicting import PredictingMixin
from .pretraining import PretrainingMixin
from .profiling import NetworkProfilingMixin
from .reconfiguring import ReconfigurationMixin
from .recurrent_state import RecurrentStateMixin


class ComputationGraph(PredictingMixin, GraphInputsMixin, NetworkProfilingMixin, NetworkEvaluationMixin, NetworkInspectionMixin,
                       PretrainingMixin, RecurrentStateMixin, NetworkExternalErrorsMixin, ReconfigurationMixin, ComputationGraphNames):
    """A network of layers and vertices in any directed acyclic shape (DL4J's ``ComputationGraph``).

    Parameters
    ----------
    configuration : ComputationGraphConfiguration or str
        What the vertices are; or its JSON text.

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

    configuration_type: ClassVar[type[NetworkConfiguration]] = ComputationGraphConfiguration

    def __init__(self, configuration: ComputationGraphConfiguration | str) -> None:
        if isinstance(configuration, str):
            configuration = ComputationGraphConfiguration.from_json(configuration)
        if not isinstance(configuration, ComputationGraphConfiguration):
            raise ConfigurationError(f"expected a ComputationGraphConfiguration, got {type(configuration).__name__}; "
                                     "lists of layers go into MultiLayerNetwork")
        super().__init__(configuration)
        self._configuration: ComputationGraphConfiguration

    def get_configuration(self) -> ComputationGraphConfiguration:
        """The configuration, with the present counters, the names of the parameters and the order of the vertices."""
        conf, names = self._configuration, variable_names(self.engine.structure)
        vertices = {n: v.replace(layer_conf=v.layer_conf.replace(variables=names[n])) if isinstance(v, LayerVertex) else v
                    for n, v in conf.vertices.items()}
        every = tuple(f"{n}_{p}" for n in conf.vertices for p in names.get(n, ()))
        return conf.replace(vertices=vertices, default_configuration=conf.default_configuration.replace(variables=every),
                            topological_order=GraphIndicesMixin.of(conf).topological_sort_order, topological_order_str=tuple(conf.order()),
                            iteration_count=self.get_iteration_count(), epoch_count=self.get_epoch_count())

    def get_layer(self, name: str | int) -> Any:
        """A layer, by name or place; for a vertex that is no layer its configuration."""
        key = self.structure.key_of(name)
        vertex = self._configuration.vertices[key]
        return LayerView(self, key) if isinstance(vertex, LayerVertex) else vertex

    def get_vertex(self, name: str) -> Any:
        """The configuration of a vertex."""
        return self._configuration.vertices[self.structure.key_of(name)]

    def get_vertices(self) -> list[Any]:
        """The configurations of all vertices in the order of the configuration (inputs have none)."""
        return list(self._configuration.vertices.values())

    def calculate_indices(self) -> GraphIndicesMixin:
        """DL4J's numbers of inputs and vertices, and the order in which they run."""
        return GraphIndicesMixin.of(self._configuration)

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

    @answers_in_kind
    def output(self, *inputs: Any, train: bool = False, features_masks: Any = None, labels_masks: Any = None,
               batch_size: int | None = None, **unknown: Never) -> list[Any]:
        """Activations of the outputs, one array each.

        DL4J's forms work too: ``output(train, x, …)``, ``output(train, [x, …], [mask, …], [labels mask, …])``,
        ``output(["layer", …], train, [x, …], [mask, …])`` and ``output(iterator)``, which puts the outputs of all batches one below the
        other, as for all that gives batches.

        Parameters
        ----------
        *inputs : array (batch, …)
            One for each input of the network, in the order of its names, in any real type.
        train : bool
            Whether layers work as in training (dropout, batch statistics).
        features_masks : sequence of array or None, optional
            One for each input: 1 for what counts and 0 for what does not, (batch, time), or (batch, 1) for rows.
        labels_masks : sequence of array or None, optional
            One for each output, in their place at that output layer.
        batch_size : int, optional
            Examples that are computed at once, where memory is short; or that are put together, where they come one by one.
        """
        if unknown:
            inputs = tuple(self._inputs_by_name(inputs, unknown, "output", ["train", "features_masks", "labels_masks", "batch_size"]))
        if self._is_data(inputs):
            return self._outputs_for(inputs[0], batch_size, train, (features_masks, labels_masks))
        asked = asked_of_output(inputs, train, (features_masks, labels_masks))
        if batch_size is not None:
            return self._outputs_for(NetworkBatch(asked.inputs, None, asked.masks[0]), batch_size, asked.train, (None, asked.masks[1]))
        names = [self.structure.key_of(n) for n in asked.members or ()] or list(self.engine.structure.outputs)
        return self._forward(asked.inputs, names, asked.train, *asked.masks)

    def __call__(self, *inputs: Any) -> Any:
        """As :meth:`output`, with a single output as an array."""
        found = self.output(*inputs)
        return found[0] if len(found) == 1 else found

    def output_single(self, *inputs: Any, train: bool = False) -> Any:
        """The only output; takes what :meth:`output` takes."""
        found = self.output(*inputs, train=train)
        if len(found) != 1:
            raise GraphError(f"output_single needs a graph with one output, this one has {len(found)}")
        return found[0]

    def _forward(self, x: list[Any], members: list[str], train: bool, *masks: Any, was_set: bool = False) -> list[Any]:
        return self.engine.forward.activations(NetworkBatch(x, None, *self._arrays.or_set(masks)), members, train, as_in_step=was_set)[0]

    def feed_forward(self, *inputs: Any, train: bool = False, features_masks: Any = None, labels_masks: Any = None) -> dict[str, Any]:
        """Inputs and activations of every vertex, by name; without inputs for those that were set. Where classes are missing, of those
        that need none of them.

        DL4J's forms work too: ``feed_forward(train)``, ``feed_forward(x, train)``, ``feed_forward([x, …], train, clear_inputs)`` (False
        sets these inputs), ``feed_forward(train, exclude_output_layers, include_vertices)``, and with the number of the last layer,
        counted as layers run: ``feed_forward(x, 1, train)``, ``feed_forward(train, 1)``.
        """
        asked = asked_of_feed_forward(inputs, train)
        stay = bool(asked.inputs) and asked.flags[:1] == (False,)
        if stay:
            self._arrays.set_inputs(asked.inputs)
        x = asked.inputs or self.get_inputs()
        structure = self.engine.structure
        keys = self._runnable(self._shown(asked), NetworkBatch(x))
        found = dict(zip(structure.inputs, map(np.array, x)))
        found.update(zip(keys, self._forward(x, keys, asked.train, features_masks, labels_masks,
                                            was_set=stay or not asked.inputs)))
        return in_kind(found, x)  # type: ignore[no-any-return]

    def _shown(self, asked: ForwardRequest) -> list[str]:
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

    @answers_in_kind
    def rnn_time_step(self, *inputs: Any) -> list[Any]:
        """Outputs for the next steps of series, going on from the state of the last call; (batch, size) is one step."""
        return self._next_steps([as_array(v) for v in arrays_of(inputs)])

    @answers_in_kind
    def rnn_activate_using_stored_state(self, inputs: Sequence[Any], training: bool = False,
                                        store_last_for_tbptt: bool = False) -> dict[str, Any]:
        """Inputs and activations of every vertex for a piece of series, going on from the states that the last piece left.

        The states are kept for the next piece with ``store_last_for_tbptt``; they are apart from those of :meth:`rnn_time_step`.
        """
        found = dict(zip(self.engine.structure.inputs, map(np.array, inputs)))
        keys = [m.key for m in self.engine.structure.members]
        return {**found, **dict(zip(keys, self._activate_piece(NetworkBatch(inputs), training, store_last_for_tbptt)))}

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

    def fit(self, inputs: Any = None, labels: Any = None, features_masks: Any = None, labels_masks: Any = None,
            *, epochs: int | None = None, batch_size: int | None = None, check_finite: bool = False, shuffle: bool = False,
            sample_weight: Any = None, class_weight: Any = None, listeners: Any = (), callbacks: Any = (), validation_data: Any = None,
            validation_split: float = 0.0, validation_frequency: int = 1, verbose: Any = 0, **unknown: Never) -> Self:
        given: Sequence[Any] = (inputs, labels, features_masks, labels_masks)
        if unknown or inputs is None:
            given = arguments_of_fit(("inputs", "labels", "features_masks", "labels_masks"), given, unknown)
        options = FitOptions(epochs, batch_size, check_finite, shuffle, sample_weight, class_weight, listeners, callbacks, validation_data,
                             validation_split, validation_frequency, verbose)
        return self._train(given, options)

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str], load_updater: bool = True, *, missing: Missing = "warn") -> ComputationGraph:
        """Read a DL4J model zip of a graph, or a model of Keras; parameters and errors as of :meth:`MultiLayerNetwork.load`."""
        if is_keras(path):
            return load_keras(path, ComputationGraph, True)
        return read_model(path, ComputationGraph, load_updater, missing=missing)

    def summary(self, *input_types: Any) -> str:
        """A table of the vertices: name, sizes, parameters, shapes, inputs."""
        return graph_summary(self.engine, self.get_configuration(), input_types)
