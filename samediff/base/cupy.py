"""CuPy, or the reason why it is not there and what to do about it."""
from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ..errors import DeviceError

_INSTALL = 'pip install "dl4py[cuda12]" (drivers for CUDA 12) or pip install "dl4py[cuda13]" (drivers for CUDA 13 and newer; ' \
           "nvidia-smi shows which the driver is for)"


def installed() -> Any:
    """CuPy; DeviceError when it is not installed."""
    if importlib.util.find_spec("cupy") is None:
        raise DeviceError(f"a GPU needs CuPy, which is not installed: {_INSTALL}")
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise DeviceError(f"CuPy is installed but cannot be loaded: {str(error).strip()}\nInstall it anew: {_INSTALL}") from error
