"""Several listeners as one."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .calls import Listeners
from .listener import HOOKS, Listener
from .listener_variables import ListenerVariables
from .operation import At, ListenerResponse, Operation

__all__ = ["ComposableIterationListener"]


class ComposableIterationListener(Listener):
    """Several listeners as one; each is called as it would be alone. Lists of listeners do the same.

    Parameters
    ----------
    *listeners : Listener
        Each is told in this order.
    """

    def __init__(self, *listeners: Listener) -> None:
        every = Listeners(listeners)
        self.members = every.members
        self._active: dict[Operation, Listeners] = {}
        for hook in HOOKS:
            if every.wants(hook) and hook not in vars(ComposableIterationListener):
                setattr(self, hook, self._told(hook))

    def _told(self, hook: str) -> Callable[..., Any]:
        def tell(*args: Any) -> None:
            at = args[1] if len(args) > 1 else None
            operation = at.operation() if isinstance(at, At) else at if isinstance(at, Operation) else Operation.TRAINING
            self._for(operation).call(hook, *args)
        return tell

    def _for(self, operation: Operation) -> Listeners:
        if operation not in self._active:
            self._active[operation] = Listeners(self.members, operation)
        return self._active[operation]

    def is_active(self, operation: Operation) -> bool:
        return bool(self._for(operation))

    def hears(self, hook: str, iteration: int) -> bool:
        return self._for(Operation.TRAINING).wants(hook, iteration)

    def required_variables(self, sd: Any) -> Any:
        return ListenerVariables({op: self._for(op).required_variables(sd, op) for op in Operation})

    def iteration_done(self, model: Any, at: At, data_set: Any = None, loss: Any = None) -> None:
        self._for(at.operation()).iteration_done(model, at, data_set, loss)

    def epoch_start(self, sd: Any, at: At) -> None:
        self._for(at.operation()).epoch_start(sd, at)

    def epoch_end(self, sd: Any, at: At, loss_curve: Any, epoch_time_millis: int) -> Any:
        stop = self._for(at.operation()).epoch_end(sd, at, loss_curve, epoch_time_millis)
        return ListenerResponse.STOP if stop else None

    def validation_done(self, sd: Any, at: At, validation_time_millis: int) -> Any:
        stop = self._for(at.operation()).validation_done(sd, at, validation_time_millis)
        return ListenerResponse.STOP if stop else None
