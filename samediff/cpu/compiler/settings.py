"""Settings of LLVM for this machine."""
from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm

from ...base.locks import LockRank, in_child, rlock

_starting, _switching = rlock(LockRank.START), rlock()
_was_off: list[int] = []            # for each block of code that compiles now: the switch before the first of them


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
    set_llvm_options()
    refresh()


def _switch() -> Any:
    """The module of Numba with ``DISABLE_JIT``."""
    return importlib.import_module("numba.core.config")


@contextlib.contextmanager
def jit_enabled() -> Iterator[None]:
    """Numba compiles, whatever ``NUMBA_DISABLE_JIT`` says: functions of users can run as Python, dl4py's own cannot."""
    apply()
    with _switching:
        _was_off.append(_was_off[0] if _was_off else _switch().DISABLE_JIT)
        _switch().DISABLE_JIT = 0
    try:
        yield
    finally:
        with _switching:
            if len(_was_off) == 1:
                _switch().DISABLE_JIT = _was_off[0]
            del _was_off[-1:]           # there is none in a child of this thread


def with_jit_enabled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which may compile in each call."""
    with jit_enabled():
        is_off = _was_off[0]
    return jit_enabled()(lambda *args: function(*args)) if is_off else function


def _forget_others() -> None:
    """In a forked process nobody ends what other threads compile."""
    if _was_off:
        _switch().DISABLE_JIT = _was_off[0]
    _was_off.clear()


in_child(_forget_others)


@functools.cache
def set_llvm_options() -> None:
    """Loops over many arrays need more overlap checks than LLVM's default of 8 before it gives up on vectors."""
    llvm.set_option("", "-runtime-memory-check-threshold=1000")
