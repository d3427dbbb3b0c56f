"""Running what belongs to a network on the network's device."""
from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import copy_context
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ...samediff.base.call_cache import CallCache
from ...samediff.device import devices


class Place:
    """The device on which a network runs.

    Attributes
    ----------
    device : None for that of the thread
    forms : tables of what leads to one device, forgotten when the network runs on another
    """

    def __init__(self, device: devices.Device | None = None) -> None:
        self.device = device
        self.forms = CallCache()


class HasDevice(Protocol):
    """Protocol of objects that run on a device."""

    place: Place


_E = TypeVar("_E", bound=HasDevice)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def run_on_device(at: Place, run: Callable[_P, _R], *args: _P.args, **options: _P.kwargs) -> _R:
    """Call ``run`` on the device of a network; on that of the thread where it has none.

    It runs in a context of its own: whatever interrupts it, the thread is on its own device afterwards.
    """
    if not devices.active:
        return run(*args, **options)

    def on_device() -> _R:
        if at.device is not None:
            devices.choose(devices.Placement(at.device, devices.placement().stays))
        at.forms.hold_for(devices.current_device())
        return run(*args, **options)
    return copy_context().run(on_device)


def in_device_scope(method: Callable[Concatenate[_E, _P], _R]) -> Callable[Concatenate[_E, _P], _R]:
    """Decorator of methods that run graphs: on the device of their network."""
    @functools.wraps(method)
    def call(self: _E, /, *args: _P.args, **options: _P.kwargs) -> _R:
        if not devices.active:
            return method(self, *args, **options)
        return run_on_device(self.place, method, self, *args, **options)
    return call
