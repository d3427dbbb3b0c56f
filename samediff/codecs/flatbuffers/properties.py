"""Property values of nodes: Python values to and from :class:`~.graph.FlatProperties`."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ...base.datatype import DataType
from ...errors import DataTypeError, FileFormatError
from .array import decode_array, encode_array
from .graph import FlatProperties

#: Property with the op that a node of control flow is when it stands alone, in files of this library.
OWN = "dl4py.op"
#: Property of a merge or exit that this library writes: the node of which it is an output.
PART_OF = "dl4py.node"

#: What begins the name of a property with all digits of a whole number that stands elsewhere in DOUBLE, which has not all of them.
EXACT = "dl4py.exact."

_CONVERT: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "l": int, "d": float, "s": str, "a": encode_array}
_BITS = {"i": 32, "l": 64}


def make_property(name: str, value: Any, kind: str | None = None) -> FlatProperties:
    """Store `value` in the vector `kind`: b bool, i int, l long, d double, s string, a array; None: by the value.

    Sequences up to three levels deep are stored flat with their dimensions; None is a property without a value.

    Examples
    --------
    >>> make_property("kH", 3).l, make_property("pad", [[0, 1], [2, 3]], "i").shape
    ((3,), (2, 2))
    """
    if value is None:
        return FlatProperties(name)
    flat: Any = value
    shape: tuple[int, ...] = ()
    if isinstance(value, (list, tuple)):
        shape, flat = _flatten(name, value)
    else:
        flat = [value]
    plain = [item.name if isinstance(item, (DataType, Enum)) else item for item in flat]
    if kind is None:
        kind = _kind_of(name, plain)
    if kind in _BITS and any(int(item) not in range(-(2**(_BITS[kind] - 1)), 2**(_BITS[kind] - 1)) for item in plain):
        raise FileFormatError(f"property {name!r}: {value!r} does not fit {_BITS[kind]} bits")
    return FlatProperties(name, shape=shape, **{kind: tuple(_CONVERT[kind](item) for item in plain)})


def exact_properties(values: Mapping[str, Any]) -> Iterator[FlatProperties]:
    """A property, as text, for each whole number that DOUBLE does not hold."""
    for name, value in values.items():
        if isinstance(value, int) and int(float(value)) != value:
            yield make_property(EXACT + name, str(value), "s")


def exact_values(properties: Sequence[FlatProperties]) -> dict[str, int]:
    """The numbers that :func:`exact_properties` wrote, by name."""
    try:
        return {p.name.removeprefix(EXACT): int(property_value(p)) for p in properties if p.name.startswith(EXACT)}
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"a property {EXACT}... must be the digits of a whole number ({error})") from None


def property_value(stored: FlatProperties) -> Any:
    """Return the value of a property: None, a single value, or nested tuples as its shape says."""
    values: Sequence[Any] = stored.b or stored.i or stored.l or stored.d or stored.s
    if stored.a:
        values = [decode_array(array, f"property {stored.name!r}") for array in stored.a]
    if not stored.shape:
        return None if not values else values[0] if len(values) == 1 else tuple(values)
    size = 1
    for n in stored.shape:
        size *= n
    if min(stored.shape) < 0 or size != len(values):
        raise FileFormatError(f"property {stored.name!r}: {len(values)} values do not fill shape {list(stored.shape)}")
    return _nest(list(values), stored.shape) if size else ()


def _flatten(name: str, value: Sequence[Any]) -> tuple[tuple[int, ...], list[Any]]:
    if not value or not isinstance(value[0], (list, tuple)):
        return (len(value),), list(value)
    parts = [_flatten(name, item) for item in value]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise FileFormatError(f"property {name!r}: rows of different lengths, {value!r}")
    return (len(value), *parts[0][0]), [item for _, flat in parts for item in flat]


def _nest(values: list[Any], shape: Sequence[int]) -> tuple[Any, ...]:
    if len(shape) == 1:
        return tuple(values)
    step = len(values) // shape[0]
    return tuple(_nest(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))


def _kind_of(name: str, values: Sequence[Any]) -> str:
    for kind, types in (("b", (bool, np.bool_)), ("l", (int, np.integer)), ("d", (int, float, np.number)),
                        ("s", (str,)), ("a", (np.ndarray,))):
        if all(isinstance(value, types) and (kind == "b" or not isinstance(value, bool)) for value in values):
            return kind if values else "l"
    raise DataTypeError(f"property {name!r}: {list(values)!r} cannot be stored; expected numbers, texts or arrays")
