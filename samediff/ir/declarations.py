"""Arguments besides the name of calls that make variables: a data type, sizes, or values."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.datatype import DataType
from ..errors import DataTypeError, ShapeError


class Declaration(NamedTuple):
    """A data type and sizes; None where nothing was said."""

    dtype: DataType | None
    sizes: tuple[Any, ...] | None

    def shape(self, what: str, unknown: bool = False) -> tuple[int, ...]:
        """The sizes, checked; none are those of a scalar."""
        return checked_sizes(what, self.sizes or (), unknown)


def declaration(what: str, args: Sequence[Any]) -> Declaration:
    """Read ``FLOAT, 3, 4``, ``3, 4``, ``(3, 4), "FLOAT"`` or a shape descriptor; ``what`` begins the text of errors.

    Examples
    --------
    >>> declaration("variable 'v'", [3, 4]), declaration("variable 'v'", [DataType.INT, (3, 4)])
    (Declaration(dtype=None, sizes=(3, 4)), Declaration(dtype=<DataType.INT>, sizes=(3, 4)))
    """
    if len(args) == 1 and is_descriptor(args[0]):
        return Declaration(args[0].dtype, tuple(args[0].shape))
    types = [k for k, a in enumerate(args) if is_data_type(a)]
    if len(types) > 1 or (types and types[0] not in (0, len(args) - 1)):
        raise DataTypeError(f"{what}: one data type stands before or after the sizes; got {_listed(args)}")
    dtype = None
    if types:
        try:
            dtype = DataType.storable(args[types[0]])
        except DataTypeError as error:
            raise DataTypeError(f"{what}: {error}") from None
    sizes = unpacked([a for a in args if not is_data_type(a)])
    return Declaration(dtype, sizes if sizes or len(args) > len(types) else None)


def is_data_type(value: Any) -> bool:
    """True for what names a data type: one of DL4J's, NumPy's or Python's, or text."""
    return isinstance(value, (DataType, np.dtype, type, str))


def is_size(value: Any) -> bool:
    """True for whole numbers, of Python or NumPy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_descriptor(value: Any) -> bool:
    """True for a shape descriptor: it has a shape and a type, and is no array."""
    return hasattr(value, "shape") and isinstance(getattr(value, "dtype", None), DataType) and not hasattr(value, "__array__")


def are_values(value: Any) -> bool:
    """True for what holds values: arrays, and lists of anything but whole numbers (which are sizes, as Java's ``int[]``)."""
    if isinstance(value, (list, tuple)):
        return not all(map(is_size, value))
    return not (value is None or (isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic))
                or is_data_type(value) or is_size(value) or is_descriptor(value))


def unpacked(values: Any) -> tuple[Any, ...]:
    """Values given one by one, or as one list."""
    return tuple(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else tuple(values)


def checked_sizes(what: str, values: Sequence[Any], unknown: bool = False) -> tuple[int, ...]:
    """The sizes as whole numbers; ShapeError for others. ``unknown`` allows -1, and no size of 0."""
    for v in values:
        if not is_size(v):
            raise ShapeError(f"{what}: sizes are whole numbers, got {_listed(values)}; {_advice(v)}")
    sizes = tuple(operator.index(v) for v in values)
    for n in sizes:
        if n < (-1 if unknown else 0):
            raise ShapeError(f"{what}: shape {sizes}: sizes are positive{' or -1 (unknown)' if unknown else ''}, got {n}")
        if n == 0 and unknown:
            raise ShapeError(f"{what}: shape {sizes}: a size of 0 would make an empty array")
    return sizes


def _advice(size: Any) -> str:
    if isinstance(size, np.ndarray):
        return "sizes in an array are given as a list, such as shape.tolist()"
    return "values are given as an array (np.array(...))"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values))
