"""Running what belongs to a network on the network's device."""
from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from ...samediff.device import devices

if TYPE_CHECKING:
    from .engine import Engine

_P = ParamSpec("_P")
_R = TypeVar("_R")


def placed(engine: Engine, run: Callable[_P, _R], *args: _P.args, **options: _P.kwargs) -> _R:
    """Call ``run`` on the device of a network; on that of the thread where it has none.

    It runs in a context of its own: whatever interrupts it, the thread is on its own device afterwards.
    """
    if not devices.active:
        return run(*args, **options)

    def on_device() -> _R:
        if engine.device is not None:
            devices.choose(devices.Placement(engine.device, devices.placement().stays))
        engine.settle()
        return run(*args, **options)
    return copy_context().run(on_device)


def on_its_device(method: Callable[Concatenate[Engine, _P], _R]) -> Callable[Concatenate[Engine, _P], _R]:
    """Decorator of methods of an engine that run graphs: on its device."""
    @functools.wraps(method)
    def call(self: Engine, /, *args: _P.args, **options: _P.kwargs) -> _R:
        if not devices.active:
            return method(self, *args, **options)
        return placed(self, method, self, *args, **options)
    return call
