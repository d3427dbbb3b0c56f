"""Training from the methods of a graph: configuration, listeners, fit, updater state."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from ...base.locks import rlock
from ...data.given.forms import Form, form_of, is_array, is_several
from ...data.given.sources import Mapped, source_of
from ...errors import ConfigurationError, FileFormatError, UnknownNameError
from ...ir.node import needed
from ...training.batches import Source, divided, in_batches, is_single, with_weights
from ...training.config import TrainingConfig
from ...training.config_names import check_names, warn_of_other_losses
from ...training.fit_loop import FitLoop
from ...training.fit_options import OPTIONS, data_and_labels
from ...training.history import History
from ...training.history_listener import HistoryListener
from ...training.listeners.has_listeners import checked
from ...training.listeners.listener import Listener
from ...training.run_configurations import FitConfig
from ...training.steps.graph_parameters import GraphParameters, States, TrainingSession
from ...training.steps.step import TrainingStep
from ...training.trainable import Trainable
from ...training.updaters.penalties import Penalties
from ...training.updaters.updater import GradientUpdater
from .differentiation import DifferentiationMixin


class FittingMixin(DifferentiationMixin, Trainable):
    """The part of :class:`SameDiff` that trains."""

    def __init__(self) -> None:
        super().__init__()
        self._config: TrainingConfig | None = None
        self._listeners: list[Listener] = []
        self._session: TrainingSession | None = None
        self._states: States = {}
        self._fit_lock = rlock()
        self._last_score = 0.0

    # Configuration and listeners

    def set_training_config(self, config: TrainingConfig) -> None:
        """Set how the graph is trained. Updater state stays as long as the new updater keeps the same state arrays."""
        if not isinstance(config, TrainingConfig):
            raise ConfigurationError(f"expected a TrainingConfig; got {type(config).__name__}")
        self._config = config

    def get_training_config(self) -> TrainingConfig | None:
        """The training configuration with its counters, None when none is set."""
        return self._config

    def checked_config(self, training: bool = True, outputs: Sequence[str] = ()) -> TrainingConfig:
        if self._config is None and training:
            raise ConfigurationError("no training configuration is set: call set_training_config(TrainingConfig.builder()…build()) first")
        if self._config is None:
            names = self._placeholders_of(outputs)
            if len(names) != 1:
                raise ConfigurationError("no training configuration is set, whose mappings say which arrays are for which of the "
                                         f"placeholders ({', '.join(names) or 'none'}): set_training_config(TrainingConfig("
                                         f"data_set_feature_mapping={names[:-1] or names}, data_set_label_mapping={names[-1:]})), or give "
                                         "values of placeholders by name")
            return TrainingConfig(data_set_feature_mapping=names)
        if training and self._config.updater is None:
            raise ConfigurationError("the training configuration has no updater: TrainingConfig.builder().updater(Adam(1e-3))")
        return self._config

    def _placeholders_of(self, outputs: Sequence[str]) -> list[str]:
        """The placeholders that results depend on; all of the graph for none."""
        read = {n for node in needed(self.tables.nodes.values(), outputs) for n in node.inputs}.union(outputs)
        return [n for n, v in self.tables.variables.items() if v.is_place_holder() and (not outputs or n in read)]

    def get_iteration_count(self) -> int:
        """Number of optimizer steps done under the training configuration."""
        return self._iteration()

    def _iteration(self) -> int:
        return 0 if self._config is None else self._config.iteration_count

    def get_loss_variables(self) -> list[str]:
        named = None if self._config is None or self.tables.losses_given else self._config.loss_variables
        return list(named) if named else super().get_loss_variables()

    def last_training_step(self) -> TrainingStep | None:
        """The step of the last training, while the graph is as it was."""
        return None if self._session is None else self._session.step

    # Training

    @overload
    def fit(self) -> FitConfig: ...
    @overload
    def fit(self, data: Any, *args: Any, epochs: int | None = None, validation_data: Any = None, validation_frequency: int = 1,
            listeners: Any = (), callbacks: Any = (), check_finite: bool = False, batch_size: int | None = None, shuffle: bool = False,
            verbose: Any = 0, sample_weight: Any = None, class_weight: Any = None, validation_split: float = 0.0) -> History: ...

    def fit(self, data: Any = None, *args: Any, epochs: int | None = None, validation_data: Any = None,
            validation_frequency: int = 1, listeners: Any = (), callbacks: Any = (), check_finite: bool = False,
            batch_size: int | None = None, shuffle: bool = False, verbose: Any = 0, sample_weight: Any = None, class_weight: Any = None,
            validation_split: float = 0.0, **unknown: Any) -> History | FitConfig:
        """Train: one optimizer step for each batch; parameters change in place.

        All gradients are computed first; then regularization, updater and weight decay act on every trainable variable
        (biases too) at once. The penalty of the regularization is not part of the differentiated loss.

        Parameters
        ----------
        data : DataSet, MultiDataSet, dictionary of arrays, (x, y), or anything that gives these
            Class numbers and targets (batch,) become the columns that the placeholder of the labels declares. A single batch without
            ``epochs`` is one iteration and does not count as an epoch. ``fit(x, y)`` works too. Nothing at all returns a
            :class:`FitConfig`, to be filled in and run with ``exec()``.
        epochs : int
            Passes over the data; 1 by default.
        validation_data, validation_frequency
            Data for the validation evaluations of the configuration, after the first epoch and every so many epochs later.
        listeners, callbacks : Listener or sequence of Listener
            Hear this call, besides those of the graph and of the configuration.
        check_finite : bool
            Look for NaN and infinity before each update, and name the first variable that has one.
        batch_size : int, optional
            Cut ``fit(x, y)`` or one data set into batches of so many examples, in their order; the last one may be smaller. Where single
            examples come one by one, put so many together.
        shuffle : bool
            Take rows in another order in every epoch; seed and epoch decide on it.
        verbose : bool
            Show progress: a bar where tqdm is installed and the output is a terminal, else a line an epoch.
        sample_weight, class_weight : array (batch,); mapping, array or "balanced", optional
            Weights of examples and classes, as of :meth:`MultiLayerNetwork.fit`. They are the mask of the labels: the loss has a
            placeholder as its ``weights``, which ``data_set_label_mask_mapping`` of the configuration names. Where there are no weights,
            it gets ones.
        validation_split : float
            The share of the rows of arrays or of one data set that is kept as ``validation_data``: the last ones.

        Returns
        -------
        History

        Raises
        ------
        ConfigurationError
            No configuration, no updater, arrays that do not match the mappings, a wrong number of epochs, an unknown option.
        NumericalError
            With ``check_finite``.

        Notes
        -----
        After an error or Ctrl-C, parameters and counters are those after the last whole step.

        Examples
        --------
        >>> import numpy as np
        >>> from dl4py.samediff import SameDiff, DataType
        >>> from dl4py.samediff.training import Sgd, TrainingConfig
        >>> sd = SameDiff.create()
        >>> x, y = sd.placeholder("x", DataType.FLOAT, -1, 1), sd.placeholder("y", DataType.FLOAT, -1, 1)
        >>> w = sd.var("w", np.zeros((1, 1), np.float32))
        >>> loss = ((x.mmul(w) - y) ** 2).mean("loss")
        >>> sd.set_loss_variables("loss")
        >>> sd.set_training_config(TrainingConfig(Sgd(0.25), data_set_feature_mapping="x", data_set_label_mapping="y"))
        >>> sd.fit(np.ones((4, 1)), np.ones((4, 1))).loss_curve().last_mean_loss("loss")
        1.0
        >>> w.get_arr()
        INDArray([[0.5]], dtype=float32)
        """
        data, labels = self._by_role("fit", data, None, unknown, OPTIONS)
        args, heard = split_by_kind(args, Listener) if args else ((), [])
        if labels is not None:
            data = (data, labels)
        if data is None and not args and not heard:
            return FitConfig(self)
        if args and (is_array(data) or isinstance(data, (list, tuple))) and form_of(data) is Form.ARRAY and (
                is_array(args[0]) or is_several(args[0]) or isinstance(args[0], list)):
            data, args = (data, args[0]), args[1:]
        values = dict(zip(("epochs", "validation_data", "validation_frequency"), args))
        epochs, validation_data = values.get("epochs", epochs), values.get("validation_data", validation_data)
        frequency = values.get("validation_frequency", validation_frequency)
        with self._fit_lock:
            config = self.checked_config()
            heard = [*self._listeners, *config.listeners, *heard, *checked((listeners, callbacks))]
            if validation_split:
                if validation_data is not None:
                    raise ConfigurationError("validation_split keeps rows for validation, and validation_data gives others; one is enough")
                data, validation_data = divided(self, data, validation_split, config)
            if sample_weight is not None and not is_single(data):
                raise ConfigurationError("sample_weight is for the rows of one data set or of arrays; batches have theirs third, "
                                         "(x, y, weights)")
            if sample_weight is not None or (class_weight is not None and is_single(data)):
                data = with_weights(self, data, config, sample_weight, class_weight)
                class_weight = None
            if batch_size is not None or shuffle:
                data = in_batches(self, data, batch_size, self._order if shuffle else None, config)
            if class_weight is not None:
                data = Mapped(source_of(data), lambda item: with_weights(self, item, config, None, class_weight))
            source = Source(data)
            _check_numbers(1 if epochs is None else epochs, frequency)
            if epochs is None and validation_data is None and source.is_single:
                loop = FitLoop(self, self.training_session(), heard, check_finite)
                made = loop.single(data)
                self._last_score = loop.score()
                return made
            validation = None if validation_data is None else Source(validation_data)
            if (epochs or 1) > 1 and not source.resettable():
                raise ConfigurationError(f"{epochs} epochs need data that can be gone through again; {type(data).__name__} can be "
                                         "read once. Give a list, or an iterator that supports reset()")
            history = HistoryListener(config)
            loop = FitLoop(self, self.training_session(), [*heard, history], check_finite)
            loop.run(source, epochs or 1, validation, frequency, history if verbose else None)
            self._last_score = loop.score()
            return history.get_report()

    def _by_role(self, call: str, data: Any, labels: Any, unknown: Mapping[str, Any], options: Sequence[str]) -> tuple[Any, Any]:
        """Features and labels of a call, also where they were given by other names that they have."""
        return data_and_labels(call, data, labels, unknown, options, ConfigurationError) if unknown else (data, labels)

    def _order(self, count: int) -> Any:
        """An order of so many rows, another one in every epoch."""
        return np.random.default_rng([self.seed & (2**64 - 1), self.checked_config().epoch_count]).permutation(count)

    def training_session(self) -> TrainingSession:
        """Parameters and step of the graph as it is now."""
        with self.gate:
            return self._present_session()

    def _present_session(self) -> TrainingSession:
        config = self.checked_config()
        old = self._session
        if old is None or not old.fits(self, config):
            check_names(self, config)
            for name in config.loss_variables or ():
                self._check_loss(self.variable(name))
            warn_of_other_losses(self, config)
            states = self._states if old is None else {**self._states, **old.params.state()}
            self._session = TrainingSession(self, config, self.infer_loss_variables(), self._gradients_for([]),
                                            old.params if old else None, states)
            self._states = {}
        else:
            old.config = config
        return self._session  # type: ignore[return-value]

    def _parameters(self) -> GraphParameters | None:
        return None if self._session is None else self._session.params

    # Regularization

    def calc_regularization_score(self) -> float:
        """Sum of the regularization terms over all trainable variables, at the present iteration."""
        config = self._config
        if config is None or not config.regularization:
            return 0.0
        arrays = [self.stored(v.name()) for v in self.tables.variables.values() if v.is_trainable()]
        penalties = Penalties([(a, term) for term in config.regularization for a in arrays], reference=True)
        return sum(penalties.values(config.iteration_count, config.epoch_count))

    # Updater state

    def initialize_training(self) -> None:
        """Make the updater state now rather than at the first ``fit``."""
        with self._fit_lock:
            self.training_session()

    def get_updater_map(self) -> dict[str, GradientUpdater]:
        """The updater of each trainable variable; ``.get_state()`` gives views of its state arrays. Empty before training."""
        if self._session is None and self._states:
            self.initialize_training()
        return {} if self._session is None else self._session.params.updater_map()

    def set_updater_state(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Set updater state by variable and key, as when a saved training is resumed.

        Raises
        ------
        UnknownNameError, FileFormatError
            A variable that is not trainable, or keys and shapes that do not fit the configured updater.
        """
        config = self.checked_config()
        keys = set(config.updater.state_names) if config.updater else set()
        for name, given in states.items():
            variable = self.variable(name)
            if not variable.is_trainable():
                raise UnknownNameError(f"updater state for {variable!r}, which is not trained")
            if set(given) != keys:
                raise FileFormatError(f"updater state of {name!r} has {sorted(given)}; "
                                      f"{type(config.updater).__name__} keeps {sorted(keys)}")
            for key, array in given.items():
                if np.size(array) != self.stored(name).size:
                    raise FileFormatError(f"updater state {key!r} of {name!r} has shape {np.shape(array)}; "
                                          f"expected {self.stored(name).shape}")
        with self.gate:
            self._states = {n: {k: np.array(a) for k, a in s.items()} for n, s in states.items()}
            if self._session is not None:
                self._session.params.restore(self._states)

    def _updater_state(self) -> States:
        return self._session.params.state() if self._session else self._states

    def _renamed(self, old: str, new: str) -> None:
        states = {(new if n == old else n): s for n, s in self._updater_state().items()}
        self._states, self._session = states, None
        if (config := self.get_training_config()) is not None:
            config.rename(old, new)


def split_by_kind(args: tuple[Any, ...], kind: type) -> tuple[tuple[Any, ...], list[Any]]:
    """The other arguments, and those of a class."""
    return tuple(a for a in args if not isinstance(a, kind)), [a for a in args if isinstance(a, kind)]


def _check_numbers(epochs: Any, frequency: Any) -> None:
    for what, number in (("epochs", epochs), ("validation_frequency", frequency)):
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number <= 0:
            raise ConfigurationError(f"{what} must be a whole number above 0; got {number!r}")
