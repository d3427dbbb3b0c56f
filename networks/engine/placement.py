"""Running what belongs to a network on the network's device."""
from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import copy_context
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ...samediff.device import devices


class Placed(Protocol):
    """What runs on a device of its own, or where it has none on that of the thread."""

    device: devices.Device | None

    def settle(self) -> None:
        """Take note of the present device."""


_E = TypeVar("_E", bound=Placed)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def placed(engine: Placed, run: Callable[_P, _R], *args: _P.args, **options: _P.kwargs) -> _R:
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


def on_its_device(method: Callable[Concatenate[_E, _P], _R]) -> Callable[Concatenate[_E, _P], _R]:
    """Decorator of methods of an engine that run graphs: on its device."""
    @functools.wraps(method)
    def call(self: _E, /, *args: _P.args, **options: _P.kwargs) -> _R:
        if not devices.active:
            return method(self, *args, **options)
        return placed(self, method, self, *args, **options)
    return call
