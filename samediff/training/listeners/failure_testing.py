"""A listener that breaks training on purpose."""
from __future__ import annotations

import getpass
import random
import socket
import time
from collections.abc import Callable
from typing import Any

from ...base.java.java_enum import JavaEnum
from ...base.java_names import FailureTestingListenerNames
from ...errors import DL4PyError
from .listener import Listener
from .operation import Operation

__all__ = ["CallType", "FailureMode", "FailureTestingListener", "InjectedFailure"]


class InjectedFailure(DL4PyError, RuntimeError):
    """The error that `FailureTestingListener` raises with ``ILLEGAL_STATE``."""


class FailureMode(JavaEnum):
    """Kinds of failure: out of memory, end of the process, an error, or a delay."""

    OOM = "OOM"
    SYSTEM_EXIT_1 = "SYSTEM_EXIT_1"
    ILLEGAL_STATE = "ILLEGAL_STATE"
    INFINITE_SLEEP = "INFINITE_SLEEP"


class CallType(JavaEnum):
    """The moments at which a trigger is asked."""

    ANY = "ANY"
    EPOCH_START = "EPOCH_START"
    EPOCH_END = "EPOCH_END"
    FORWARD_PASS = "FORWARD_PASS"
    GRADIENT_CALC = "GRADIENT_CALC"
    BACKWARD_PASS = "BACKWARD_PASS"
    ITER_DONE = "ITER_DONE"


Trigger = Callable[[CallType, int, int, Any], bool]


class FailureTestingListener(Listener, FailureTestingListenerNames):
    """Breaks the training of a network on purpose, to test what happens then: checkpoints, restarts, clean-up.

    Parameters
    ----------
    failure_mode : FailureMode
        ``OOM`` raises MemoryError, ``SYSTEM_EXIT_1`` SystemExit(1), ``ILLEGAL_STATE`` InjectedFailure; ``INFINITE_SLEEP`` stands still.
    trigger : callable
        ``trigger(call_type, iteration, epoch, model)`` says whether to fail now; ready-made ones are static methods here.

    Notes
    -----
    Source: DL4J's ``FailureTestingListener``, whose trigger classes are functions here.

    Examples
    --------
    >>> at_iteration_3 = FailureTestingListener.iteration_epoch_trigger(False, 3)
    >>> [at_iteration_3(CallType.ITER_DONE, i, 0, None) for i in (2, 3)]
    [False, True]
    """

    def __init__(self, failure_mode: FailureMode, trigger: Trigger) -> None:
        self.mode, self.trigger = FailureMode(failure_mode), trigger

    def is_active(self, operation: Operation) -> bool:
        return operation is Operation.TRAINING

    def on_epoch_start(self, model: Any) -> None:
        self._ask(CallType.EPOCH_START, model)

    def on_epoch_end(self, model: Any) -> None:
        self._ask(CallType.EPOCH_END, model)

    def on_forward_pass(self, model: Any, activations: Any) -> None:
        self._ask(CallType.FORWARD_PASS, model)

    def on_gradient_calculation(self, model: Any) -> None:
        self._ask(CallType.GRADIENT_CALC, model)

    def on_backward_pass(self, model: Any) -> None:
        self._ask(CallType.BACKWARD_PASS, model)

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        self._fail_if(CallType.ITER_DONE, iteration, epoch, model)

    def _ask(self, call: CallType, model: Any) -> None:
        config = getattr(model, "get_training_config", lambda: None)()
        counted = config if config is not None else model
        counts = [getattr(counted, name) for name in (("iteration_count", "epoch_count") if config is not None
                                                      else ("get_iteration_count", "get_epoch_count"))]
        iteration, epoch = (int(c() if callable(c) else c) for c in counts)
        self._fail_if(call, iteration, epoch, model)

    def _fail_if(self, call: CallType, iteration: int, epoch: int, model: Any) -> None:
        if not self.trigger(call, iteration, epoch, model):
            return
        where = f"{call.name}, iteration {iteration}, epoch {epoch}"
        if self.mode is FailureMode.OOM:
            raise MemoryError(f"FailureTestingListener: out of memory on purpose at {where}")
        if self.mode is FailureMode.SYSTEM_EXIT_1:
            raise SystemExit(1)
        if self.mode is FailureMode.ILLEGAL_STATE:
            raise InjectedFailure(f"FailureTestingListener: failed on purpose at {where}")
        while True:
            time.sleep(10)

    @staticmethod
    def iteration_epoch_trigger(is_epoch: bool, count: int, call_type: CallType = CallType.ANY) -> Trigger:
        """Trigger at one iteration, or throughout one epoch."""
        return lambda call, i, e, model: call_type in (call, CallType.ANY) and (e if is_epoch else i) == count

    @staticmethod
    def random_prob(call_type: CallType, probability: float, seed: int | None = None) -> Trigger:
        """Trigger with a probability at every such call."""
        draws = random.Random(seed)
        return lambda call, i, e, model: call_type in (call, CallType.ANY) and draws.random() < probability

    @staticmethod
    def time_since_initialized_trigger(ms_since_init: int) -> Trigger:
        """Trigger when so many milliseconds have passed since now."""
        start = time.monotonic()
        return lambda call, i, e, model: (time.monotonic() - start) * 1000 > ms_since_init

    @staticmethod
    def user_name_trigger(user_name: str) -> Trigger:
        """Trigger if the process runs as that user."""
        return lambda call, i, e, model: getpass.getuser().lower() == user_name.lower()

    @staticmethod
    def host_name_trigger(host_name: str) -> Trigger:
        """Trigger if the machine has that name."""
        return lambda call, i, e, model: socket.gethostname().lower() == host_name.lower()

    @staticmethod
    def and_(*triggers: Trigger) -> Trigger:
        """Trigger when all triggers do."""
        return lambda *asked: all(t(*asked) for t in triggers)

    @staticmethod
    def or_(*triggers: Trigger) -> Trigger:
        """Trigger when any of the triggers does."""
        return lambda *asked: any(t(*asked) for t in triggers)
