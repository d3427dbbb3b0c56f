"""Calling listeners."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import ConfigurationError
from ..history import Loss, LossCurve
from .listener import HOOKS, Listener
from .operation import At, ListenerResponse, Operation

__all__ = ["Listeners"]


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
        self._calls: dict[str, list[Callable[..., Any]]] = {}
        for member in self.members:
            for hook in HOOKS:
                if getattr(type(member), hook) is not getattr(Listener, hook) or hook in vars(member):
                    self._calls.setdefault(hook, []).append(_noting(member, hook))
        self._epochs = [(_noting(m, "epoch_start"), _noting(m, "epoch_end")) for m in self.members]
        self._iteration_done = [(call, _takes_at(call)) for call in self._calls.get("iteration_done", ())]

    def wants(self, hook: str) -> bool:
        """Return whether any listener overrides that hook."""
        return hook in self._calls

    def call(self, hook: str, *args: Any) -> None:
        """Call a hook of every listener that overrides it: ``call("pre_update", sd, at, variable, update)``."""
        for heard in self._calls.get(hook, ()):
            heard(*args)

    def required_variables(self, sd: Any, operation: Operation) -> frozenset[str]:
        """Return the variables that listeners want computed."""
        wanted = [found for call in self._calls.get("required_variables", ()) if (found := call(sd)) is not None]
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
        answers = [call(sd, at, validation_time_millis) for call in self._calls.get("validation_done", ())]
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


def _takes_at(call: Any) -> bool:
    """Return whether an ``iteration_done`` has the graph's form: four arguments rather than three."""
    parameters = inspect.signature(call).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) >= 4
