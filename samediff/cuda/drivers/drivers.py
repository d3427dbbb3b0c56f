"""The driver of each device, made at its first use."""
from __future__ import annotations

from ...base.locks import rlock
from ...device.devices import Device
from .driver import Driver

_drivers: dict[Device, Driver] = {}
_lock = rlock()


def driver_of(device: Device) -> Driver:
    """The driver of a device; DeviceError when the device is not available."""
    found = _drivers.get(device)
    if found is None:
        with _lock:
            found = _drivers.get(device)
            if found is None:
                found = _drivers[device] = _made(device)
    return found


def _made(device: Device) -> Driver:
    if device.kind == "emulated":
        from .emulator import Emulator
        from .host_code import compiler
        compiler()
        return Emulator(index=device.index)
    from .gpu import Gpu
    return Gpu(device.index)
