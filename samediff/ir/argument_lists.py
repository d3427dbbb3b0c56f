"""The lists of arguments of DL4J's ops, with the methods that fill and read them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..errors import GraphError
from .signature import Mismatch, coerce

#: The lists and the types of what they hold.
LISTS: dict[str, Any] = {"i_arguments": int, "t_arguments": float, "b_arguments": bool, "d_arguments": DataType, "s_arguments": str}


class JavaList(list[Any]):
    """A list that also has the methods of Java's, and gives itself when it is called: a field and a method of one name."""

    def __call__(self) -> JavaList:
        return self

    def get(self, i: int) -> Any:
        """The element at ``i``."""
        return self[i]

    def add(self, value: Any) -> bool:
        """As ``append``."""
        self.append(value)
        return True

    def add_all(self, values: Any) -> bool:
        """As ``extend``."""
        self.extend(values)
        return True

    addAll = add_all

    def size(self) -> int:
        """Number of elements."""
        return len(self)

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self

    isEmpty = is_empty


def at(values: Sequence[Any], i: Any, what: str) -> Any:
    """One of some values, counted from the front or, negative, from the end; GraphError where there is none."""
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not -len(values) <= i < len(values):
        raise GraphError(f"{what} are asked for by their number, 0 to {len(values) - 1}; got {i!r:.40}" if values else
                         f"{what} are asked for, there are none; got {i!r:.40}")
    return values[int(i)]


def _methods(kind: str) -> tuple[Callable[..., None], Callable[..., Any], Callable[..., list[Any]], Callable[..., int],
                                 Callable[..., None]]:
    """The methods for one of the lists."""
    field = f"{kind}_arguments"

    def add(self: Any, *values: Any) -> None:
        """Add values to the list: one after the other, or in one list."""
        self.still_open(field)
        given = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple, np.ndarray)) else values
        getattr(self, field).extend(argument(self, field, v) for v in given)

    def get(self: Any, i: int) -> Any:
        """The value at ``i``."""
        return at(getattr(self, field), i, f"the {field} of op {self.op_name()!r}")

    def everything(self: Any) -> list[Any]:
        """All values."""
        return list(getattr(self, field))

    def count(self: Any) -> int:
        """Number of values."""
        return len(getattr(self, field))

    def remove(self: Any, value: Any) -> None:
        """Remove the first of these values from the list."""
        self.still_open(field)
        if value not in getattr(self, field):
            raise GraphError(f"{value!r:.60} is not among the {field} of op {self.op_name()!r}: {getattr(self, field)}")
        getattr(self, field).remove(value)

    remove.__name__ = f"remove_{kind}_argument"
    add.__name__, get.__name__, everything.__name__ = f"add_{kind}_argument", f"get_{kind}_argument", f"{kind}_args"
    count.__name__ = f"num_{field}"
    return add, get, everything, count, remove


class ArgumentLists:
    """``add_i_argument(1, 2)``, ``get_i_argument(0)``, ``i_args()``, ``num_i_arguments()`` for each list: i, t, b, d, s."""

    i_arguments: list[int]
    t_arguments: list[float]
    b_arguments: list[bool]
    d_arguments: list[DataType]
    s_arguments: list[str]

    def op_name(self) -> str:
        """Name of the op."""
        raise NotImplementedError

    add_i_argument, get_i_argument, i_args, num_i_arguments, remove_i_argument = _methods("i")
    add_t_argument, get_t_argument, t_args, num_t_arguments, remove_t_argument = _methods("t")
    add_b_argument, get_b_argument, b_args, num_b_arguments, remove_b_argument = _methods("b")
    add_d_argument, get_d_argument, d_args, num_d_arguments, remove_d_argument = _methods("d")
    add_s_argument, get_s_argument, s_args, num_s_arguments, remove_s_argument = _methods("s")

    # What DL4J's ops say of properties: attributes are known when an op is made, under their own names.

    def mappings_for_function(self) -> dict[str, dict[str, str]]:
        """The attributes behind properties, by op name; by default none."""
        return {}

    def attribute_adapters_for_function(self) -> dict[str, dict[str, str]]:
        """The file form of properties that are no plain numbers, by op name; by default none."""
        return {}

    def properties_to_resolve(self) -> list[str]:
        """Names of properties that are resolved before an execution; by default none."""
        return []

    def resolve_properties_from_same_diff_before_execution(self) -> None:
        """Nothing to do: values that inputs give are inputs."""

    def no_arguments(self) -> None:
        """Reset all argument lists to empty ones."""
        vars(self).update([(field, []) for field in LISTS])

    def still_open(self, field: str) -> None:
        """Raise an error where arguments may no longer be added to the op."""


def argument(op: ArgumentLists, field: str, value: Any) -> Any:
    """A value for a list of arguments; GraphError for one of another type, which no file could hold."""
    try:
        found = coerce(LISTS[field], value, f"each of its {field}")
    except Mismatch as error:
        raise GraphError(f"op {op.op_name()!r}: {error}") from None
    if isinstance(found, int) and not -2**63 <= found < 2**63:
        raise GraphError(f"op {op.op_name()!r}: each of its {field} must fit 64 bits; got {value!r:.60}")
    return found
