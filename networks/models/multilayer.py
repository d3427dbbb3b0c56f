"""Networks of layers one behind the other."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...samediff.data import DataSet, MultiDataSet
from ...samediff.errors import ConfigurationError, GraphError, UnknownNameError, did_you_mean
from ...samediff.expressions.arrays import as_array
from ..engine.batch import Batch
from ..engine.gradient import Gradient
from ..files.model_reader import read_model
from ..reports.layer_view import LayerView
from ..reports.summary import list_summary
from ..structure.configuration import MultiLayerConfiguration, NetworkConfiguration, NeuralNetConfiguration
from ..structure.conversion import as_graph
from ..structure.graph_arguments import is_switch
from ..structure.layer_type import LayerType
from ..structure.settings import BackpropType
from ..structure.structure import Structure, of_list
from ..structure.variable_names import variable_names
from .computation_graph import ComputationGraph
from .evaluating import Evaluating
from .external_errors import ExternalErrors
from .fitting import OPTIONS
from .inspection import Inspecting
from .pretraining import Pretraining
from .profiling import Profiling
from .reconfiguring import Reconfiguring
from .recurrent_state import RecurrentState

_NO_MASKS = (None, None)


class MultiLayerNetwork(Profiling, Evaluating, Inspecting, Pretraining, RecurrentState, ExternalErrors, Reconfiguring):
    """A network of layers, each fed by the one before (DL4J's ``MultiLayerNetwork``).

    Parameters
    ----------
    configuration : MultiLayerConfiguration, or its JSON text

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

    _configuration_type: ClassVar[type[NetworkConfiguration]] = MultiLayerConfiguration

    def __init__(self, configuration: MultiLayerConfiguration | str) -> None:
        if isinstance(configuration, str):
            configuration = MultiLayerConfiguration.from_json(configuration)
        if not isinstance(configuration, MultiLayerConfiguration):
            raise ConfigurationError(f"expected a MultiLayerConfiguration, got {type(configuration).__name__}; "
                                     "graphs go into ComputationGraph")
        super().__init__(configuration)
        self._configuration: MultiLayerConfiguration

    def _structure(self) -> Structure:
        return of_list(self._configuration)

    def _counters(self) -> tuple[int, int]:
        return self._configuration.iteration_count, self._configuration.epoch_count

    def _with_layers(self, change: Callable[[str, Any], Any]) -> MultiLayerConfiguration:
        confs = self._configuration.confs
        return self._configuration.replace(confs=tuple(c.replace(layer=change(str(i), c.layer)) for i, c in enumerate(confs)))

    def get_layer_wise_configurations(self) -> MultiLayerConfiguration:
        """The configuration, with the present counters and the names of the parameters."""
        names, epochs = variable_names(self.engine.structure), self.get_epoch_count()
        confs = tuple(c.replace(variables=names.get(str(i), ()), epoch_count=epochs) for i, c in enumerate(self._configuration.confs))
        return self._configuration.replace(confs=confs, iteration_count=self.get_iteration_count(), epoch_count=epochs)

    get_configuration = get_layer_wise_configurations
    set_layer_wise_configurations = Reconfiguring.set_configuration

    def get_n_layers(self) -> int:
        """Number of layers."""
        return len(self._configuration.confs)

    getn_layers = get_n_layers          # DL4J's getnLayers

    def get_layer(self, layer: int | str) -> LayerView:
        """A layer, by index or name."""
        return LayerView(self, self._layer_key(layer))

    def _layer_conf(self, key: str) -> NeuralNetConfiguration:
        return self._configuration.confs[int(key)]

    def _layer_key(self, layer: Any) -> str:
        if isinstance(layer, str) and not layer.isdigit():
            names = [la.layer_name for la in self._configuration.layers]
            if layer not in names:
                raise UnknownNameError(f"no layer named {layer!r}{did_you_mean(layer, [n for n in names if n])}")
            return str(names.index(layer))
        if not -self.get_n_layers() <= int(layer) < self.get_n_layers():
            raise GraphError(f"layer {layer} does not exist; the network has {self.get_n_layers()} layers")
        return str(int(layer) % self.get_n_layers())

    # Forward

    def output(self, x: Any, train: bool = False, features_mask: Any = None, labels_mask: Any = None) -> Any:
        """Activations of the last layer.

        Shapes: x (batch, …) as the first layer takes it -> (batch, …); masks (batch, time) or (batch, 1).
        An iterator gives the outputs of all its batches, one below the other.
        """
        if type(x) is np.ndarray and train is False and features_mask is None and labels_mask is None and self._masks == _NO_MASKS:
            found = self.engine.known_output(x)
            if found is not None:
                return found
        if is_switch(x) or not isinstance(train, (int, np.bool_)):
            raise GraphError(f"output takes the input, then whether to run as in training, then masks; got {_named(x)}, {_named(train)}")
        if hasattr(x, "has_next"):
            return np.concatenate([self._forward(b.inputs[0], [*self.engine.structure.outputs], train, *b.features_masks[:1] or [None])[0]
                                   for b in self._batches_in(x, "compute")])
        return self._forward(x, [self.engine.structure.outputs[0]], train, features_mask, labels_mask)[0]

    def _forward(self, x: Any, members: list[str], train: bool, features_mask: Any, labels_mask: Any = None,
                 was_set: bool = False) -> list[Any]:
        given = [None if m is None else [m] for m in (features_mask, labels_mask)]
        masks = [m if m is not None else kept for m, kept in zip(given, self._masks)]
        return self.engine.forward(Batch([x], None, *masks), members, train, as_in_step=was_set)[0]

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
        keys = self._that_run([m.key for m in self.engine.structure.members], Batch([given]))
        return [np.array(given), *self._forward(given, keys, train, features_mask, labels_mask, x is None)]

    def _given(self, x: Any) -> Any:
        """The input, or the one that was set."""
        given = self._batch.inputs[0] if x is None and self._batch is not None else x
        if given is None:
            raise GraphError("feed_forward needs an input: give x, or call set_input first")
        return as_array(given)

    def activate(self, x: Any = None, training: bool = False) -> Any:
        """Activations of the last layer for ``x``, or for the input that was set (``activate(training)`` is possible too)."""
        return self.feed_forward_to_layer(self.get_n_layers() - 1, x, training)[-1]

    def feed_forward_to_layer(self, layer: Any, x: Any = None, train: bool = False) -> list[Any]:
        """The input, then the activations up to a layer (index or name); -1 gives the input only.

        Without ``x`` (``feed_forward_to_layer(layer, train)``) for the input that was set.
        """
        last = -1 if layer == -1 else int(self._layer_key(layer))
        x, train = (None, x) if is_switch(x) else (x, train)
        given, keys = self._given(x), [str(i) for i in range(last + 1)]
        return [np.array(given), *(self._forward(given, keys, train, None, None, x is None) if keys else ())]

    def activate_selected_layers(self, first: int, last: int, x: Any) -> Any:
        """Activations of layer ``last`` when ``x`` is given to layer ``first``, both as outside of training.

        Shapes: x (batch, …) as layer ``first`` takes it, before its preprocessor -> as layer ``last`` gives it.
        """
        begin, end = int(self._layer_key(first)), int(self._layer_key(last))
        if begin > end:
            raise GraphError(f"activate_selected_layers goes from a layer to the same or a later one; got {first} to {last}")
        part = self.engine.part(begin, end)
        return part.forward(Batch([x]), [str(end)])[0][0]

    def predict(self, data: Any) -> Any:
        """The class with the largest output for each example."""
        x = data.get_features() if isinstance(data, DataSet) else data
        return np.argmax(self.output(x), axis=1)

    def rnn_time_step(self, x: Any) -> Any:
        """Activations for the next steps of series, going on from the state of the last call.

        Shapes: x (batch, size, time) or (batch, size) for one step.
        """
        given = as_array(x)
        single = given.ndim == 2 and self._recurrent()
        (out,) = self._step_in_time(Batch([given[:, :, None] if single else given]))
        return out[:, :, 0] if single and out.ndim == 3 else out

    def rnn_activate_using_stored_state(self, x: Any, training: bool = False, store_last_for_tbptt: bool = False) -> list[Any]:
        """The input and the activations of every layer for a piece of series, going on from the states that the last piece left.

        Shapes: x (batch, size, time). The states are kept for the next piece with ``store_last_for_tbptt``; they are apart from those of
        :meth:`rnn_time_step`.
        """
        return [np.array(x), *self._activate_piece(Batch([x]), training, store_last_for_tbptt)]

    def _recurrent(self) -> bool:
        return not getattr(self._configuration.layers[0], "takes_indices", False)

    # Training

    def set_input(self, x: Any) -> None:
        """Set the input of :meth:`compute_gradient_and_score`."""
        self._batch = Batch([x], None if self._batch is None else self._batch.labels or None)

    def set_labels(self, labels: Any) -> None:
        """Set the labels of :meth:`compute_gradient_and_score`."""
        if self._batch is None:
            raise GraphError("set_input first")
        self._batch = Batch(self._batch.inputs, [labels])

    def set_layer_mask_arrays(self, features_mask: Any = None, labels_mask: Any = None) -> None:
        """Set the masks of :meth:`compute_gradient_and_score`."""
        self._masks = (None if features_mask is None else [features_mask], None if labels_mask is None else [labels_mask])

    def get_mask_array(self) -> Any:
        """The features mask that was set, None without one."""
        return None if self._masks[0] is None else self._masks[0][0]

    def set_mask_array(self, mask: Any) -> None:
        """Set the features mask of :meth:`compute_gradient_and_score`."""
        self._masks = (None if mask is None else [mask], self._masks[1])

    def backprop_gradient(self, epsilon: Any, workspace_mgr: None = None) -> tuple[Gradient, Any]:
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
        return gradient, below

    def calculate_gradients(self, x: Any, y: Any, features_mask: Any = None, labels_mask: Any = None) -> tuple[Any, Any]:
        """Gradient of the parameters and of the input, as sums over examples."""
        batch = self._batch_from(x, y, features_mask, labels_mask)
        epsilon = self.engine.input_gradients(batch)[0]
        total, _ = self.engine.gradient(batch)
        self._score = self._penalized(total)
        return self.gradient(), epsilon

    def _batch_of(self, data: Any) -> Batch:
        if isinstance(data, MultiDataSet):
            return Batch(data.features, data.labels, data.features_masks, data.labels_masks)
        labels, masks, labels_masks = [None if a is None else [a] for a in (data.labels, data.features_mask, data.labels_mask)]
        return Batch([data.features], labels, masks, labels_masks)

    def _batch_from(self, *args: Any, **options: Any) -> Batch:
        names = ("x", "y", "features_mask", "labels_mask")
        given = {**dict(zip(names, args)), **options}
        unknown = [k for k in given if k not in names]
        if unknown or len(args) > 4 or given.get("x") is None:
            near = did_you_mean(unknown[0], [*names, *OPTIONS]) if unknown else ""
            raise GraphError(f"fit takes a data set, an iterator, or {', '.join(names)}, and the options {', '.join(OPTIONS)}; "
                             f"got {', '.join(unknown or [type(a).__name__ for a in args]) or 'nothing'}{near}")
        x, y, fm, lm = (given.get(n) for n in names)
        labels = self._class_indices(as_array(y)) if y is not None else None
        return Batch([x], None if labels is None else [labels], None if fm is None else [fm], None if lm is None else [lm])

    def _class_indices(self, labels: Any) -> Any:
        """Whole numbers in one row stand for classes, as in DL4J's ``fit(features, int[])``."""
        if labels.ndim == 1 and labels.dtype.kind in "iu":
            width = getattr(self._configuration.layers[-1], "n_out", 0)
            if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < width:
                hint = "; for targets of the only output, give a column: labels.reshape(-1, 1)" if width == 1 else ""
                raise GraphError(f"class labels must lie in 0 … {width - 1}, got {int(labels.min())} … {int(labels.max())}{hint}")
            return np.eye(width, dtype=np.float32)[labels]
        return labels

    def _tbptt(self) -> int | None:
        conf = self._configuration
        return conf.tbptt_fwd_length if conf.backprop_type is BackpropType.TruncatedBPTT else None

    def _activations_for_listeners(self, batch: Batch) -> Sequence[Any]:
        keys = [m.key for m in self.engine.structure.members][:-1]        # DL4J stops before the output layer
        return [batch.inputs[0], *(self.engine.forward(batch, keys, True)[0] if keys else ())]

    def to_computation_graph(self) -> ComputationGraph:
        """The same network as a graph: input "in", layers named "0", "1" … with equal parameters, updater state, counters and settings."""
        graph = ComputationGraph(as_graph(self.get_layer_wise_configurations()))
        graph.init(self.engine.flat.params).engine.take_over(self.engine)
        return graph

    def type(self) -> LayerType:
        """What DL4J answers for a network that stands for a layer."""
        return LayerType.MULTILAYER

    # Files

    @staticmethod
    def load(path: str | os.PathLike[str], load_updater: bool = True) -> MultiLayerNetwork:
        """Read a DL4J model zip."""
        return read_model(path, MultiLayerNetwork, load_updater)

    def summary(self, input_type: Any = None) -> str:
        """A table of the layers: name, sizes, parameters, shapes."""
        return list_summary(self.engine, self.get_layer_wise_configurations(), input_type)


def _named(value: Any) -> str:
    return repr(value) if value is None or is_switch(value) else type(value).__name__
