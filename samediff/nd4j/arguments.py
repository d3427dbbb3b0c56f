"""Arguments of DL4J's overloads, told apart by their kind."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.default_type import default_type
from ..arrays.plain_arguments import whole, wholes
from ..base.datatype import DataType
from ..errors import GraphError
from ..families.array_code.symbolic_size import SymbolicSize

#: Of whole numbers, and of sizes that are not known while a function is compiled.
Shape = tuple[Any, ...]


def is_size(value: Any) -> bool:
    """Whether a value is one whole number, or a size that is not known yet."""
    return isinstance(value, (int, np.integer, SymbolicSize)) and not isinstance(value, (bool, np.bool_))


def is_open(shape: Sequence[Any]) -> bool:
    """Whether a size is not known yet."""
    return any(isinstance(n, SymbolicSize) for n in shape)


def sizes_of(values: Any) -> Shape:
    """Sizes of a shape: whole numbers from 0, and such as are not known yet.

    Raises
    ------
    DataTypeError, GraphError
        Something else.
    """
    given = values if isinstance(values, Iterable) else [values]
    sizes = tuple(n if isinstance(n, SymbolicSize) else whole(n, "a size") for n in given)
    if any(n < 0 for n in sizes if isinstance(n, int)):
        raise GraphError(f"sizes are 0 or more; got {sizes}")
    return sizes


def is_sizes(value: Any) -> bool:
    """Whether a value is a list or tuple of whole numbers."""
    return isinstance(value, (list, tuple)) and all(is_size(n) for n in value)


def is_order(value: Any) -> bool:
    """Whether a value is one of the orders ``"c"`` and ``"f"``."""
    return isinstance(value, str) and value in ("c", "f")


def is_type(value: Any) -> bool:
    """Whether a value names a data type."""
    return isinstance(value, (DataType, type, np.dtype)) or (
        isinstance(value, str) and not is_order(value) and value.upper() in DataType.__members__)


def flat(values: Sequence[Any]) -> list[Any]:
    """Values, and those of lists and tuples among them."""
    return [v for value in values for v in (value if isinstance(value, (list, tuple)) else [value])]


def arrays_of(values: Sequence[Any]) -> list[Any]:
    """Arrays, given one by one or as one list."""
    return list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(values)


def axes_of(values: Sequence[Any]) -> tuple[int, ...]:
    """Axes, given one by one or as one list; none means all."""
    return wholes(flat(values), "an axis")


class Layout(NamedTuple):
    """Shape, type and order of an array to be made."""

    shape: Shape
    data_type: DataType
    order: str

    @staticmethod
    def of(what: str, args: Sequence[Any], data_type: Any = None, order: str | None = None) -> Layout:
        """Of sizes (one by one or as a list), a data type and an order, in any sequence.

        Raises
        ------
        GraphError
            Anything else among the arguments.
        """
        sizes: list[Any] = []
        for value in args:
            if is_type(value):
                data_type = value
            elif is_order(value):
                order = value
            elif is_size(value) or is_sizes(value):
                sizes += flat([value])
            else:
                raise GraphError(f"{what} takes sizes, a DataType and an order 'c' or 'f'; got {value!r:.60}")
        return Layout(sizes_of(sizes), default_type() if data_type is None else DataType.storable(data_type), order or "c")
