"""Functions of NumPy that only move elements: they are run on the positions of the elements, which one gather then follows."""
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..families.array_code.graph_array import GraphArray
from ..families.array_code.symbolic_size import NotInGraphError, SymbolicSize

#: Functions that move, repeat and leave out elements, or fill up with zeros.
REARRANGES = frozenset((
    np.append, np.array_split, np.block, np.column_stack, np.delete, np.diag, np.diagflat, np.diagonal, np.dsplit, np.dstack, np.flip,
    np.fliplr, np.flipud, np.hsplit, np.hstack, np.insert, np.pad, np.resize, np.roll, np.rot90, np.rollaxis, np.split, np.tril, np.triu,
    np.vsplit, np.vstack))

#: Those whose elements may be numbers and lists too.
_JOINS = (np.append, np.insert, np.block, np.column_stack, np.dstack, np.hstack, np.vstack)


def _arguments(xp: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name, with arrays in the places of elements: the first one, and ``values``; all others must be known."""
    def arrays(value: Any) -> Any:
        return type(value)(map(arrays, value)) if isinstance(value, (tuple, list)) and _has_array(value) else xp.array_of(value)
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    if "kwargs" in given:                               # of np.pad
        given |= given.pop("kwargs")
    elements = (next(iter(given)), "values")
    for name, value in given.items():
        if name in elements:
            given[name] = arrays(value) if function in _JOINS else value
        elif _has_array(value) and name != "constant_values":
            raise NotInGraphError(f"its {name} must be known while the graph is built, and that of a variable is not")
    if function is np.insert:
        given["values"] = xp.astype(given["values"], given["arr"].dtype)
    return given


def _has_array(value: Any) -> bool:
    return isinstance(value, GraphArray) or (isinstance(value, (tuple, list)) and any(map(_has_array, value)))


def rearranged(xp: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of one of :data:`REARRANGES`."""
    found: list[GraphArray] = []
    memories: list[Any] = []
    start = 1                                           # position 0 is the zero that fills up

    def places(value: Any) -> Any:
        nonlocal start
        if isinstance(value, (tuple, list)):
            return type(value)(map(places, value))
        if not isinstance(value, GraphArray):
            return value
        shape = _static(value)
        found.append(value)
        made = np.arange(start, start + math.prod(shape)).reshape(shape)
        start += made.size
        memories.append(made)
        return made

    given = _arguments(xp, function, args, kwargs)
    filling, dtype = given.pop("constant_values", 0), given.pop("dtype", None)
    if function is np.pad and (np.ndim(filling) or given.get("mode", "constant") not in (
            "edge", "reflect", "symmetric", "wrap", "constant")):
        raise NotInGraphError("np.pad with several values, or with values that are computed, has no graph node")
    made = function(**{k: places(v) for k, v in given.items()})
    if not found or np.asarray(made[0] if isinstance(made, list) else made).dtype.kind not in "iu":
        raise NotInGraphError(f"np.{function.__name__} called like this has no graph node")
    if any(isinstance(v, np.ndarray) and v.ndim for v in given.values()):
        raise NotInGraphError(f"np.{function.__name__} of recorded arrays beside others has no graph node")
    alike = xp.alike(found) if dtype is None else [xp.astype(a, dtype) for a in found]
    whole = xp.ravel(alike[0]) if len(alike) == 1 else xp.concatenate([xp.ravel(a) for a in alike])
    places_of = made if isinstance(made, (list, tuple)) else [made]
    parts = [_gathered(xp, whole, p, filling) for p in places_of]
    for part, p in zip(parts, places_of):
        for source, memory in zip(found, memories):
            if np.may_share_memory(p, memory):
                xp.trace.looks_at(part, source, p - memory.reshape(-1)[0])
    return parts if isinstance(made, (list, tuple)) else parts[0]


def positions(xp: Any, pick: Callable[[Any], Any], x: GraphArray) -> GraphArray:
    """The elements of ``x`` that ``pick`` takes of an array of its shape."""
    shape = _static(x)
    return _gathered(xp, xp.ravel(x), np.asarray(pick(np.arange(1, 1 + math.prod(shape)).reshape(shape))))


def _gathered(xp: Any, flat: GraphArray, places: Any, filling: Any = 0) -> GraphArray:
    if not places.any():                                    # nothing is taken, or nothing is there
        made = xp.wrap(xp.sd.constant(np.zeros(places.shape, flat.dtype)))
        return xp.astype(made + filling, flat.dtype) if isinstance(filling, GraphArray) or filling else made  # type: ignore[no-any-return]
    rows = xp.sd.call("base", "gather", flat.variable, xp.sd.constant(np.maximum(places.reshape(-1) - 1, 0)), 0)
    made = xp.reshape(xp.wrap(rows), places.shape)
    other = filling if isinstance(filling, GraphArray) else flat.dtype.type(filling)
    return xp.astype(xp.where(places > 0, made, other), flat.dtype) if (places == 0).any() else made  # type: ignore[no-any-return]


def _static(x: GraphArray) -> tuple[int, ...]:
    if any(isinstance(n, SymbolicSize) for n in x.shape):
        raise NotInGraphError("a function that needs all sizes has no graph node where one is left open")
    return x.shape
