"""Base of both kinds of networks: parameters, scores, gradients, counters, learning rates, files."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, BinaryIO, ClassVar, Never, Self

import numpy as np

from ...layers.types.input_type import InputType
from ...samediff.base.datatype import is_real
from ...samediff.base.java.old_names import Advised
from ...samediff.base.registry import MissingClassWarning
from ...samediff.base.user_code.users_arrays import users_array, users_arrays
from ...samediff.configuration.pickling import pickled
from ...samediff.data.given.forms import gives_batches, is_whole
from ...samediff.data.given.sources import InBatch
from ...samediff.device.devices import Device, current_device, ready
from ...samediff.errors import ConfigurationError, DataTypeError, GraphError, ShapeError, UnknownNameError, did_you_mean
from ...samediff.expressions.arrays import to_numbers
from ...samediff.training import Listener, Schedule
from ...samediff.training.fit_options import data_and_labels
from ...samediff.training.listeners.has_listeners import HasListeners
from ..batches.batch import NetworkBatch
from ..batches.given_data import batch_in, batches_in, with_labels
from ..batches.set_arrays import SetArrays
from ..engine.engine import Engine
from ..engine.read_only_params import params_of
from ..files.model_writer import write_model
from ..files.onnx_models import export_network
from ..files.stored import Origin
from ..reports.updater_view import UpdaterView
from ..structure.changing import with_layers, with_rate
from ..structure.configuration import NetworkConfiguration
from ..structure.java_names import NetworkNames
from ..structure.structure import Structure, structure_of


class Network(Advised, HasListeners, NetworkNames):
    """Base of `MultiLayerNetwork` and `ComputationGraph`: parameters, scores, gradients, counters, learning rates, files.

    Attributes
    ----------
    configuration_type : what its kind of network is made of
    origin : the file that it was read from, None where there was none
    """

    configuration_type: ClassVar[type[NetworkConfiguration]]
    advice = "network"

    def __init__(self, configuration: Any) -> None:
        self._configuration = configuration
        self._engine: Engine | None = None
        self._arrays = SetArrays()
        self._listeners: list[Listener] = []
        self._closed = False
        self.origin: Origin | None = None

    @property
    def configuration(self) -> Any:
        """The configuration as it was given: :meth:`get_configuration` has the present counters too."""
        return self._configuration

    @property
    def given_arrays(self) -> SetArrays:
        """Inputs, labels and masks that were set, to work on later."""
        return self._arrays

    @property
    def structure(self) -> Structure:
        """The layers and vertices that the configuration describes, in the order in which they run."""
        return structure_of(self._configuration) if self._engine is None else self._engine.structure

    @property
    def engine(self) -> Engine:
        """The parameters and graphs of the network; :meth:`init` is called if need be."""
        if self._engine is None:
            self.init()
        assert self._engine is not None
        return self._engine

    # Parameters

    def init(self, params: Any = None, clone_parameters: bool = True) -> Self:
        """Make the parameters: drawn from the seed of the configuration, or copied from a flat vector. What needs them calls it by itself.

        Parameters
        ----------
        params : array, optional
            All parameters in the order of :meth:`params`. Networks that have parameters take these in their place.
        clone_parameters : bool
            True, as DL4J's False would make the given memory that of the network.

        Raises
        ------
        ConfigurationError
            ``clone_parameters`` is False, or sizes of layers are missing.
        GraphError
            The network was closed.
        """
        if not clone_parameters:
            raise ConfigurationError("init(params, False) would make the given vector the memory of the network, so that writing to it "
                                     "changes the network; networks have memory of their own: init(params) copies, set_params(params) "
                                     "changes them later, and the arrays of param_table() may be written")
        if self._closed:
            raise GraphError("the network was closed; make another one, or load it again")
        if self._engine is None:
            conf, engine = self._configuration, Engine(self.structure)
            engine.parameters.draw() if params is None else engine.parameters.set(params)
            engine.progress.iteration, engine.progress.epoch = conf.iteration_count, conf.epoch_count
            self._engine = engine
        elif params is not None:
            self._engine.parameters.set(params)
        return self

    def params(self, backward_only: bool = False) -> Any:
        """All parameters as one flat vector in DL4J's order: a copy to read.

        Methods of DL4J's arrays that change it change the network too: ``net.params().subi(update)``. NumPy's ``params -= update`` is
        refused, as it would change the copy alone; arrays of :meth:`param_table` may be written. ``backward_only`` has no effect.
        """
        return params_of(self.engine.flat)

    def set_params(self, params: Any) -> None:
        """Replace all parameters by a flat vector.

        Parameters
        ----------
        params : array
            So many numbers as :meth:`params` has, in its order.
        """
        self.engine.parameters.set(params)

    set_parameters = set_params

    def num_params(self, backwards: bool = False) -> int:
        """Number of parameters of the layers; as in DL4J those of vertices do not count (``params()`` has them too).

        With ``backwards`` those that only pretraining moves do not count either.
        """
        parameters = self.engine.parameters
        return sum(s.size for s, (m, p) in zip(parameters.slots, parameters.owners)
                   if m.is_layer and not (backwards and m.only_pretrained(p)))

    def param_table(self, backprop_params_only: bool = False) -> dict[str, Any]:
        """Parameters by name ("0_W"): views, so that writing to them changes the network.

        With ``backprop_params_only`` those that only pretraining moves are left out.
        """
        parameters = self.engine.parameters
        left_out = parameters.only_pretrained if backprop_params_only else ()
        return users_arrays({n: a for n, a in parameters.table().items() if n not in left_out})  # type: ignore[no-any-return]

    def get_param(self, name: str) -> Any:
        """One parameter by name, as a view."""
        table = self.engine.flat.arrays
        if name not in table:
            raise UnknownNameError(f"no parameter {name!r}{did_you_mean(name, table)}; parameters: {', '.join(table)}")
        return users_array(table[name])

    def set_param(self, name: str, value: Any) -> None:
        """Replace one parameter; axes of size 1 may be missing or added, and a flat vector fills it row by row."""
        fitting = self._fitting(name, value)
        with self.engine.flat.gate:
            self.get_param(name)[...] = fitting

    def _fitting(self, name: str, value: Any) -> Any:
        """The value in the shape of that parameter."""
        array, given = self.get_param(name), to_numbers(value, "a parameter")
        wide = [[n for n in shape if n != 1] for shape in (given.shape, array.shape)]
        if given.size != array.size or (len(wide[0]) > 1 and wide[0] != wide[1]):
            raise ShapeError(f"parameter {name!r} has shape {array.shape}, the array given has {given.shape}")
        if not is_real(given.dtype):
            raise DataTypeError(f"parameter {name!r} holds numbers, the array given {given.dtype}")
        return given.reshape(array.shape)

    def set_param_table(self, table: Mapping[str, Any]) -> None:
        """Replace parameters by name: all of them, or after an error none."""
        fitting = {name: self._fitting(name, value) for name, value in table.items()}
        with self.engine.flat.gate:
            for name, value in fitting.items():
                self.set_param(name, value)

    # Where it runs

    def to(self, name: str | Device | None) -> Self:
        """Run this network on a device from now on, whatever the device of the calling thread is; None: on that one again.

        Parameters move there once, at the next run, and come back when they are asked for.

        Raises
        ------
        DeviceError
            The device is not there; the network stays where it is.

        Examples
        --------
        >>> from dl4py.layers import OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=4, n_out=3)).build()).init()
        >>> net.to("cpu").device()
        Device(kind='cpu', index=0)
        """
        self.engine.place.device = None if name is None else ready(name)
        return self

    def device(self) -> Device:
        """The device on which it runs when it is called from this thread."""
        return self.engine.place.device or current_device()

    # Training state

    def get_updater(self, initialize: bool = True) -> UpdaterView:
        """The updater and its state; there always is one, so ``initialize`` has no effect."""
        return UpdaterView(self)

    def get_iteration_count(self) -> int:
        """Number of optimizer steps done."""
        return self.engine.progress.iteration

    def get_epoch_count(self) -> int:
        """Number of epochs done."""
        return self.engine.progress.epoch

    def set_iteration_count(self, count: int) -> None:
        """Set the number of steps done."""
        self.engine.progress.iteration = int(count)

    def set_epoch_count(self, count: int) -> None:
        """Set the number of epochs done."""
        self.engine.progress.epoch = int(count)

    def increment_epoch_count(self) -> None:
        """Count one more epoch."""
        self.engine.progress.epoch += 1

    def batch_size(self) -> int:
        """Number of examples of the last batch."""
        return 0 if self._engine is None else self._engine.progress.rows

    input_mini_batch_size = batch_size

    # Learning rates

    def get_learning_rate(self, layer: Any) -> float | None:
        """Present learning rate of a layer (index or name), None without one."""
        key, parameters = self.structure.key_of(layer), self.engine.parameters
        for slot, (member, parameter) in zip(parameters.slots, parameters.owners):
            if member.key == key and parameter.role != "statistic" and slot.updater.has_learning_rate():
                return slot.updater.get_learning_rate(self.engine.progress.iteration, self.engine.progress.epoch)
        return None

    def set_learning_rate(self, *args: Any) -> None:
        """``set_learning_rate(rate or schedule)`` for all layers, ``set_learning_rate(layer, rate or schedule)`` for one."""
        key, rate = (None, args[0]) if len(args) == 1 else (self.structure.key_of(args[0]), args[1])
        if not isinstance(rate, (Schedule, float, int)):
            raise ConfigurationError(f"expected a learning rate or a schedule; got {rate!r}")
        value = rate if isinstance(rate, Schedule) else float(rate)
        self._configuration = with_layers(self._configuration, lambda own, one: one if key not in (None, own) else with_rate(one, value))
        self.engine.reconfigure(structure_of(self._configuration))

    def print_configuration(self) -> None:
        """Print the configuration as JSON."""
        print(self.get_configuration().to_json())

    def get_layer(self, layer: Any) -> Any:
        """A layer of the network."""
        raise NotImplementedError

    def rnn_clear_previous_state(self) -> None:
        """Forget all recurrent states that are kept."""
        raise NotImplementedError

    def get_configuration(self) -> Any:
        """The configuration, with the present counters and the names of the parameters."""
        raise NotImplementedError

    # Scores, and what they are of

    def score(self, data: Any = None, training: Any = False, *, batch_size: int | None = None, **unknown: Never) -> float:
        """Score of a data set: summed loss / number of examples + regularization; without data that of the last step.

        Parameters
        ----------
        data : DataSet, MultiDataSet, array or batches, optional
            Arrays are features, and their labels come second: ``score(x, y)``. Of batches the mean over their examples.
        training : bool, default False
            Whether layers work as in training (dropout, batch statistics).
        batch_size : int, optional
            Examples that are computed at once, or put together where they come one by one.

        Raises
        ------
        GraphError
            Data without labels.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.layers import OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> net = MultiLayerNetwork(NeuralNetConfiguration.Builder().list(OutputLayer(n_in=2, n_out=2, weight_init="zero")).build())
        >>> round(net.score(np.eye(2), np.eye(2)), 4)          # two equal probabilities: log 2
        0.6931
        """
        if unknown:
            data, training = data_and_labels("score", data, None if training is False else training, unknown, ["training", "batch_size"])
            training = False if training is None else training
        data, training = with_labels(data, training, False)
        if data is None:
            return 0.0 if self._engine is None else self._engine.progress.score
        if not (is_whole(data) or gives_batches(data)):
            raise GraphError("score takes a DataSet or MultiDataSet, such as DataSet(x, y), batches of them, or nothing for the score of "
                             f"the last step; got {type(data).__name__}")
        if not isinstance(training, (bool, np.bool_)):
            raise GraphError(f"score takes a data set and whether to score as in training; got a second {type(training).__name__}")
        engine = self.engine
        if is_whole(data) and batch_size is None:
            return engine.forward.scores(batch_in(engine.structure, data, "score"), bool(training))[1] + engine.steps.penalty()
        total, count = 0.0, 0
        for number, batch in enumerate(batches_in(engine.structure, data, "score", size=batch_size)):
            with InBatch(number):
                total, count = total + self.score(batch, training) * batch.size, count + batch.size
        return total / max(count, 1)

    def init_gradients_view(self) -> None:
        """Make the parameters, as :meth:`init`; there is no memory of gradients to make."""
        self.init()

    def clear(self) -> None:
        """Forget inputs, labels and masks that were set."""
        self._arrays.clear()

    clear_layer_mask_arrays = clear

    def _runnable(self, keys: list[str], batch: NetworkBatch) -> list[str]:
        """The members that can run without a missing class; a warning names the others."""
        if not self.engine.structure.missing_classes:
            return keys
        made = self.engine.graphs.of(batch)
        lost = [k for k in keys if k not in made.activations]
        if lost:
            warnings.warn(f"without activations of {', '.join(lost)}: {made.unavailable[lost[0]]}", MissingClassWarning, stacklevel=3)
        return [k for k in keys if k in made.activations]

    # Files

    def missing_classes(self) -> dict[str, str | None]:
        """The classes that the file named and nobody registers, with the distributions that they come from, None where the file does not
        tell; what does not need them runs, and saving writes them as they were."""
        return {} if self.origin is None else dict(self.origin.missing)

    def save(self, path: str | os.PathLike[str], save_updater: bool = True) -> None:
        """Write a DL4J model zip; a failure leaves an older file as it was.

        Parameters
        ----------
        path : str or path
            The file, such as ``"model.zip"``.
        save_updater : bool
            Whether the updater's state is saved too, so that training can go on where it was.
        """
        write_model(self, path, save_updater)

    def export_onnx(self, target: str | os.PathLike[str] | BinaryIO | None = None, *input_types: InputType) -> Any:
        """Write the forward pass, as it computes outside of training, as an ONNX model; it needs the package ``onnx``.

        Inputs and outputs have the names of the network's, parameters those of :meth:`param_table`; the number of examples stays open.

        Parameters
        ----------
        target : path or binary stream, optional
            Where the model is written, whole or not at all; without it the model is only returned.
        *input_types : InputType
            One for each input, where layers have to know sizes besides those in the configuration.

        Returns
        -------
        ModelProto

        Raises
        ------
        MissingOpError
            ONNX cannot say some of the ops; all of them are named, with the reasons, and nothing is written.

        Examples
        --------
        >>> from dl4py.layers import DenseLayer, InputType, OutputLayer
        >>> from dl4py.networks import MultiLayerNetwork, NeuralNetConfiguration
        >>> conf = NeuralNetConfiguration.Builder().list(DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)).build()
        >>> net = MultiLayerNetwork(conf).init()
        >>> model = net.export_onnx(None, InputType.feed_forward(4))
        >>> [value.name for value in model.graph.input], [node.op_type for node in model.graph.node]
        (['input'], ['MatMul', 'Add', 'Sigmoid', 'MatMul', 'Add', 'Softmax'])
        """
        return export_network(self, target, input_types)

    def clone(self) -> Self:
        """A network that goes on where this one is: with its parameters, updater state, counters, score and device.

        Listeners, and inputs and labels that were set, stay with this one.
        """
        _ = self.engine
        other: Self = _made(type(self), self._configuration, self._state(), self.origin)
        other.engine.place.device = self.engine.place.device
        return other

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: Any = None) -> Self:
        return self.clone()

    __sklearn_clone__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        pickled(self._configuration, "a network cannot be pickled", ConfigurationError)
        if self._engine is None:
            return type(self), (self._configuration,)
        return _made, (type(self), self._configuration, self._state(), self.origin)

    def _state(self) -> dict[str, Any]:
        """The state from which a copy continues; parts of a network add theirs."""
        return {"engine": self.engine.state()}

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the state of another network of the same configuration."""
        self.init(state["engine"]["params"]).engine.restore(state["engine"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.get_configuration() == other.get_configuration() \
            and np.array_equal(self.engine.flat.params, other.engine.flat.params)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        if self._engine is None:
            return f"<{type(self).__name__}, not initialised>"
        layers = sum(m.is_layer for m in self._engine.structure.members)
        return f"<{type(self).__name__}: {layers} layers, {self._engine.flat.params.size:,} parameters>"


def _made(kind: type[Any], configuration: Any, state: Mapping[str, Any], origin: Origin | None) -> Any:
    """A network of that configuration, state and file."""
    made = kind(configuration)
    made._restore(state)
    made.origin = origin
    return made
