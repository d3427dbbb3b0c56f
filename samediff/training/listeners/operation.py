"""Arguments of listeners: the operation, the moment, and their answer."""
from __future__ import annotations

import threading

from ...base.java.java_enum import JavaEnum
from ...base.java_names import AtNames, OperationNames

__all__ = ["At", "ListenerResponse", "Operation"]


class Operation(OperationNames, JavaEnum):
    """Operations of a graph: training, validation, evaluation or inference."""

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


class ListenerResponse(JavaEnum):
    """The answer of ``epoch_end`` and ``validation_done``: go on (as None does) or end the training now."""

    CONTINUE = "CONTINUE"
    STOP = "STOP"


class At(AtNames):
    """The current position of a training: epoch and iteration from 0, operation, thread.

    Parameters
    ----------
    epoch, iteration : int
        Counts from 0.
    operation : Operation
        What runs; INFERENCE by default.
    training_thread_num : int
        The thread of a training with several; 0 elsewhere.
    """

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
