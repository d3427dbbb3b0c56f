"""Functions for compiled code. Numba hears of them when one is compiled, not before: a process whose kernels all come from the disk
never loads it.
"""
# mypy: ignore-errors
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ...base.lazy_property import lazy_property
from ...base.locks import LockRank, rlock
from ..cache.symbols import make_known

_typing = rlock(LockRank.TYPES)


class LazyModule:
    """A module that is imported when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


types, cgutils = LazyModule("numba.types"), LazyModule("numba.core.cgutils")


class _ForCompiledCode:
    """A name in compiled code: Numba asks for its type when it meets it."""

    @property
    def _numba_type_(self) -> Any:
        prepare()
        from .choice import compiler
        chosen = compiler()
        with _typing:           # a compiler knows it by one type
            types = self._types
            return types[chosen] if chosen in types else types.setdefault(chosen, self._type(chosen))

    @lazy_property
    def _types(self) -> dict[Any, Any]:
        return {}               # by compiler

    def _type(self, compiler: Any) -> Any:
        raise NotImplementedError


class JitFunction(_ForCompiledCode):
    """A function that Numba compiles: callable from compiled code without Python; ``dispatcher`` makes the function for Python."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], dispatcher: Callable[..., Any] | None = None) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.options, self._dispatcher, self._inner = function, options, dispatcher, None

    def __reduce__(self) -> str:
        return self.__qualname__            # found again by name

    def _type(self, compiler: Any) -> Any:
        self._inner = compiler.inner(self.py_func, self.options)        # its type does not keep it
        return self._inner._numba_type_

    @lazy_property
    def _called(self) -> Any:
        from .settings import jit_enabled, with_jit_enabled
        with jit_enabled():
            from numba import njit
            make_known(4, 8)        # Numba's own cache brings code that names them
            made = (self._dispatcher or (lambda f: njit(**self.options)(f)))(self.py_func)
        return with_jit_enabled(made)

    def __call__(self, *args: Any) -> Any:
        return self._called(*args)


def function(**options: Any) -> Callable[[Callable[..., Any]], JitFunction]:
    """Decorator: compiled with these options of Numba."""
    return lambda f: JitFunction(f, options)


class _Intrinsic(_ForCompiledCode):
    def __init__(self, define: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, define)
        self._define, self._options, self._intrinsic = define, options, None

    def _type(self, compiler: Any) -> Any:
        from numba.extending import intrinsic as made

        from .target import type_of
        self._intrinsic = made(**self._options)(self._define) if self._options else made(self._define)
        return type_of(self._intrinsic)

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(f"{self.__name__} is for compiled code")


def intrinsic(define: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator like ``numba.extending.intrinsic``."""
    return _Intrinsic(define, options) if define is not None else lambda f: _Intrinsic(f, options)


class TypeDispatch(_ForCompiledCode):
    """A function of one number: one of these for float32, the other for float64."""

    def __init__(self, name: str, single: JitFunction, double: JitFunction) -> None:
        self.__name__, self.single, self.double = name, single, double

    def _type(self, compiler: Any) -> Any:
        return compiler.by_type(self, self.single, self.double)


@functools.cache
def prepare() -> None:
    """Settings of Numba and LLVM, before anything is compiled."""
    from . import settings
    settings.apply()

