"""Facts about a machine: processors, GPUs, and the versions of what dl4py stands on."""
from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from ...samediff.device.devices import current_device
from ...samediff.errors import DeviceError

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "cupy-cuda12x", "cupy-cuda13x", "ml_dtypes")


def describe() -> str:
    """Devices, memory and versions, line by line."""
    rows = [("dl4py", version_of("dl4py")), ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
            ("cpu", _processor()), *_gpus(), ("emulated", _emulator()), ("runs on", str(current_device()))]
    rows += [(name, version) for name in PACKAGES if (version := version_of(name))]
    return "\n".join(f"{name + ':':<14}{text}" for name, text in rows)


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next((int(line.split()[1]) >> 20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return ", ".join([names[0] if names else platform.processor() or platform.machine(), f"{os.cpu_count()} processors",
                      *([f"{memory} GiB"] if memory else [])])


def _lines(file: str) -> list[str]:
    path = Path(file)
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _gpus() -> list[tuple[str, str]]:
    """A row for each GPU, or one that says why there is none."""
    from ...samediff.cuda.availability import cupy_for
    try:
        cupy = cupy_for(0)
    except DeviceError as error:
        return [("cuda", str(error))]
    runtime = cupy.cuda.runtime
    versions = f"driver for CUDA {_cuda(runtime.driverGetVersion())}, CuPy {cupy.__version__} for CUDA {_cuda(runtime.runtimeGetVersion())}"
    return [*((f"cuda:{k}", _gpu(cupy, k)) for k in range(runtime.getDeviceCount())), ("cuda", versions)]


def _gpu(cupy: Any, index: int) -> str:
    found = cupy.cuda.runtime.getDeviceProperties(index)
    with cupy.cuda.Device(index):
        free, total = cupy.cuda.runtime.memGetInfo()
    name = found["name"].decode() if isinstance(found["name"], bytes) else found["name"]
    return f"{name}, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free, compute capability {found['major']}.{found['minor']}"


def _cuda(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _emulator() -> str:
    from ...samediff.cuda.drivers.host_code import compiler
    try:
        return f"CUDA kernels as C++, by {compiler()}"
    except DeviceError as error:
        return str(error)
