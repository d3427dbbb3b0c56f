"""The GPU of a number, or the reason why it is not there and what to do about it."""
from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

from ..base.cupy import installed
from ..errors import DeviceError

_NO_DEVICE, _OLD_DRIVER = 100, 35           # cudaError_t


def cupy_for(index: int) -> Any:
    """CuPy, once the GPU of that number is known to be there."""
    cupy = installed()
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except RuntimeError as error:
        raise DeviceError(_reason(runtime, error)) from error
    if not count:
        raise DeviceError("no GPU: the CUDA runtime finds none. Is CUDA_VISIBLE_DEVICES set to leave out all of them?")
    if not 0 <= index < count:
        raise DeviceError(f"there is no cuda:{index}: this machine has {count} GPU{'s' if count > 1 else ''}, cuda:0"
                          f"{f' to cuda:{count - 1}' if count > 1 else ''}")
    return cupy


def _reason(runtime: Any, error: RuntimeError) -> str:
    """The reason why the CUDA runtime finds no GPU, and its remedy."""
    said = f"the CUDA runtime said: {error}"
    has, wants = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    if not has:
        return f"no GPU: there is no NVIDIA driver. Install one from https://www.nvidia.com/drivers, or run on \"cpu\" ({said})"
    if getattr(error, "status", None) == _OLD_DRIVER or has // 1000 < wants // 1000:
        other = "cuda12" if has // 1000 == 12 else ""
        remedy = f'pip uninstall cupy-cuda{wants // 1000}x, then pip install "dl4py[{other}]"' if other and wants >= 13000 else \
            "install a newer NVIDIA driver"
        return f"CuPy is for CUDA {_version(wants)}, the NVIDIA driver for CUDA {_version(has)} at most: {remedy} ({said})"
    if getattr(error, "status", None) == _NO_DEVICE:
        return f"no GPU: there is an NVIDIA driver, but it knows of none; look at nvidia-smi and at CUDA_VISIBLE_DEVICES ({said})"
    return f"no GPU can be used; look at nvidia-smi ({said})"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def cublas_library(cupy: Any) -> Any:
    """The cuBLAS library as a :class:`ctypes.CDLL`."""
    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    try:
        getattr(importlib.import_module("cupy_backends.cuda.libs"), "cublas")       # noqa: B009  finds the library and loads it
        return ctypes.CDLL(f"cublas64_{major}.dll" if sys.platform == "win32" else f"libcublas.so.{major}")
    except (ImportError, OSError) as error:
        raise DeviceError(f'cuBLAS of CUDA {major} is not there: pip install "cupy-cuda{major}x[ctk]" installs it, or install the CUDA '
                          f"toolkit ({str(error).strip()})") from error
