"""The recorder of a thread: told of what arrays compute, it makes a graph of that."""
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from ..ir.op import Op


class Recorder(Protocol):
    """Takes down calls instead of computing them; what it returns stands for their results."""

    def record(self, op: Op, inputs: Sequence[Any]) -> Any:
        """One op (``op.place``) on arrays, earlier results, numbers, or None where an input is left out; a tuple where it has several."""

    def record_function(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A function of NumPy called so; ``NotImplemented`` for one that is to be computed at once."""

    def record_assign(self, target: Any, value: Any) -> Any:
        """Give an array or an earlier result another value from here on (methods that change in place); ``target`` again."""

    def record_turn(self, target: Any, order: Sequence[int]) -> Any:
        """Have an array or an earlier result stand for itself with its axes in another order from here on; ``target`` again."""

    def record_new(self, array: Any) -> Any:
        """The recorded form of an array that was just made and that nobody else holds; its values stay known until it changes."""

    def changing(self, array: Any) -> None:
        """An array, which may have been read, is about to be changed in place; raises where that would change what was taken down."""

    def drawing(self) -> None:
        """Random numbers are about to be drawn at once; raises where they would be drawn once for several runs."""

    def is_left(self) -> bool:
        """Whether an error has left the function that began it, so that nobody ends it."""
        return False

    def refuse(self, why: str) -> NoReturn:
        """Raise that something cannot be taken down; ``why`` is a sentence without its end."""
        raise NotImplementedError


class _State(threading.local):
    _recorder: Recorder | None = None

    @property
    def recorder(self) -> Recorder | None:
        """The recorder of this thread; one that an error has left is none any more."""
        found = self._recorder
        if found is not None and found.is_left():
            self._recorder = None
        return self._recorder

    @recorder.setter
    def recorder(self, recorder: Recorder | None) -> None:
        self._recorder = recorder


state = _State()


def new(array: Any) -> Any:
    """An array that was made just now, or what stands for it where this thread records: it can be changed in place by recorded values."""
    return array if state.recorder is None else state.recorder.record_new(array)


def current() -> Recorder | None:
    """The recorder of this thread."""
    return state.recorder


def switch(recorder: Recorder | None) -> Recorder | None:
    """Make it the recorder of this thread; returns the one before."""
    before, state.recorder = state.recorder, recorder
    return before


def switcher(recorder: Recorder) -> Callable[[], None]:
    """Make it the recorder of this thread; returns a function that any thread may call to have this one record no longer."""
    state.recorder, own = recorder, vars(state)

    def stop() -> None:
        if own.get("_recorder") is recorder:
            own["_recorder"] = None
    return stop
