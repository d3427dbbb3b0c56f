"""Indexing of variables: points, intervals and everything."""
from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..base.javanames import JavaSpelling
from ..errors import DataTypeError, GraphError, ShapeError
from .protocols import Variable

V = TypeVar("V", bound=Variable)


@dataclass(frozen=True)
class SDIndex(JavaSpelling):
    """One axis of an index: ``SDIndex.all()``, ``.point(i)``, ``.interval(begin, [stride,] end)``.

    Intervals are half open; negative positions count from the end, None is an open end.

    Parameters
    ----------
    kind : str
        "point" or "interval".
    begin : int, optional
        The position, or where an interval begins.
    stride : int
        From one position to the next; 1 by default.
    end : int, optional
        Where an interval ends, without that position.
    keep_dim : bool
        Whether the axis of a point stays, with size 1; False by default.
    """

    kind: str
    begin: Any = None
    stride: Any = 1
    end: Any = None
    keep_dim: bool = False

    def __post_init__(self) -> None:
        for name in ("begin",) if self.kind == "point" else ("begin", "stride", "end"):
            object.__setattr__(self, name, _whole(f"SDIndex.{self.kind}: {'position' if self.kind == 'point' else name}",
                                                  getattr(self, name), self.kind == "interval"))

    @staticmethod
    def all() -> SDIndex:
        """The whole axis."""
        return SDIndex("interval")

    @staticmethod
    def point(position: int, keep_dim: bool = False) -> SDIndex:
        """One position; the axis goes away unless ``keep_dim``."""
        return SDIndex("point", position, keep_dim=keep_dim)

    @staticmethod
    def interval(begin: Any, stride_or_end: Any, end: Any = ..., inclusive: bool = False) -> SDIndex:
        """``begin`` to ``end`` without it: ``interval(begin, end)`` or ``interval(begin, stride, end)``."""
        stride, end = (1, stride_or_end) if end is ... else (stride_or_end, end)
        if inclusive and end is not None:
            end = None if end == -1 else _whole("SDIndex.interval: end", end) + 1
        return SDIndex("interval", begin, 1 if stride is None else stride, end)


def _whole(what: str, value: Any, may_be_open: bool = False) -> Any:
    """A whole number, or None where an end ``may_be_open``; DataTypeError for anything else, truth values among them."""
    if value is None and may_be_open:
        return None
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise DataTypeError(f"{what} must be a whole number; got {value!r:.60}") from None


def needs_arrays(indices: tuple[Any, ...]) -> bool:
    """Whether indices contain arrays or several variables, which a plain slice or gather node cannot express."""
    variables = [hasattr(i, "get_variable_type") for i in indices]
    if any(variables):
        return len(indices) > 1
    arrays = [i for i in indices if isinstance(i, (np.ndarray, list))]
    return bool(arrays) and all(np.asarray(i).dtype.kind in "iub" for i in arrays)


def index_spec(x: V, indices: tuple[Any, ...]) -> V:
    """``x[indices]`` as a graph node."""
    if len(indices) == 1 and hasattr(indices[0], "get_variable_type"):
        return x.sd.call("base", "gather", x, indices[0], 0)  # type: ignore[no-any-return]
    axes = [_axis(i) for i in _expanded(x, indices)]
    if x.spec.shape is not None and len([a for a in axes if a != "new"]) > len(x.spec.shape):
        raise ShapeError(f"{len(axes)} indices for {x!r} of rank {len(x.spec.shape)}")
    return x.sd.call("base", "index", x, tuple(axes))  # type: ignore[no-any-return]


def _expanded(x: Variable, indices: tuple[Any, ...]) -> list[Any]:
    if Ellipsis not in [i for i in indices if i is Ellipsis]:
        return list(indices)
    if x.spec.shape is None:
        raise GraphError(f"'...' needs a known rank, {x!r} has none")
    at = next(k for k, i in enumerate(indices) if i is Ellipsis)
    missing = len(x.spec.shape) - sum(1 for i in indices if i is not None) + 1
    return [*indices[:at], *[slice(None)] * missing, *indices[at + 1:]]


def _axis(index: Any) -> tuple[Any, ...] | str:
    """An index as plain data: ("point", i, keep), ("slice", begin, end, stride) or "new"."""
    if index is None:
        return "new"
    if isinstance(index, SDIndex):
        if index.kind == "point":
            return ("point", index.begin, index.keep_dim)
        return ("slice", index.begin, index.end, index.stride)
    if isinstance(index, slice):
        begin, end, stride = (_whole(f"the {n} of a slice", v, True) for n, v in zip(("start", "stop", "step"),
                                                                                     (index.start, index.stop, index.step)))
        return ("slice", begin, end, 1 if stride is None else stride)
    try:
        return ("point", _whole("a position", index), False)
    except DataTypeError:
        raise GraphError(f"cannot index with {index!r}: use numbers, slices, None, '...' or SDIndex; sd.gather takes variables") from None
