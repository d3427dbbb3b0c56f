"""Listeners: what they can hear during training of graphs and networks, and how they are called."""
from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar

from ...base.javanames import JavaSpelling
from ...data.iterators.position import Positioned
from ...errors import ConfigurationError
from ..history import Loss, LossCurve, name_of


class Operation(Enum):
    """What a graph is being used for."""

    TRAINING = "TRAINING"
    TRAINING_VALIDATION = "TRAINING_VALIDATION"
    INFERENCE = "INFERENCE"
    EVALUATION = "EVALUATION"

    def is_training_phase(self) -> bool:
        """Return True for TRAINING and TRAINING_VALIDATION."""
        return self in (Operation.TRAINING, Operation.TRAINING_VALIDATION)

    def is_validation(self) -> bool:
        """Return True for TRAINING_VALIDATION."""
        return self is Operation.TRAINING_VALIDATION


class ListenerResponse(Enum):
    """The answer of ``epoch_end`` and ``validation_done``: go on (as None does) or end the training now."""

    CONTINUE = "CONTINUE"
    STOP = "STOP"


class At(JavaSpelling):
    """Where a graph or network stands: epoch and iteration from 0, operation, thread."""

    __slots__ = ("_epoch", "_iteration", "_operation", "_thread")

    def __init__(self, epoch: int = 0, iteration: int = 0, operation: Operation = Operation.INFERENCE,
                 training_thread_num: int = 0) -> None:
        self._epoch, self._iteration, self._operation, self._thread = epoch, iteration, operation, training_thread_num

    @staticmethod
    def default_at(operation: Operation = Operation.INFERENCE) -> At:
        """Return epoch 0, iteration 0 of an operation."""
        return At(0, 0, operation)

    def epoch(self) -> int:
        """Return the epoch, from 0."""
        return self._epoch

    def iteration(self) -> int:
        """Return the iteration, from 0."""
        return self._iteration

    def operation(self) -> Operation:
        """Return the operation."""
        return self._operation

    def training_thread_num(self) -> int:
        """Return the number of the training thread; 0 unless several train."""
        return self._thread

    def java_thread_num(self) -> int:
        """Return the identity of the running thread."""
        return threading.get_ident()

    def copy(self, operation: Operation | None = None) -> At:
        """Return a copy, with another operation if given."""
        return At(self._epoch, self._iteration, operation or self._operation, self._thread)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, At) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"At(epoch={self._epoch}, iteration={self._iteration}, {self._operation.name})"


class ListenerVariables(JavaSpelling):
    """Names of variables that a listener wants computed, by operation."""

    Builder: ClassVar[type[ListenerVariablesBuilder]]

    def __init__(self, variables: Mapping[Operation, Iterable[Any]] | None = None) -> None:
        self._names = {op: frozenset(name_of(v) for v in found) for op, found in (variables or {}).items()}

    @staticmethod
    def empty() -> ListenerVariables:
        """Return no variables."""
        return ListenerVariables()

    @staticmethod
    def of(*variables: Any) -> ListenerVariables:
        """Return the same variables for every operation."""
        return ListenerVariables(dict.fromkeys(Operation, variables))

    @staticmethod
    def builder() -> ListenerVariablesBuilder:
        """Return a builder."""
        return ListenerVariablesBuilder()

    def training_variables(self) -> frozenset[str]:
        """Return the names for training."""
        return self.required_variables(Operation.TRAINING)

    def validation_variables(self) -> frozenset[str]:
        """Return the names for validation during training."""
        return self.required_variables(Operation.TRAINING_VALIDATION)

    def evaluation_variables(self) -> frozenset[str]:
        """Return the names for evaluation."""
        return self.required_variables(Operation.EVALUATION)

    def inference_variables(self) -> frozenset[str]:
        """Return the names for inference."""
        return self.required_variables(Operation.INFERENCE)

    def required_variables(self, operation: Operation) -> frozenset[str]:
        """Return the names for an operation."""
        return self._names.get(operation, frozenset())

    def merge(self, other: ListenerVariables) -> ListenerVariables:
        """Return the union."""
        return ListenerVariables({op: self.required_variables(op) | other.required_variables(op) for op in Operation})


class ListenerVariablesBuilder(JavaSpelling):
    """Builder of :class:`ListenerVariables`: ``ListenerVariables.builder().training_variables("a", "b").build()``."""

    def __init__(self) -> None:
        self._names: dict[Operation, list[Any]] = {}

    def require_variables(self, operation: Operation, *variables: Any) -> ListenerVariablesBuilder:
        """Ask for variables during an operation."""
        self._names.setdefault(Operation(operation), []).extend(variables)
        return self

    def training_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Ask for variables during training."""
        return self.require_variables(Operation.TRAINING, *variables)

    def validation_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Ask for variables during validation."""
        return self.require_variables(Operation.TRAINING_VALIDATION, *variables)

    def evaluation_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Ask for variables during evaluation."""
        return self.require_variables(Operation.EVALUATION, *variables)

    def inference_variables(self, *variables: Any) -> ListenerVariablesBuilder:
        """Ask for variables during inference."""
        return self.require_variables(Operation.INFERENCE, *variables)

    def build(self) -> ListenerVariables:
        """Return the names."""
        return ListenerVariables(self._names)


ListenerVariables.Builder = ListenerVariablesBuilder


class Listener(JavaSpelling):
    """Base of all listeners: override what you want to hear; everything else does nothing.

    One class serves SameDiff graphs and networks. ``iteration_done`` may be written in the form of either:
    ``(self, model, iteration, epoch)`` or ``(self, sd, at, data_set, loss)``. Java's method names work too.
    Arrays that are handed over may be recycled after the call: copy what you keep. Errors end the training.

    Examples
    --------
    >>> class Count(Listener):
    ...     done = 0
    ...     def iteration_done(self, model, iteration, epoch):
    ...         self.done = iteration + 1
    >>> heard = Count()
    >>> Listeners([heard]).iteration_done(None, At(0, 4, Operation.TRAINING))
    >>> heard.done
    5
    """

    def is_active(self, operation: Operation) -> bool:
        """Return whether to listen to that operation."""
        return True

    def required_variables(self, sd: Any) -> ListenerVariables | None:
        """Return the variables to compute even if nobody asked for them; None for none."""
        return None

    def operation_start(self, sd: Any, operation: Operation) -> None:
        """Hear that fit, validation, evaluate or output starts."""

    def operation_end(self, sd: Any, operation: Operation) -> None:
        """Hear that it ends."""

    def epoch_start(self, sd: Any, at: At) -> None:
        """Hear that an epoch starts."""
        self.on_epoch_start(sd)

    def on_epoch_start(self, model: Any) -> None:
        """Hear that an epoch starts (the form of networks)."""

    def epoch_end(self, sd: Any, at: At, loss_curve: LossCurve | None,
                  epoch_time_millis: int) -> ListenerResponse | None:
        """Hear that an epoch has ended, with the losses so far; STOP ends the training."""
        self.on_epoch_end(sd)
        return None

    def on_epoch_end(self, model: Any) -> None:
        """Hear that an epoch has ended (the form of networks)."""

    def validation_done(self, sd: Any, at: At, validation_time_millis: int) -> ListenerResponse | None:
        """Hear that the validation after an epoch has ended; STOP ends the training."""
        return None

    def iteration_start(self, sd: Any, at: At, data: Any, etl_time_ms: int) -> None:
        """Hear that a batch is about to be used, and how long it took to fetch."""

    def iteration_done(self, model: Any, *args: Any, **kwargs: Any) -> None:
        """Hear that the parameters have changed: ``(model, iteration, epoch)`` or ``(sd, at, data_set, loss)``."""

    def on_forward_pass(self, model: Any, activations: Any) -> None:
        """Hear the activations of a network's training forward pass: a list, or a dictionary for a graph."""

    def on_backward_pass(self, model: Any) -> None:
        """Hear that the gradient has been calculated."""

    def on_gradient_calculation(self, model: Any) -> None:
        """Hear that the gradient is there, before the updater changes it."""

    def pre_update(self, sd: Any, at: At, variable: Any, update: Any) -> None:
        """Hear what will be subtracted from a parameter."""

    def pre_op_execution(self, sd: Any, at: At, op: Any, op_context: Any) -> None:
        """Hear that an op is about to run."""

    def op_execution(self, sd: Any, at: At, batch: Any, op: Any, op_context: Any, outputs: Sequence[Any]) -> None:
        """Hear that an op has run."""

    def activation_available(self, sd: Any, at: At, batch: Any, op: Any, var_name: str, activation: Any) -> None:
        """Hear the value of an op's output."""


HOOKS = tuple(name for name, value in vars(Listener).items() if callable(value) and not name.startswith("_"))
BaseListener = BaseTrainingListener = TrainingListener = Listener


class Listeners:
    """The listeners of one operation, with every hook resolved once: hooks that nobody overrides cost nothing.

    Parameters
    ----------
    listeners
        Objects of :class:`Listener`.
    operation
        Only those that are active for it take part; None takes all.
    """

    def __init__(self, listeners: Iterable[Listener], operation: Operation | None = None) -> None:
        self.members: list[Listener] = []
        for listener in listeners:
            if not isinstance(listener, Listener):
                raise ConfigurationError(f"expected a listener (a subclass of Listener); got {listener!r:.60}")
            if operation is None or listener.is_active(operation):
                self.members.append(listener)
        self._calls = {hook: [_noting(m, hook) for m in self.members if _overrides(m, hook)] for hook in HOOKS}
        self._epochs = [(_noting(m, "epoch_start"), _noting(m, "epoch_end")) for m in self.members]
        self._iteration_done = [(call, _takes_at(call)) for call in self._calls["iteration_done"]]

    def wants(self, hook: str) -> bool:
        """Return whether any listener overrides that hook."""
        return bool(self._calls[hook])

    def call(self, hook: str, *args: Any) -> None:
        """Call a hook of every listener that overrides it: ``call("pre_update", sd, at, variable, update)``."""
        for heard in self._calls[hook]:
            heard(*args)

    def required_variables(self, sd: Any, operation: Operation) -> frozenset[str]:
        """Return the variables that listeners want computed."""
        wanted = [found for call in self._calls["required_variables"] if (found := call(sd)) is not None]
        return frozenset[str]().union(*(v.required_variables(operation) for v in wanted))

    def epoch_start(self, model: Any, at: At) -> None:
        """Tell that an epoch starts, in both forms."""
        for start, _ in self._epochs:
            start(model, at)

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Loss | None = None) -> None:
        """Tell that an iteration is done, each listener in its own form."""
        for call, takes_at in self._iteration_done:
            if takes_at:
                call(model, at, data_set, loss)
            elif at.operation() is not Operation.TRAINING_VALIDATION:
                call(model, at.iteration(), at.epoch())

    def epoch_end(self, model: Any, at: At, loss_curve: LossCurve | None = None, epoch_time_millis: int = 0) -> bool:
        """Tell that an epoch has ended, in both forms; return whether a listener wants to stop."""
        answers = [end(model, at, loss_curve, epoch_time_millis) for _, end in self._epochs]
        return ListenerResponse.STOP in answers

    def validation_done(self, sd: Any, at: At, validation_time_millis: int = 0) -> bool:
        """Tell that a validation has ended; return whether a listener wants to stop."""
        answers = [call(sd, at, validation_time_millis) for call in self._calls["validation_done"]]
        return ListenerResponse.STOP in answers

    def __bool__(self) -> bool:
        return bool(self.members)


def _noting(listener: Listener, hook: str) -> Callable[..., Any]:
    """A hook whose exceptions say which listener they are from."""
    call = getattr(listener, hook)

    @functools.wraps(call)
    def told(*args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            error.add_note(f"in {hook} of listener {type(listener).__module__}.{type(listener).__qualname__}")
            raise
    return told


def _overrides(listener: Listener, hook: str) -> bool:
    return getattr(type(listener), hook) is not getattr(Listener, hook) or hook in vars(listener)


def _takes_at(call: Any) -> bool:
    """Return whether an ``iteration_done`` has the graph's form: four arguments rather than three."""
    parameters = inspect.signature(call).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) >= 4


def flat(items: Iterable[Any]) -> list[Any]:
    """The items, and those of lists and tuples among them."""
    made: list[Any] = []
    for item in items:
        made += item if isinstance(item, (list, tuple)) else [item]
    return made


def _checked(items: Iterable[Any]) -> list[Listener]:
    """The same; ConfigurationError for what is no listener."""
    found = flat(items)
    for item in found:
        if not isinstance(item, Listener):
            raise ConfigurationError(f"expected listeners, instances of classes derived from Listener; got {item!r:.60}")
    return found


class HasListeners:
    """What graphs and networks share: listeners that hear every training."""

    _listeners: list[Listener]
    _training_data: Any = None
    _inside_batch = False

    def get_data_position(self) -> dict[str, Any] | None:
        """Where the iterator stands that `fit` goes through at this moment; None outside and for other data."""
        return self._training_data.get_position() if isinstance(self._training_data, Positioned) else None

    def is_inside_batch(self) -> bool:
        """Whether further pieces of the present batch follow (truncated back-propagation)."""
        return self._inside_batch

    def set_listeners(self, *listeners: Any) -> None:
        """Replace the listeners."""
        self._listeners = _checked(listeners)

    def add_listeners(self, *listeners: Any) -> None:
        """Add listeners."""
        self._listeners += _checked(listeners)

    def get_listeners(self) -> list[Listener]:
        """The listeners."""
        return list(self._listeners)
