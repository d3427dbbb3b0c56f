"""Parts of arrays as DL4J names them: ``NDArrayIndex.all()``, ``point``, ``interval``, ``indices``, ``newAxis``."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.java_names import NDArrayIndexNames
from ..errors import GraphError, OutOfRangeError, ShapeError
from .plain_arguments import whole, wholes


class NDArrayIndex(NDArrayIndexNames):
    """An index for one axis; made by its static methods.

    Positions that are negative count from the end.

    Parameters
    ----------
    kind : str
        "all", "point", "interval", "indices" or "new_axis": the static method that makes it.
    value : int or tuple
        What that method was given.

    Examples
    --------
    >>> from dl4py.samediff import INDArray, NDArrayIndex
    >>> a = INDArray.of([[1, 2, 3], [4, 5, 6]])
    >>> a.get(NDArrayIndex.point(1), NDArrayIndex.interval(0, 2)).tolist()
    [4, 5]
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any = None) -> None:
        self.kind, self.value = kind, value

    def __repr__(self) -> str:
        return f"NDArrayIndex.{self.kind}({'' if self.value is None else self.value})"

    @staticmethod
    def all() -> NDArrayIndex:
        """The whole axis."""
        return NDArrayIndex("all")

    @staticmethod
    def point(position: int) -> NDArrayIndex:
        """One position; the axis goes away."""
        return NDArrayIndex("point", whole(position))

    @staticmethod
    def interval(begin: int, *rest: Any) -> NDArrayIndex:
        """``interval(begin, end)`` or ``interval(begin, stride, end)``, without ``end``; True after these includes it."""
        inclusive = bool(rest) and isinstance(rest[-1], (bool, np.bool_)) and bool(rest[-1])
        numbers = [whole(n) for n in rest if not isinstance(n, (bool, np.bool_))]
        if len(numbers) not in (1, 2):
            raise GraphError(f"interval(begin, end) or interval(begin, stride, end), perhaps with inclusive, got interval{(begin, *rest)}")
        stride = numbers[0] if len(numbers) == 2 else 1
        if stride < 1:
            raise GraphError(f"the stride of an interval is at least 1, got {stride}")
        return NDArrayIndex("interval", (whole(begin), stride, numbers[-1], inclusive))

    @staticmethod
    def indices(*positions: Any) -> NDArrayIndex:
        """Some positions of an axis, in the order given; a position may come twice.

        Parameters
        ----------
        *positions : int or array
            One by one, or as one list; negative ones count from the end.
        """
        given = positions[0] if len(positions) == 1 and isinstance(positions[0], (list, tuple, np.ndarray)) else positions
        return NDArrayIndex("indices", wholes(given))

    specified = indices

    @staticmethod
    def new_axis() -> NDArrayIndex:
        """An axis of size 1 that the array does not have."""
        return NDArrayIndex("new_axis")

    def of_axis(self, axis: int, size: int) -> Any:
        """The index of NumPy for an axis of that size; OutOfRangeError for positions that it does not have."""
        if self.kind == "all":
            return slice(None)
        if self.kind == "point":
            return position(self.value, size, axis)
        if self.kind == "indices":
            return np.array([position(p, size, axis) for p in self.value], np.intp)
        begin, stride, end, inclusive = self.value
        begin = begin + size if begin < 0 else begin
        end = (end + size if end < 0 else end) + inclusive
        if not 0 <= begin <= end <= size:
            raise OutOfRangeError(f"{self!r} does not fit axis {axis}, which has {size} positions")
        return slice(begin, end, stride)


SpecifiedIndex = NDArrayIndex.indices


def position(value: int, size: int, axis: int) -> int:
    """A position counted from the front; OutOfRangeError for one that an axis does not have."""
    value = whole(value)
    if not isinstance(size, int):           # open in a graph: runs check it
        return value
    if not -size <= value < size:
        raise OutOfRangeError(f"position {value} is out of range for axis {axis}, which has {size} positions")
    return value % size


def key_of(indices: Sequence[NDArrayIndex], shape: Sequence[int]) -> tuple[Any, ...]:
    """The index of NumPy for parts of the leading axes; several lists of positions meet as rows and columns do."""
    taken = sum(i.kind != "new_axis" for i in indices)
    if taken > len(shape):
        raise ShapeError(f"{taken} indices for an array of rank {len(shape)} and shape {tuple(shape)}: {list(indices)}")
    axes = iter(range(len(shape)))
    key = [None if i.kind == "new_axis" else i.of_axis(axis := next(axes), shape[axis]) for i in indices]
    return tuple(key)


def is_several(key: Sequence[Any]) -> bool:
    """Whether lists of positions are among the parts, which makes a copy."""
    return any(isinstance(k, np.ndarray) for k in key)


def crossed(key: Sequence[Any], shape: Sequence[int]) -> tuple[Any, ...]:
    """The index that takes every combination of all positions, axis by axis, with points as axes of one position; None is left out."""
    of_axes = [k for k in key if k is not None]
    every = [np.arange(n)[of_axes[i] if i < len(of_axes) and not isinstance(of_axes[i], int) else slice(None)]
             if i >= len(of_axes) or not isinstance(of_axes[i], int) else np.array([of_axes[i]]) for i, n in enumerate(shape)]
    return np.ix_(*every)
