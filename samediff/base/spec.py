"""Shapes and types that are known while a graph is built."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import AxisError, ShapeError
from .datatype import DataType

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TensorSpec:
    """The shape and type of an array, known before it exists.

    Parameters
    ----------
    shape : tuple of int, or None
        Sizes; -1 is a size that is not known yet, None an unknown rank.
    dtype : DataType
    value : ndarray, optional
        The value where it is constant, so that shape rules can use it (not part of ``==``).

    Examples
    --------
    >>> TensorSpec((-1, 4), DataType.FLOAT)
    FLOAT(-1, 4)
    """

    shape: Shape | None
    dtype: DataType
    value: Any = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"{self.dtype.name}{'(?)' if self.shape is None else self.shape}"

    @property
    def rank(self) -> int | None:
        """Number of axes, None when unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """True when every size is known."""
        return self.shape is not None and -1 not in self.shape

    def with_shape(self, shape: Shape | None) -> TensorSpec:
        """The same type with another shape."""
        return TensorSpec(shape, self.dtype)

    def with_dtype(self, dtype: DataType) -> TensorSpec:
        """The same shape with another type."""
        return TensorSpec(self.shape, dtype)

    def accepts(self, shape: Sequence[int]) -> bool:
        """True when an array of ``shape`` fits this declaration."""
        own = self.shape
        return own is None or own == shape or (len(shape) == len(own) and all(a in (-1, b) for a, b in zip(own, shape)))


def may_equal(a: Sequence[int] | None, b: Sequence[int] | None) -> bool:
    """Whether two shapes may turn out to be the same, as far as their sizes are known."""
    return a is None or b is None or (len(a) == len(b) and all(-1 in (m, n) or m == n for m, n in zip(a, b)))


def may_spread(shape: Sequence[int] | None, whole: Sequence[int] | None) -> bool:
    """Whether an array of ``shape`` may broadcast to the shape ``whole``, as far as the sizes are known."""
    return shape is None or whole is None or (
        len(shape) <= len(whole) and all(n in (-1, 1, m) or m == -1 for n, m in zip(reversed(shape), reversed(whole))))


def spec_of(array: Any) -> TensorSpec:
    """The specification of an existing array, its value included."""
    return TensorSpec(tuple(array.shape), DataType.of(array.dtype), array)


def broadcast(*shapes: Shape | None) -> Shape | None:
    """Shape of NumPy broadcasting; an unknown size takes the size of its partner.

    Examples
    --------
    >>> broadcast((-1, 4), (1, 4), (4,))
    (-1, 4)
    """
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    rank = max((len(s) for s in known), default=0)
    out = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in known)):
        fixed = {n for n in sizes if n not in (1, -1)}
        if len(fixed) > 1:
            raise ShapeError(f"shapes {' and '.join(map(str, known))} cannot be broadcast: sizes {sorted(fixed)} differ")
        out.append(fixed.pop() if fixed else -1 if -1 in sizes else 1)
    return tuple(out)


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """``axis`` counted from the front; AxisError when it is out of range. A single number counts as a vector of one."""
    most = max(rank, 1)
    if not -most <= axis < most:
        raise AxisError(f"{what} {axis} is out of range for an array of rank {rank}; allowed are {-most} to {most - 1}")
    return axis % rank if rank else 0


def normalize_axes(axes: Iterable[int], rank: int) -> Shape:
    """Sorted distinct axes counted from the front; none given means all."""
    axes = tuple(axes)
    return tuple(sorted({normalize_axis(int(a), rank) for a in axes if rank})) if axes else tuple(range(rank))


def reduced(shape: Shape | None, axes: Sequence[int], keep_dims: bool) -> Shape | None:
    """Shape after a reduction over ``axes`` (none: all of them)."""
    if shape is None:
        return None if axes or keep_dims else ()
    gone = normalize_axes(axes, len(shape))
    return tuple(1 if i in gone else n for i, n in enumerate(shape) if keep_dims or i not in gone)


def size(shape: Shape | None) -> int:
    """Number of elements, -1 when unknown."""
    return -1 if shape is None or -1 in shape else math.prod(shape)


class SymbolicShape(tuple[int | None, ...]):
    """The sizes of a variable, None where one is not known; nothing where the rank is not known; called, the op that gives them."""

    op: Callable[..., Any]

    def __new__(cls, op: Callable[..., Any], sizes: Shape | None) -> SymbolicShape:
        made = super().__new__(cls, [None if n == -1 else n for n in sizes or ()])
        made.op = op
        return made

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The op."""
        return self.op(*args, **options)

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


class SymbolicCount(int):
    """The number of elements of a variable; called, the op that gives it."""

    op: Callable[..., Any]

    def __new__(cls, op: Callable[..., Any], count: int) -> SymbolicCount:
        made = super().__new__(cls, count)
        made.op = op
        return made

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The op."""
        return self.op(*args, **options)

    def __reduce__(self) -> Any:
        return int, (int(self),)
