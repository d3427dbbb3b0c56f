"""Functions of NumPy on arrays: computed or recorded, with results of the same class."""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.translate_errors import name_of_function, raise_known
from .array_class import wrapped
from .recording import new, state


def _plain(value: Any) -> Any:
    """The value with plain arrays of NumPy, whose methods mean what NumPy's own code expects."""
    if isinstance(value, NumpyCalls):
        return np.asarray(value)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A function of arrays, computed on plain ones or recorded; the result as :class:`~.indarray.INDArray`."""
    if state.recorder is not None:
        made = state.recorder.record_function(function, args, options)
        if made is not NotImplemented:
            return made
    return on_plain(function, args, options)


def on_plain(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The function of the arrays as NumPy's, its result as :class:`~.indarray.INDArray`, or the ``out`` that was given."""
    out = options.get("out")
    try:
        result = function(*map(_plain, args), **{k: _plain(v) for k, v in options.items()})
    except Exception as error:
        raise_known(error, name_of_function(function), args, options)
        raise
    return wrapped(result) if out is None else out


class NumpyCalls:
    """NumPy's protocols (``__array_ufunc__``, ``__array_function__``) of an array whose functions can be recorded."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if state.recorder is not None:
            function = ufunc if method == "__call__" else getattr(ufunc, method)
            target = {} if out is None else {"out": out[0] if len(out) == 1 else out}
            made = state.recorder.record_function(function, inputs, options | target)
            if made is not NotImplemented:
                return made
        plain = [x.view(np.ndarray) if isinstance(x, NumpyCalls) else x for x in inputs]  # type: ignore[attr-defined]  # arrays are both
        try:
            if not options and out is None:
                return wrapped(ufunc(*plain) if method == "__call__" else getattr(ufunc, method)(*plain))
            options = {k: _plain(v) for k, v in options.items()}
            if out is not None:
                getattr(ufunc, method)(*plain, out=tuple(map(_plain, out)), **options)
                return out[0] if len(out) == 1 else out
            return wrapped(getattr(ufunc, method)(*plain, **options))
        except Exception as error:
            raise_known(error, f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else ""), inputs, options)
            raise

    def __getitem__(self, index: Any) -> Any:
        if state.recorder is not None:
            made = state.recorder.record_function(operator.getitem, (self, index), {})
            if made is not NotImplemented:
                return made
        try:
            return super().__getitem__(index)  # type: ignore[misc]  # NumPy's, beside this class
        except Exception as error:
            raise_known(error, "array[index]", (self, index), {})
            raise

    def __setitem__(self, index: Any, value: Any) -> None:
        if state.recorder is not None:
            state.recorder.changing(self)
        try:
            super().__setitem__(index, value)  # type: ignore[misc]  # NumPy's, beside this class
        except Exception as error:
            raise_known(error, "array[index] = value", (self, index, value), {})
            raise

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if state.recorder is not None:
            made = state.recorder.record_function(function, args, kwargs)
            if made is not NotImplemented:
                return made
        if not all(issubclass(t, np.ndarray) for t in types):
            return NotImplemented
        return on_plain(function, args, kwargs)


def _of_numpy(name: str) -> Callable[..., Any]:
    """A method of NumPy's arrays whose errors are typed."""
    inherited = getattr(np.ndarray, name)

    @functools.wraps(inherited)
    def method(*args: Any, **kwargs: Any) -> Any:
        try:
            return inherited(*args, **kwargs)
        except Exception as error:
            raise_known(error, f"array.{name}", args, kwargs)
            raise
    method.of_numpy = True  # type: ignore[attr-defined]  # what stands for an array has its own
    method.__doc__ = f"As ``numpy.ndarray.{name}``, with typed errors."
    return method


def _changing(name: str) -> Callable[..., Any]:
    inherited = _of_numpy(name)

    @functools.wraps(inherited)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if state.recorder is not None:
            state.recorder.changing(self)
        return inherited(self, *args, **kwargs)
    method.of_numpy = True  # type: ignore[attr-defined]  # what stands for an array has its own
    method.__doc__ = f"As ``numpy.ndarray.{name}``; a recorder is asked first."
    return method


def _copying(name: str) -> Callable[..., Any]:
    inherited = _of_numpy(name)

    @functools.wraps(inherited)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = inherited(self, *args, **kwargs)
        return made if state.recorder is None or np.may_share_memory(made, self) else new(made)
    method.of_numpy = True  # type: ignore[attr-defined]  # what stands for an array has its own
    method.__doc__ = f"As ``numpy.ndarray.{name}``; a recorder is told of the new array."
    return method


def _with_others(name: str) -> Callable[..., Any]:
    inherited, function = _of_numpy(name), getattr(np, name)

    @functools.wraps(inherited)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if state.recorder is not None and any(map(_stands_in, (*args, *kwargs.values()))):
            return call(function, self, *args, **kwargs)
        return inherited(self, *args, **kwargs)
    method.of_numpy = True  # type: ignore[attr-defined]  # what stands for an array has its own
    method.__doc__ = f"As ``numpy.ndarray.{name}``; recorded where other arrays that it takes are."
    return method


def _recorded(name: str) -> Callable[..., Any]:
    inherited, function = _of_numpy(name), getattr(np, name)

    @functools.wraps(inherited)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return inherited(self, *args, **kwargs) if state.recorder is None else call(function, self, *args, **kwargs)
    method.of_numpy = True  # type: ignore[attr-defined]  # what stands for an array has its own
    method.__doc__ = f"As ``numpy.ndarray.{name}``; recorded as one function, which NumPy makes of several steps in place."
    return method


def _stands_in(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_stands_in, value))
    return hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic))


for _name in ("__bool__", "__complex__", "__float__", "__index__", "__int__", "argpartition", "argsort", "compress", "cumprod", "diagonal",
              "item", "nonzero", "squeeze", "swapaxes", "trace"):
    setattr(NumpyCalls, _name, _of_numpy(_name))
for _name in ("astype", "copy", "flatten"):
    setattr(NumpyCalls, _name, _copying(_name))
for _name in ("choose", "clip", "dot", "searchsorted", "take"):
    setattr(NumpyCalls, _name, _with_others(_name))
NumpyCalls.round = _recorded("round")  # type: ignore[attr-defined]
for _name in ("fill", "partition", "resize", "setfield", "sort"):       # what changes an array in place
    setattr(NumpyCalls, _name, _changing(_name))
