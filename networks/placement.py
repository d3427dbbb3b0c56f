"""Running what belongs to a network on the network's device."""
from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ..samediff import devices

if TYPE_CHECKING:
    from .engine import Engine

ANYWHERE: AbstractContextManager[Any] = nullcontext()
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Placed:
    """A block in which everything runs on the device of a network; on that of the thread where it has none."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        chosen = engine.device
        self._device = None if chosen is None else devices.device(chosen, devices.placement().stays)

    def __enter__(self) -> None:
        if self._device is not None:
            self._device.__enter__()
        self._engine.settle()

    def __exit__(self, *error: Any) -> None:
        if self._device is not None:
            self._device.__exit__(*error)


def on_its_device(method: Callable[Concatenate[Engine, _P], _R]) -> Callable[Concatenate[Engine, _P], _R]:
    """Decorator of methods of an engine that run graphs: on its device."""
    @functools.wraps(method)
    def call(self: Engine, /, *args: _P.args, **options: _P.kwargs) -> _R:
        if not devices.active:
            return method(self, *args, **options)
        with self.placed():
            return method(self, *args, **options)
    return call
