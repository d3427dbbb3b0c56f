"""What LLVM is told before it compiles for this machine."""
from __future__ import annotations

import functools
import importlib.util
from typing import Any

import llvmlite.binding as llvm

from ..base.locks import Rank, rlock

_starting = rlock(Rank.START)


@functools.cache
def features() -> dict[str, bool]:
    """What the CPU can do."""
    found: dict[str, bool] = llvm.get_host_cpu_features()
    return found


@functools.cache
def target() -> tuple[str, str]:
    """CPU and features to compile for. 512-bit vectors are used where the CPU has them."""
    text: str = llvm.get_host_cpu_features().flatten()
    return llvm.get_host_cpu_name(), text + ",-prefer-256-bit" if features().get("avx512f") else text


def apply() -> None:
    """Tell Numba and LLVM, unless the user chose a CPU; one thread at a time, as Numba cannot be started by two at once."""
    with _starting:
        _apply()


@functools.cache
def _apply() -> None:
    from numba.core import config
    settings: Any = config
    if not settings.CPU_NAME and not settings.CPU_FEATURES and features().get("avx512f"):
        settings.CPU_NAME, settings.CPU_FEATURES = target()
    tell_llvm()
    _start()


@functools.cache
def tell_llvm() -> None:
    """Loops over many arrays need more overlap checks than LLVM's default of 8 before it gives up on vectors."""
    llvm.set_option("", "-runtime-memory-check-threshold=1000")


def _start() -> None:
    """Load what Numba loads before it compiles, but not SciPy, which takes as long as all of the rest: only ``np.dot`` in kernels of users
    needs it, and loads it then."""
    from numba.core.registry import cpu_target
    from numba.np import linalg

    def is_there() -> None:
        if importlib.util.find_spec("scipy") is None:
            raise ImportError("no SciPy")
    module: Any = linalg
    loaded, module.ensure_blas = module.ensure_blas, is_there
    try:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    finally:
        module.ensure_blas = loaded
