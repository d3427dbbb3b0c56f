"""Devices that graphs run on: the CPU, a GPU, or the emulator of one.

::

    with device("cuda:0"):          # everything that runs in this block, on this thread
        net.fit(train)
    set_device("cuda:0")            # from now on, on every thread; DL4PY_DEVICE=cuda:0 is the same from the start
    net.to("cuda:0")                # this network, wherever it is called
"""
from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import DeviceError, RegistrationError, did_you_mean
from ..expressions.arrays import from_gpu, is_on_gpu


class AnyBackend(Protocol):
    """Protocol of a back end for the choice of a device; plans ask more (:func:`~dl4py.samediff.plans.backend.backend_of`)."""

    on_host: bool
    takes_gpu_arrays: bool


#: What makes the back end of a device, by kind: a function, or the module and name of one that is imported when it is first chosen.
_MAKERS: dict[str, Callable[[Device], AnyBackend] | str] = {
    "cpu": "dl4py.samediff.cpu.backend:cpu",
    "cuda": "dl4py.samediff.cuda.backend:gpu",
    "emulated": "dl4py.samediff.cuda.backend:gpu",
}
_ALIASES = {"gpu": "cuda"}
_backends: dict[Device, AnyBackend] = {}


@dataclass(frozen=True)
class Device:
    """A device: ``cpu``, ``cuda:N`` (the GPU of that number), or ``emulated`` (CUDA kernels run by a C++ compiler on the host, slowly, to
    check them where there is no GPU).

    Parameters
    ----------
    kind : str
        "cpu", "cuda", "emulated", or what :func:`register_device` made known.
    index : int
        Which device of that kind, from 0.

    Examples
    --------
    >>> str(Device.of("cuda")), Device.of("cpu").is_cpu
    ('cuda:0', True)
    """

    kind: str
    index: int = 0

    @staticmethod
    def of(name: str | Device) -> Device:
        """The device of a name; DeviceError when there is none of that name."""
        if isinstance(name, Device):
            return name
        found = re.fullmatch(r"(\w+)(?::(\d+))?", name) if isinstance(name, str) else None
        kind = "" if found is None else _ALIASES.get(found[1], found[1])
        if found is None or kind not in _MAKERS:
            hint = did_you_mean(name.partition(":")[0], _MAKERS) if isinstance(name, str) else ""
            raise DeviceError(f"expected a device such as 'cpu', 'cuda:0' or 'emulated', got {name!r}{hint}")
        if kind == "cpu" and int(found[2] or 0):
            raise DeviceError(f"there is one CPU device, 'cpu'; got {name!r}")
        return Device(kind, int(found[2] or 0))

    @property
    def is_cpu(self) -> bool:
        """Whether it is the CPU."""
        return self.kind == "cpu"

    @property
    def on_host(self) -> bool:
        """Whether arrays of this device are NumPy arrays in the host's memory."""
        return self.is_cpu or backend_of(self).on_host

    isCpu, onHost = is_cpu, on_host

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


@dataclass(frozen=True)
class Placement:
    """A device, and whether results stay there."""

    device: Device
    stays: bool = False


CPU = Placement(Device("cpu"))
_chosen: ContextVar[tuple[Placement, ...]] = ContextVar("devices of with blocks", default=())
_default: Placement | None = None       # None: not asked yet

#: False as long as nothing but the CPU was ever chosen: the shortest runs need not ask then.
active = "DL4PY_DEVICE" in os.environ


def placement() -> Placement:
    """The device of this thread, and whether results stay there."""
    stack = _chosen.get()
    return stack[-1] if stack else _of_process()


def current_device() -> Device:
    """The device on which this thread runs graphs now."""
    return placement().device


def _of_process() -> Placement:
    global _default
    if _default is None:
        _default = CPU
        if "DL4PY_DEVICE" in os.environ:
            try:
                set_device(os.environ["DL4PY_DEVICE"])
            except DeviceError as error:
                _default = None
                error.add_note("asked for by the environment variable DL4PY_DEVICE")
                raise
    return _default


def set_device(name: str | Device) -> None:
    """Run graphs on a device from now on, on every thread that has not chosen another by :class:`device`.

    Parameters
    ----------
    name : str or Device
        ``"cpu"``, ``"cuda:0"``, ``"cuda"`` (the same), ``"emulated"``.

    Raises
    ------
    DeviceError
        The device is not there: says what is missing and how to get it. Everything stays as it was.

    Examples
    --------
    >>> set_device("cpu")
    >>> current_device()
    Device(kind='cpu', index=0)
    """
    global _default
    _default = Placement(ready(name))


def ready(name: str | Device) -> Device:
    """The device of a name, once it is known to be there; DeviceError when it is not."""
    global active
    found = Device.of(name)
    if not found.is_cpu:
        backend_of(found)
        active = True
    return found


def register_device(kind: str, make: Callable[[Device], AnyBackend]) -> None:
    """Make another kind of device known.

    Parameters
    ----------
    kind : str
        Its name, as in ``device("kind:0")``.
    make : callable
        Makes the back end of a device of that kind (:class:`~dl4py.samediff.plans.backend.Backend`); DeviceError when it is not there.

    Raises
    ------
    RegistrationError
        There is a device of that name.
    """
    if not (isinstance(kind, str) and kind.isidentifier()):
        raise RegistrationError(f"a device cannot be called {kind!r}: expected a plain name such as 'mine'")
    if not callable(make):
        raise RegistrationError(f"devices called {kind!r} need a function that makes their back end, got {make!r:.60}")
    if kind in (*_MAKERS, *_ALIASES):
        raise RegistrationError(f"there is a device called {kind!r}; choose another name")
    _MAKERS[kind] = make


def backend_of(where: Device | None = None) -> AnyBackend:
    """The back end of a device (None: the CPU), the same every time."""
    where = where or CPU.device
    found = _backends.get(where)
    if found is None:
        if where.kind not in _MAKERS:
            raise DeviceError(f"there is no kind of device called {where.kind!r}{did_you_mean(where.kind, _MAKERS)}; "
                              f"there are: {', '.join(_MAKERS)}")
        make = _MAKERS[where.kind]
        if isinstance(make, str):
            module, _, name = make.partition(":")
            make = getattr(importlib.import_module(module), name)
        made = make(where)              # without a lock: it may be anybody's code, which may wait for other threads
        if made is None:
            raise DeviceError(f"the maker registered for devices called {where.kind!r} returned None for {where}; expected a Backend")
        found = _backends.setdefault(where, made)
    return found


def as_gpu_array(value: Any) -> Any:
    """An array in the memory of a GPU as CuPy's, where this thread runs graphs on one; None for others."""
    return from_gpu(value) if active and is_on_gpu(value) and backend_of(current_device()).takes_gpu_arrays else None


def choose(where: Placement) -> None:
    """Run graphs there from now on, in this context (:mod:`contextvars`); for code that runs in one of its own."""
    _chosen.set((*_chosen.get(), where))


class device:
    """Run graphs on a device in a ``with`` block, on this thread.

    Parameters
    ----------
    name : str or Device
        ``"cpu"``, ``"cuda:0"``, ``"cuda"`` (the same), ``"emulated"``.
    results_stay : bool
        Give results as arrays of the device (CuPy) instead of NumPy arrays.

    Raises
    ------
    DeviceError
        The device is not there; three situations, three texts: CuPy is not installed, there is no driver or GPU, or CuPy is for
        another CUDA line than the driver.

    Examples
    --------
    >>> with device("cpu"):
    ...     str(current_device())
    'cpu'
    """

    def __init__(self, name: str | Device, results_stay: bool = False) -> None:
        self._placement = Placement(ready(name), results_stay)

    def __enter__(self) -> Device:
        choose(self._placement)
        return self._placement.device

    def __exit__(self, *error: Any) -> None:
        _chosen.set(_chosen.get()[:-1])
