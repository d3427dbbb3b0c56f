"""Settings of LLVM for this machine."""
from __future__ import annotations

import functools
from typing import Any

import llvmlite.binding as llvm

from ...base.locks import LockRank, rlock

_starting = rlock(LockRank.START)


@functools.cache
def features() -> dict[str, bool]:
    """The features of this CPU, by LLVM's names."""
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
    from numba import config

    from .target import refresh
    settings: Any = config
    if not settings.CPU_NAME and not settings.CPU_FEATURES and features().get("avx512f"):
        settings.CPU_NAME, settings.CPU_FEATURES = target()
    tell_llvm()
    refresh()


@functools.cache
def tell_llvm() -> None:
    """Loops over many arrays need more overlap checks than LLVM's default of 8 before it gives up on vectors."""
    llvm.set_option("", "-runtime-memory-check-threshold=1000")
