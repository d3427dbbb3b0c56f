"""What both kinds of networks offer: parameters, scores, gradients, counters, learning rates, files."""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from ...samediff.base.javanames import JavaSpelling
from ...samediff.base.registry import MissingClassWarning
from ...samediff.data import DataSet, MultiDataSet
from ...samediff.device.devices import Device, current_device, ready
from ...samediff.errors import ConfigurationError, DataTypeError, DL4PyError, GraphError, ShapeError
from ...samediff.expressions.arrays import to_numbers
from ...samediff.training import Listener, Schedule
from ...samediff.training.listeners.listener import HasListeners
from ...samediff.training.updaters.updater import IUpdater
from ..engine.batch import Batch
from ..engine.engine import Engine
from ..engine.given_data import gives_batches, is_pair, is_whole, some
from ..engine.gradient import Gradient
from ..engine.pretrainer import Pretrainer
from ..engine.read_only_params import read_only_params
from ..engine.updates import Updates
from ..files.model_writer import write_model
from ..files.model_zip import ModelZip
from ..reports.updater_view import UpdaterView
from ..structure.structure import Structure


class Network(HasListeners, JavaSpelling):
    """Base of :class:`MultiLayerNetwork` and :class:`ComputationGraph`."""

    def __init__(self, configuration: Any) -> None:
        self._configuration = configuration
        self._engine: Engine | None = None
        self._score = 0.0
        self._batch: Batch | None = None
        self._masks: tuple[Any, Any] = (None, None)
        self._listeners: list[Listener] = []
        self._last_batch_size = 0
        self._checks_finite = False
        self._pretrainers: dict[str, Pretrainer] = {}
        self._updates = Updates()
        self._closed = False
        self._origin: ModelZip | None = None             # the file that it was read from
        self._loaded: Any = None                         # the configuration of that file, in today's form
        self._missing: dict[str, str | None] = {}        # classes that nobody registers, and their distributions

    def _structure(self) -> Structure:
        raise NotImplementedError

    @property
    def engine(self) -> Engine:
        """Parameters and graphs; made by :meth:`init`."""
        if self._engine is None:
            self.init()
        assert self._engine is not None
        return self._engine

    # Parameters

    def init(self, params: Any = None, clone_parameters: bool = True) -> Self:
        """Make the parameters: drawn from the seed of the configuration, or taken from a flat vector, which is copied."""
        if not clone_parameters:
            raise ConfigurationError("init(params, False) would make the given vector the memory of the network, so that writing to it "
                                     "changes the network; networks have memory of their own: init(params) copies, set_params(params) "
                                     "changes them later, and the arrays of param_table() may be written")
        if self._closed:
            raise GraphError("the network was closed; make another one, or load it again")
        if self._engine is None:
            engine = Engine(self._structure())
            engine.draw() if params is None else engine.set_params(params)
            engine.iteration, engine.epoch = self._counters()
            self._engine = engine
        elif params is not None:
            self._engine.set_params(params)
        return self

    def _counters(self) -> tuple[int, int]:
        return 0, 0

    def params(self, backward_only: bool = False) -> Any:
        """All parameters as one flat vector in DL4J's order: a copy that is read-only, as changing it would change nothing.

        ``net.set_params(net.params() - update)`` changes the network; arrays of :meth:`param_table` and :meth:`get_param` may be written.
        ``backward_only`` has no effect, as in DL4J.
        """
        flat = self.engine.flat
        with flat.gate:
            return read_only_params(flat.params.copy())

    def set_params(self, params: Any) -> None:
        """Replace all parameters by a flat vector."""
        self.engine.set_params(params)

    set_parameters = set_params

    def num_params(self, backwards: bool = False) -> int:
        """Number of parameters of the layers; as in DL4J those of vertices do not count (``params()`` has them too).

        With ``backwards`` those that only pretraining moves do not count either.
        """
        return sum(s.size for s, (m, p) in zip(self.engine.slots, self.engine.parameters)
                   if m.is_layer and not (backwards and m.only_pretrained(p)))

    def param_table(self, backprop_params_only: bool = False) -> dict[str, Any]:
        """Parameters by name ("0_W"): views, so that writing to them changes the network.

        With ``backprop_params_only`` those that only pretraining moves are left out.
        """
        table = self.engine.param_table()
        return {n: a for n, a in table.items() if n not in self.engine.only_pretrained} if backprop_params_only else table

    def get_param(self, name: str) -> Any:
        """One parameter, as a view."""
        table = self.engine.flat.arrays
        if name not in table:
            from ...samediff.errors import UnknownNameError, did_you_mean
            raise UnknownNameError(f"no parameter {name!r}{did_you_mean(name, table)}; parameters: {', '.join(table)}")
        return table[name]

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
        if given.dtype.kind not in "fiub" and given.dtype.name != "bfloat16":
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
        self.engine.device = None if name is None else ready(name)
        return self

    def device(self) -> Device:
        """The device on which it runs when it is called from this thread."""
        return self.engine.device or current_device()

    # Training state

    def get_updater(self, initialize: bool = True) -> UpdaterView:
        """The updater and its state; there always is one, so ``initialize`` has no effect."""
        return UpdaterView(self)

    def get_iteration_count(self) -> int:
        """Optimizer steps done."""
        return self.engine.iteration

    def get_epoch_count(self) -> int:
        """Epochs done."""
        return self.engine.epoch

    def set_iteration_count(self, count: int) -> None:
        """Set the number of steps done."""
        self.engine.iteration = int(count)

    def set_epoch_count(self, count: int) -> None:
        """Set the number of epochs done."""
        self.engine.epoch = int(count)

    def increment_epoch_count(self) -> None:
        """Count one more epoch."""
        self.engine.epoch += 1

    def batch_size(self) -> int:
        """Number of examples of the last batch."""
        return self._last_batch_size

    input_mini_batch_size = batch_size

    # Learning rates

    def get_learning_rate(self, layer: Any) -> float | None:
        """Present learning rate of a layer (index or name), None without one."""
        key = self._layer_key(layer)
        for slot, (member, parameter) in zip(self.engine.slots, self.engine.parameters):
            if member.key == key and parameter.role != "statistic" and slot.updater.has_learning_rate():
                return slot.updater.get_learning_rate(self.engine.iteration, self.engine.epoch)
        return None

    def set_learning_rate(self, *args: Any) -> None:
        """``set_learning_rate(rate or schedule)`` for all layers, ``set_learning_rate(layer, rate or schedule)`` for one."""
        key, rate = (None, args[0]) if len(args) == 1 else (self._layer_key(args[0]), args[1])
        if not isinstance(rate, (Schedule, float, int)):
            raise ConfigurationError(f"expected a learning rate or a schedule; got {rate!r}")
        value = rate if isinstance(rate, Schedule) else float(rate)
        self._configuration = self._with_layers(lambda own, layer: layer if key not in (None, own) else _with_rate(layer, value))
        self.engine.reconfigure(self._structure())

    def _with_layers(self, change: Callable[[str, Any], Any]) -> Any:
        """The configuration with every layer replaced by ``change(key, layer)``."""
        raise NotImplementedError

    def _layer_key(self, layer: Any) -> str:
        return str(layer)

    def get_layer(self, layer: Any) -> Any:
        """A layer."""
        raise NotImplementedError

    def get_configuration(self) -> Any:
        """The configuration, with the present counters and the names of the parameters."""
        raise NotImplementedError

    def _layer_conf(self, key: str) -> Any:
        """The configuration of a layer with its settings."""
        raise NotImplementedError

    # Scores and gradients

    def score(self, data: Any = None, training: bool = False) -> float:
        """Score of a data set: summed loss / number of examples + regularization; without data that of the last step."""
        if data is None:
            return self._score
        if not is_whole(data):
            raise GraphError("score takes a DataSet or MultiDataSet, such as DataSet(x, y), or nothing for the score of the last step; "
                             f"got {type(data).__name__}")
        if not isinstance(training, (bool, np.bool_)):
            raise GraphError(f"score takes a data set and whether to score as in training; got a second {type(training).__name__}")
        batch = self._batch_in(data, "score")
        return self._penalized(self.engine.scores(batch, training)[1])

    def _penalized(self, loss: float) -> float:
        return loss + self.engine.regularization_score()

    def score_examples(self, data: Any, add_regularization: bool = False) -> Any:
        """Loss of each example, (batch,)."""
        if gives_batches(data):
            return np.concatenate([self.score_examples(d, add_regularization) for d in some(data, "score")])
        scores, _ = self.engine.scores(self._batch_in(data, "score"))
        if any(np.ndim(one) == 0 for one in scores):
            raise ConfigurationError("an output layer of this network computes one loss for all examples: "
                                     "it has no scores of single examples")
        total = sum(scores[1:], scores[0])
        return total + total.dtype.type(self.engine.regularization_score()) if add_regularization else total

    def compute_gradient_and_score(self) -> None:
        """Gradients (sums over examples) and score of the inputs and labels that were set."""
        if self._batch is None or not self._batch.labels:
            raise GraphError("set inputs and labels first")
        batch = Batch(self._batch.inputs, self._batch.labels, *self._masks)
        total, _ = self.engine.gradient(batch)
        self._score = self._penalized(total)
        self._last_batch_size = batch.rows

    def gradient(self) -> Gradient:
        """The gradient of the last :meth:`compute_gradient_and_score` or step, as sums over examples."""
        engine = self.engine
        arrays = {n: a for n, a in engine.flat.gradient_arrays.items() if n in engine.computed}
        return Gradient(engine.flat.gradients, arrays)

    def gradient_and_score(self) -> tuple[Gradient, float]:
        """Gradient and score together."""
        return self.gradient(), self._score

    def calc_regularization_score(self, backprop_params_only: bool = True) -> float:
        """Sum of all penalties; on request also those of the parameters that only pretraining moves."""
        return self.engine.regularization_score() + (0.0 if backprop_params_only else self.engine.pretraining_penalty())

    def calc_l1(self) -> float:
        """DL4J's old name of the summed penalties."""
        return self.calc_regularization_score()

    def _batch_of(self, data: DataSet | MultiDataSet) -> Batch:
        raise NotImplementedError

    def _batch_from(self, *args: Any, **options: Any) -> Batch:
        raise NotImplementedError

    def _batch_in(self, data: Any, use: str, error: type[DL4PyError] = GraphError) -> Batch:
        """One batch of what was given: a data set or (features, labels)."""
        if isinstance(data, (DataSet, MultiDataSet)):
            return self._batch_of(data)
        if isinstance(data, Batch):
            return data
        if not is_pair(data):
            raise error(f"the data to {use} gives a {type(data).__name__}; expected data sets, or (features, labels)")
        return self._batch_from(*data)

    def _batches_in(self, data: Any, use: str, error: type[DL4PyError] = GraphError) -> Iterator[Batch]:
        """The batches of an iterator or a collection; a data set or (features, labels) is one."""
        for part in some([data] if is_whole(data) else data, use):
            yield self._batch_in(part, use, error)

    def clear(self) -> None:
        """Forget inputs, labels and masks that were set."""
        self._batch, self._masks = None, (None, None)

    clear_layer_mask_arrays = clear

    def _that_run(self, keys: list[str], batch: Batch) -> list[str]:
        """Those of the members that need nothing that is missing; a warning tells of the others."""
        if not self.engine.structure.lacks:
            return keys
        made = self.engine.graph(self.engine.variant(batch))
        lost = [k for k in keys if k not in made.activations]
        if lost:
            warnings.warn(f"without activations of {', '.join(lost)}: {made.lacks[lost[0]]}", MissingClassWarning, stacklevel=3)
        return [k for k in keys if k in made.activations]

    # Files

    def missing_classes(self) -> dict[str, str | None]:
        """The classes that the file named and nobody registers, with the distributions that they come from, None where the file does not
        tell; what does not need them runs, and saving writes them as they were."""
        return dict(self._missing)

    def save(self, path: str | os.PathLike[str], save_updater: bool = True) -> None:
        """Write a DL4J model zip; a failure leaves an older file as it was."""
        if not isinstance(path, (str, os.PathLike)) and not hasattr(path, "write"):
            raise ConfigurationError(f"save takes the path of a file or a stream to write to, got {type(path).__name__}")
        write_model(self, path, save_updater)

    def clone(self) -> Self:
        """A network with the same configuration, parameters, updater state, counters and device."""
        made, parts = self._parts()
        other: Self = made(*parts)
        other.engine.device = self.engine.device
        return other

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._configuration,)) if self._engine is None else self._parts()

    def _parts(self) -> tuple[Any, ...]:
        """What a copy is made by, and of."""
        kept = {name: value for name, value in self.__dict__.items() if name in ("_origin", "_loaded", "_missing")}
        flat = self.engine.flat
        with flat.gate:
            return _made, (type(self), self._configuration, flat.params.copy(), flat.state.copy(), self.engine.iteration,
                           self.engine.epoch, kept)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.get_configuration() == other.get_configuration() \
            and np.array_equal(self.engine.flat.params, other.engine.flat.params)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        if self._engine is None:
            return f"<{type(self).__name__}, not initialised>"
        layers = sum(m.is_layer for m in self._engine.structure.members)
        return f"<{type(self).__name__}: {layers} layers, {self._engine.flat.params.size:,} parameters>"


def _with_rate(layer: Any, rate: float | Schedule) -> Any:
    """A layer, and layers inside it, with another learning rate in every updater that has one."""
    changes: dict[str, Any] = {}
    for name in type(layer)._fields:
        value = getattr(layer, name)
        if isinstance(value, IUpdater) and value.has_learning_rate():
            changes[name] = value.with_learning_rate(rate)  # type: ignore[attr-defined]  # all that have a rate
        elif hasattr(value, "parameter_table"):
            changes[name] = _with_rate(value, rate)
    return layer.replace(**changes) if changes else layer


def _made(kind: type[Any], configuration: Any, params: Any, state: Any, iteration: int, epoch: int, kept: Mapping[str, Any]) -> Any:
    """A network of the same configuration, parameters, updater state, counters and file; listeners stay with the other one."""
    made = kind(configuration)
    engine = made.init(params).engine
    engine.flat.state[...] = state
    engine.iteration, engine.epoch = iteration, epoch
    made.__dict__.update(kept)
    return made
