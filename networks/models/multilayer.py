"""Networks of layers one behind the other."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Never, Self

import numpy as np

from ...layers.types.layer_type import LayerType
from ...samediff.base.java.pair import Pair
from ...samediff.base.user_code.users_arrays import answers_in_kind, in_kind, is_given, users_array
from ...samediff.errors import ConfigurationError, GraphError
from ...samediff.expressions.arrays import as_array
from ...samediff.files.missing import Missing
from ...samediff.training.fit_options import FitOptions
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_from
from ..engine.gradient import Gradient
from ..files.model_reader import read_model
from ..keras.archive import is_keras
from ..keras.loading import load_keras
from ..reports.layer_view import LayerView
from ..reports.summary import list_summary
from ..structure.configuration import MultiLayerConfiguration, NetworkConfiguration
from ..structure.conversion import as_graph
from ..structure.graph_arguments import is_switch
from ..structure.java_names import MultiLayerNetworkNames
from ..structure.variable_names import variable_names
from .computation_graph import ComputationGraph
from .evaluating import NetworkEvaluationMixin
from .external_errors import NetworkExternalErrorsMixin
from .fitting import arguments_of_fit
from .inspection import NetworkInspectionMixin
from .predicting import PredictingMixin
from .pretraining import PretrainingMixin
from .profiling import NetworkProfilingMixin
from .reconfiguring import ReconfigurationMixin
from .recurrent_state import RecurrentStateMixin

_NO_MASKS = (None, None)
_OPTIONS_OF_OUTPUT = "train", "features_mask", "labels_mask", "batch_size"


class MultiLayerNetwork(PredictingMixin, NetworkProfilingMixin, NetworkEvaluationMixin, NetworkInspectionMixin, PretrainingMixin,
                        RecurrentStateMixin, NetworkExternalErrorsMixin, ReconfigurationMixin, MultiLayerNetworkNames):
    """A network of layers, each fed by the one before (DL4J's ``MultiLayerNetwork``).

    Parameters
    ----------
    configuration : MultiLayerConfiguration or str
        What the layers are; or its JSON text.

    Examples
    --------
    >>> import numpy as np
    >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
    >>> from dl4py.layers import DenseLayer, OutputLayer
    >>> conf = (NeuralNetConfiguration.Builder().seed(1).list()
    ...         .layer(DenseLayer(n_in=4, n_out=8, activation="relu")).layer(OutputLayer(n_in=8, n_out=3)).build())
    >>> net = MultiLayerNetwork(conf).init()
    >>> net.num_params(), net.output(np.zeros((2, 4))).shape
    (67, (2, 3))
    """

    configuration_type: ClassVar[type[NetworkConfiguration]] = MultiLayerConfiguration

    def __init__(self, configuration: MultiLayerConfiguration | str) -> None:
        if isinstance(configuration, str):
            configuration = MultiLayerConfiguration.from_json(configuration)
        if not isinstance(configuration, MultiLayerConfiguration):
            raise ConfigurationError(f"expected a MultiLayerConfiguration, got {type(configuration).__name__}; "
                                     "graphs go into ComputationGraph, layers into NeuralNetConfiguration.Builder().list(layers).build()")
        super().__init__(configuration)
        self._configuration: MultiLayerConfiguration

    def get_layer_wise_configurations(self) -> MultiLayerConfiguration:
        """The configuration, with the present counters and the names of the parameters."""
        names, epochs = variable_names(self.engine.structure), self.get_epoch_count()
        confs = tuple(c.replace(variables=names.get(str(i), ()), epoch_count=epochs) for i, c in enumerate(self._configuration.confs))
        return self._configuration.replace(confs=confs, iteration_count=self.get_iteration_count(), epoch_count=epochs)

    get_configuration = get_layer_wise_configurations
    set_layer_wise_configurations = ReconfigurationMixin.set_configuration

    def get_n_layers(self) -> int:
        """Number of layers."""
        return len(self._configuration.confs)

    getn_layers = get_n_layers          # DL4J's getnLayers

    def get_layer(self, layer: int | str) -> LayerView:
        """A layer, by index or name."""
        return LayerView(self, self.structure.key_of(layer))

    # Forward

    def output(self, x: Any = None, train: bool = False, features_mask: Any = None, labels_mask: Any = None, *,
               batch_size: int | None = None, **unknown: Never) -> Any:
        """Activations of the last layer.

        Batches give the outputs of all of them, one below the other.

        Parameters
        ----------
        x : array (batch, …), table, data set, or batches
            As the first layer takes it, in any real type.
        train : bool
            Whether layers work as in training (dropout, batch statistics).
        features_mask : array, optional
            1 for what counts and 0 for what does not: (batch, time), or (batch, 1) for rows.
        labels_mask : array, optional
            In its place at the output layer.
        batch_size : int, optional
            Examples that are computed at once, where memory is short; or that are put together, where they come one by one.
        """
        if unknown or x is None:
            x, = self._inputs_by_name([] if x is None else [x], unknown, "output", _OPTIONS_OF_OUTPUT) or [None]
        plain = train is False and features_mask is labels_mask is batch_size is None
        if type(x) is np.ndarray and plain and self._arrays.masks == _NO_MASKS:
            found = self.engine.forward.known_output(x)
            if found is not None:
                return found
        if isinstance(x, np.ndarray) and is_given(x):
            return users_array(self.output(np.asarray(x), train, features_mask, labels_mask, batch_size=batch_size))
        return in_kind(self._output(x, train, features_mask, labels_mask, batch_size), x)

    def _output(self, x: Any, train: bool, features_mask: Any, labels_mask: Any, batch_size: int | None) -> Any:
        if is_switch(x) or not isinstance(train, (int, np.bool_)):
            raise GraphError(f"output takes the input, then whether to run as in training, then masks; got {_named(x)}, {_named(train)}")
        if self._is_data([x]):
            return self._outputs_for(x, batch_size, bool(train), (features_mask, labels_mask))[0]
        if batch_size is not None:
            return self._outputs_for(batch_from(self.structure, x, None, features_mask), batch_size, bool(train), (None, labels_mask))[0]
        return self._forward(x, [self.engine.structure.outputs[0]], train, features_mask, labels_mask)[0]

    def __call__(self, x: Any) -> Any:
        """As :meth:`output`."""
        return self.output(x)

    def _forward(self, x: Any, members: list[str], train: bool, features_mask: Any, labels_mask: Any = None,
                 was_set: bool = False) -> list[Any]:
        given = [None if m is None else [m] for m in (features_mask, labels_mask)]
        return self.engine.forward.activations(NetworkBatch([x], None, *self._arrays.or_set(given)), members, train, as_in_step=was_set)[0]

    def feed_forward(self, x: Any = None, train: bool = False, features_mask: Any = None, labels_mask: Any = None) -> list[Any]:
        """The input, then the activations of every layer; where classes are missing, of those before the first that lacks one.

        DL4J's forms work too: ``feed_forward(train)`` and ``feed_forward(train, clear_inputs)`` for the input that was set, which stays
        set in any case, and ``feed_forward(x, features_mask, labels_mask)``.
        """
        if is_switch(x):
            x, train = None, x
        elif not isinstance(train, (int, np.bool_)):
            train, features_mask, labels_mask = False, train, features_mask
        given = self._given(x)
        keys = self._runnable([m.key for m in self.engine.structure.members], NetworkBatch([given]))
        found = [np.array(given), *self._forward(given, keys, train, features_mask, labels_mask, x is None)]
        return in_kind(found, given)  # type: ignore[no-any-return]

    def _given(self, x: Any) -> Any:
        """The input, or the one that was set."""
        given = self.get_input() if x is None else x
        if given is None:
            raise GraphError("feed_forward needs an input: give x, or call set_input first")
        return given if is_given(given) else as_array(given)

    def activate(self, x: Any = None, training: bool = False) -> Any:
        """Activations of the last layer for ``x``, or for the input that was set (``activate(training)`` is possible too)."""
        return self.feed_forward_to_layer(self.get_n_layers() - 1, x, training)[-1]

    def feed_forward_to_layer(self, layer: Any, x: Any = None, train: bool = False) -> list[Any]:
        """The input, then the activations up to a layer (index or name); -1 gives the input only.

        Without ``x`` (``feed_forward_to_layer(layer, train)``) for the input that was set.
        """
        last = -1 if layer == -1 else int(self.structure.key_of(layer))
        x, train = (None, x) if is_switch(x) else (x, train)
        given, keys = self._given(x), [str(i) for i in range(last + 1)]
        found = [np.array(given), *(self._forward(given, keys, train, None, None, x is None) if keys else ())]
        return in_kind(found, given)  # type: ignore[no-any-return]

    @answers_in_kind
    def activate_selected_layers(self, first: int, last: int, x: Any) -> Any:
        """Activations of layer ``last`` when ``x`` is given to layer ``first``, both as outside of training.

        Shapes: x (batch, …) as layer ``first`` takes it, before its preprocessor -> as layer ``last`` gives it.
        """
        begin, end = int(self.structure.key_of(first)), int(self.structure.key_of(last))
        if begin > end:
            raise GraphError(f"activate_selected_layers goes from a layer to the same or a later one; got {first} to {last}")
        part = self.engine.part(begin, end)
        return part.activations(NetworkBatch([x]), [str(end)])[0][0]

    @answers_in_kind
    def rnn_time_step(self, x: Any) -> Any:
        """Activations for the next steps of series, going on from the state of the last call.

        Shapes: x (batch, size, time) or (batch, size) for one step; for a layer of indices (batch, time).
        """
        return self._next_steps([as_array(x)])[0]

    @answers_in_kind
    def rnn_activate_using_stored_state(self, x: Any, training: bool = False, store_last_for_tbptt: bool = False) -> list[Any]:
        """The input and the activations of every layer for a piece of series, going on from the states that the last piece left.

        Shapes: x (batch, size, time). The states are kept for the next piece with ``store_last_for_tbptt``; they are apart from those of
        :meth:`rnn_time_step`.
        """
        return [np.array(x), *self._activate_piece(NetworkBatch([x]), training, store_last_for_tbptt)]

    # Training

    def fit(self, x: Any = None, y: Any = None, features_mask: Any = None, labels_mask: Any = None,
            *, epochs: int | None = None, batch_size: int | None = None, check_finite: bool = False, shuffle: bool = False,
            sample_weight: Any = None, class_weight: Any = None, listeners: Any = (), callbacks: Any = (), validation_data: Any = None,
            validation_split: float = 0.0, validation_frequency: int = 1, verbose: Any = 0, **unknown: Never) -> Self:
        given: Sequence[Any] = (x, y, features_mask, labels_mask)
        if unknown or x is None:
            given = arguments_of_fit(("x", "y", "features_mask", "labels_mask"), given, unknown)
        options = FitOptions(epochs, batch_size, check_finite, shuffle, sample_weight, class_weight, listeners, callbacks, validation_data,
                             validation_split, validation_frequency, verbose)
        return self._train(given, options)

    def set_input(self, x: Any) -> None:
        """Set the input of :meth:`compute_gradient_and_score`."""
        self._arrays.set_inputs([x])

    def set_labels(self, labels: Any) -> None:
        """Set the labels of :meth:`compute_gradient_and_score`."""
        if self._arrays.batch is None:
            raise GraphError("set_input first")
        self._arrays.batch = NetworkBatch(self._arrays.batch.inputs, [labels])

    def set_layer_mask_arrays(self, features_mask: Any = None, labels_mask: Any = None) -> None:
        """Set the masks of :meth:`compute_gradient_and_score`."""
        self._arrays.masks = (None if features_mask is None else [features_mask], None if labels_mask is None else [labels_mask])

    def get_mask_array(self) -> Any:
        """The features mask that was set, None without one."""
        return None if self._arrays.masks[0] is None else users_array(self._arrays.masks[0][0])

    def set_mask_array(self, mask: Any) -> None:
        """Set the features mask of :meth:`compute_gradient_and_score`."""
        self._arrays.masks = (None if mask is None else [mask], self._arrays.masks[1])

    @answers_in_kind
    def backprop_gradient(self, epsilon: Any, workspace_mgr: None = None) -> Pair[Gradient, Any]:
        """Gradients for the input that was set, given the gradient of some loss for the activations of the last layer ("external errors").

        Activations and gradients are those of the present iteration in training mode, as :meth:`feed_forward` without input gives them:
        dropout draws the same numbers. ``get_updater().update(...)`` then makes the update to subtract from the parameters.
        ``workspace_mgr`` has no effect: memory is planned when the graph is compiled.

        Shapes: epsilon as the activations of the last layer -> the gradient of the parameters (a sum over examples), and that of the input.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> from dl4py.layers import DenseLayer
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().seed(1).list().layer(DenseLayer(n_in=4, n_out=2)).build()).init()
        >>> net.set_input(np.ones((3, 4)))
        >>> loss_gradient = 2 * net.feed_forward(train=True)[-1]
        >>> gradient, epsilon = net.backprop_gradient(loss_gradient)
        >>> gradient.get_gradient_for("0_W").shape, epsilon.shape
        ((4, 2), (3, 4))
        """
        gradient, (below,) = self._backprop([epsilon])
        return Pair(gradient, below)

    @answers_in_kind
    def calculate_gradients(self, x: Any, y: Any, features_mask: Any = None, labels_mask: Any = None) -> tuple[Any, Any]:
        """Gradient of the parameters and of the input, as sums over examples."""
        engine = self.engine
        batch, steps = batch_from(engine.structure, x, y, features_mask, labels_mask), engine.steps
        epsilon = steps.input_gradients(batch)[0]
        total, _ = steps.gradient(batch)
        engine.progress.score = total + steps.penalty()
        return self.gradient(), epsilon

    def to_computation_graph(self) -> ComputationGraph:
        """The same network as a graph: input "in", layers named "0", "1" … with equal parameters, updater state, counters and settings."""
        graph = ComputationGraph(as_graph(self.get_layer_wise_configurations()))
        graph.init(self.engine.flat.params).engine.take_over(self.engine)
        return graph

    def type(self) -> LayerType:
        """The layer type of a network that serves as a layer in DL4J."""
        return LayerType.MULTILAYER

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str], load_updater: bool = True, *, missing: Missing = "warn") -> MultiLayerNetwork:
        """Read a DL4J model zip, or a model of Keras (``.keras``, ``.h5``).

        Parameters
        ----------
        path : str or path
            A file that :meth:`save`, DL4J or Keras wrote.
        load_updater : bool
            Whether the updater's state is read too, where there is one.
        missing : "warn", "keep" or "error"
            What happens where classes of plug-ins are not registered here: the file opens as far as it goes (:meth:`missing_classes` lists
            them, what does not need them runs, and saving writes them as they were), with a warning or ("keep") without; or it is an error
            that names all of them.

        Raises
        ------
        FileFormatError
            Not a model file, or that of a graph; TruncatedFileError and LimitError are kinds of it.
        MissingOpError
            With ``missing="error"``, classes are not registered here.
        """
        return load_keras(path, MultiLayerNetwork) if is_keras(path) else read_model(path, MultiLayerNetwork, load_updater, missing=missing)

    def summary(self, input_type: Any = None) -> str:
        """A table of the layers: name, sizes, parameters, shapes."""
        return list_summary(self.engine, self.get_layer_wise_configurations(), input_type)


def _named(value: Any) -> str:
    return repr(value) if value is None or is_switch(value) else type(value).__name__
