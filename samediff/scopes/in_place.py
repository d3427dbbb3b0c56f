"""Changes of recorded arrays in place: the array stands for a new value, and so do those that look at its memory."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError
from . import shared_memory
from .lazy import LazyINDArray, array_of, depth_of, is_pending, rebind
from .shared_memory import root_of

#: Ops of ``ufunc.at``.
_AT = {np.add.at: "scatter_add", np.subtract.at: "scatter_sub", np.multiply.at: "scatter_mul", np.maximum.at: "scatter_max",
       np.minimum.at: "scatter_min"}

#: Functions of NumPy that change their first argument.
CHANGES = frozenset((np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, *_AT))


def change(trace: Any, function: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """A function that changes its first argument: at once where that and what it takes are arrays from outside that nobody reads."""
    target = args[0]
    if is_pending(target):
        try:
            _changed(trace, function, target, *args[1:], **kwargs)
        except (TypeError, NotInGraphError) as error:
            trace.refuse(f"a change in place by {function.__name__} is not recorded ({error})")
        return None
    if any(map(is_pending, (*args, *kwargs.values()))):
        trace.refuse("arrays are changed in place by values that are only recorded: x = x.add(...) makes a new one")
    trace.changing(target)
    return NotImplemented


def _changed(trace: Any, function: Any, target: LazyINDArray, first: Any, *args: Any, **kwargs: Any) -> None:
    xp, old = trace.xp, array_of(target)
    if function in (np.copyto, np.putmask, np.place):
        value, mask = (first, kwargs.get("where", True)) if function is np.copyto else (args[0], first)
        if function is np.copyto and mask is True:
            assign(trace, target, value)
            return
        if function is not np.copyto and np.size(value) not in ((1,) if function is np.place else (1, old.size)):
            trace.refuse(f"np.{function.__name__} with other values than one is not recorded: np.where(mask, x, y) makes a new array")
        _check(trace, target)
        shared_memory.change(trace, target, _like_old(trace, old, xp.where(trace.inner(mask), xp.astype(
            xp.array_of(trace.inner(value)), old.dtype), old)))
        return
    op, value = _AT.get(function, "scatter_update"), args[0] if args else None
    if function is np.fill_diagonal:
        marks = np.zeros(old.shape, bool)
        np.fill_diagonal(marks, True, *args, **kwargs)
        places, value = np.flatnonzero(marks), first
    elif function is np.put:
        places = xp.array_of(trace.inner(first))
        places = xp.ravel(xp.where(places < 0, places + old.size, places))
    elif function is np.put_along_axis:
        axis = args[1] if len(args) > 1 else kwargs["axis"]
        places = xp.call(np.take_along_axis, (_numbers(trace, old), trace.inner(first)), {"axis": axis})
    else:
        places = _at(trace, old, first)
    if function in _AT:
        _write(trace, target, places, value, op, _loop(trace, function.__self__, old.dtype, value, places))
        return
    if function in (np.fill_diagonal, np.put):
        value = xp.call(np.resize, (xp.array_of(trace.inner(value)), tuple(places.shape)), {})
    _write(trace, target, places, value, op)


def _numbers(trace: Any, x: GraphArray) -> GraphArray:
    """The positions of the elements of an array."""
    return trace.xp.wrap(trace.sd.constant(np.arange(math.prod(x.shape)).reshape(x.shape)))  # type: ignore[no-any-return]


def _at(trace: Any, x: GraphArray, index: Any) -> Any:
    """The positions of the elements that an index chooses."""
    entries = index if isinstance(index, tuple) else (index,)
    if any(isinstance(e, LazyINDArray) for e in entries):
        return trace.xp.getitem(_numbers(trace, x), trace.inner(index))
    return np.arange(math.prod(x.shape)).reshape(x.shape)[index]


def _loop(trace: Any, ufunc: np.ufunc, own: np.dtype[Any], value: Any, places: Any) -> np.dtype[Any]:
    """The type in which ``ufunc.at`` computes on an array of type ``own``, which takes each result as it is or cut off."""
    loop = ufunc.resolve_dtypes((own, getattr(value, "dtype", None) or np.asarray(value).dtype, None), casting="unsafe")[0]
    if loop.kind == own.kind or {loop.kind, own.kind} == {"i", "u"}:
        return own
    if not isinstance(places, np.ndarray) or np.unique(places).size != places.size:     # else results are cut off again and again
        trace.refuse(f"np.{ufunc.__name__}.at on {own} computes in {loop}, and a position may come twice: use values of type {own}")
    return loop


def _write(trace: Any, target: LazyINDArray, places: Any, value: Any, op: str = "scatter_update", dtype: Any = None) -> None:
    """Put values at positions of the elements of an array; ``dtype`` is the type to compute in where it is not the array's."""
    _check(trace, target)
    xp, old = trace.xp, array_of(target)
    dtype = old.dtype if dtype is None else dtype
    rows = _stretched(trace, xp.astype(xp.array_of(trace.inner(value)), dtype), tuple(places.shape))
    where = trace.sd.constant(places.reshape(-1)) if isinstance(places, np.ndarray) else xp.ravel(places).variable
    flat = trace.sd.call("base", op, xp.astype(xp.ravel(old), dtype).variable, where, xp.ravel(rows).variable)
    shared_memory.change(trace, target, xp.reshape(xp.astype(xp.wrap(flat), old.dtype), old.shape))


def assign(trace: Any, target: Any, value: Any) -> Any:
    """Give an array a new value of the same shape and type."""
    _check(trace, target)
    shared_memory.change(trace, target, _like_old(trace, array_of(target), trace.inner(value)))
    return target


def turn(trace: Any, target: LazyINDArray, order: Sequence[int]) -> LazyINDArray:
    """Put the axes of an array in another order; others that look at its memory stay as they are."""
    rebind(target, trace.xp.transpose(array_of(target), tuple(order)))
    return target


def set_item(trace: Any, target: LazyINDArray, index: Any, value: Any) -> None:
    """``target[index] = value``."""
    entries = index if isinstance(index, tuple) else (index,)
    old = array_of(target)
    if sum(e is Ellipsis for e in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if all(e is Ellipsis or (isinstance(e, slice) and e == slice(None)) for e in entries):
        assign(trace, target, value)
        return
    if len(entries) == 1 and isinstance(entries[0], LazyINDArray) and entries[0].dtype == np.bool_:
        _check(trace, target)
        new = trace.xp.where(trace.inner(entries[0]), trace.inner(value), old)
        shared_memory.change(trace, target, _like_old(trace, old, new))
        return
    if -1 in (old.variable.spec.shape or ()):
        trace.refuse("elements of an array with open sizes are assigned: Nd4j.where(mask, value, x) makes a new array")
    try:
        places = _at(trace, old, index)
    except NotInGraphError as error:
        trace.refuse(str(error))
    _write(trace, target, places, value)


def refuse_change(trace: Any, array: Any) -> None:
    """Refuse to change an array from outside in place that recorded nodes read."""
    plain = np.asarray(array)
    if any(np.may_share_memory(np.asarray(a), plain) for a in trace.read()):
        trace.refuse("an array is changed in place that recorded calls are still to read: make a new one (x = x.add(...)), or change it "
                     "before or after")


def _check(trace: Any, target: LazyINDArray) -> None:
    """Refuse to change an array in place where arrays from outside would have to see it."""
    if depth_of(target) != trace.depth:
        trace.refuse("an array from outside is changed in place in the body of a branch or loop, which gives new values by its results")
    if trace.sd.producer(root_of(trace, array_of(target).variable.name())) is None:
        trace.refuse("an array is changed in place that looks at one from outside: x = x.add(...) makes a new one")


def _like_old(trace: Any, old: GraphArray, value: Any) -> GraphArray:
    """A value in the shape and type of the one that it replaces."""
    made = value if isinstance(value, GraphArray) else trace.xp.wrap(trace.sd.constant(np.asarray(value, old.dtype)))
    made = _without_ones(trace, made, old.ndim)
    if -1 in (old.variable.spec.shape or ()) and made.variable.spec.shape != old.variable.spec.shape:
        return trace.xp.broadcast_to(made.astype(old.dtype), old.shape)  # type: ignore[no-any-return]
    return _stretched(trace, made.astype(old.dtype), old.variable.spec.shape)


def _stretched(trace: Any, made: GraphArray, shape: Any) -> GraphArray:
    if made.variable.spec.shape == tuple(shape):
        return made
    return trace.xp.broadcast_to(_without_ones(trace, made, len(shape)), shape)  # type: ignore[no-any-return]


def _without_ones(trace: Any, made: GraphArray, rank: int) -> GraphArray:
    """Without axes of size 1 in front, which NumPy leaves out of what is assigned."""
    more = made.ndim - rank
    return trace.xp.reshape(made, made.shape[more:]) if more > 0 and made.shape[:more] == (1,) * more else made
