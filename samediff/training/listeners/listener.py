"""The base of listeners: methods that are called during the training of graphs and networks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.java_names import ListenerNames
from ..history import LossCurve
from .listener_variables import ListenerVariables
from .operation import At, ListenerResponse, Operation

__all__ = ["BaseListener", "BaseTrainingListener", "Listener", "TrainingListener"]


class Listener(ListenerNames):
    """Base of all listeners: override what you want to hear; everything else does nothing.

    One class serves SameDiff graphs and networks. ``iteration_done`` may be written in the form of either:
    ``(self, model, iteration, epoch)`` or ``(self, sd, at, data_set, loss)``. Java's method names work too.
    Arrays that are handed over may be recycled after the call: copy what you keep. Errors end the training.

    Examples
    --------
    >>> from dl4py.samediff.training import At, Listener, Listeners, Operation
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

    def hears(self, hook: str, iteration: int) -> bool:
        """Return whether to listen to a hook at an iteration: what nobody hears is not computed for it."""
        return True

    def required_variables(self, sd: Any) -> ListenerVariables | None:
        """Return the variables to compute even if nobody asked for them; None for none."""
        return None

    def operation_start(self, sd: Any, operation: Operation) -> None:
        """Hear that fit, validation, evaluate or output starts."""

    def operation_end(self, sd: Any, operation: Operation) -> None:
        """Called when an operation ends."""

    def epoch_start(self, sd: Any, at: At) -> None:
        """Called when an epoch starts."""
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
        """Called after an op has run."""

    def activation_available(self, sd: Any, at: At, batch: Any, op: Any, var_name: str, activation: Any) -> None:
        """Hear the value of an op's output."""


HOOKS = tuple(name for name, value in vars(Listener).items() if callable(value) and not name.startswith("_") and name != "hears")
BaseListener = Listener             # assigned one by one: type checkers take such names for types
BaseTrainingListener = Listener
TrainingListener = Listener
