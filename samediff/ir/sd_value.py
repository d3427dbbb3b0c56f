"""A value of a graph that is an array, a list of arrays or a dictionary of them."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.datatype import DataType
from ..base.java.java_enum import JavaEnum
from ..base.javanames import JavaSpelling
from ..errors import GraphError
from ..expressions.arrays import to_numpy


class SDValueType(JavaEnum):
    """Kinds of values that an `SDValue` holds."""

    TENSOR = "TENSOR"
    LIST = "LIST"
    DICT = "DICT"


class SDValue(JavaSpelling):
    """An array, a list of arrays or a dictionary of arrays, under one name (ND4J's ``SDValue``).

    Parameters
    ----------
    kind : SDValueType
        Which of the three it is; :meth:`create` finds it.
    value : array, list or dict
        What it holds.

    Examples
    --------
    >>> SDValue.create([1.0, 2.0]).get_list_value()
    [1.0, 2.0]
    >>> SDValue.create(np.ones(2)).get_tensor_value().tolist()
    [1.0, 1.0]
    """

    def __init__(self, kind: SDValueType, value: Any) -> None:
        self._kind, self._value = kind, value

    @staticmethod
    def create(value: Any) -> SDValue:
        """An `SDValue` of the kind that fits the value."""
        if isinstance(value, Mapping):
            return SDValue(SDValueType.DICT, dict(value))
        if isinstance(value, (list, tuple)):
            return SDValue(SDValueType.LIST, list(value))
        return SDValue(SDValueType.TENSOR, to_numpy(value))

    @staticmethod
    def empty(value_type: SDValueType, data_type: Any = DataType.FLOAT) -> SDValue:
        """Return an empty value: an array of no element of that type, or an empty list or dictionary."""
        kind = SDValueType(value_type)
        made: Any = np.empty(0, DataType.of(data_type).numpy) if kind is SDValueType.TENSOR else [] if kind is SDValueType.LIST else {}
        return SDValue(kind, made)

    def get_sd_value_type(self) -> SDValueType:
        """Return the kind of the value."""
        return self._kind

    def get_tensor_value(self) -> Any:
        """Return the array; of a list of one array, that one."""
        if self._kind is SDValueType.TENSOR:
            return self._value
        if self._kind is SDValueType.LIST and len(self._value) == 1:
            return self._value[0]
        raise GraphError(f"the value is a {self._kind.name} of {len(self._value)} arrays, not one array")

    def get_list_value(self) -> list[Any]:
        """Return the list; of an array, a list of it."""
        if self._kind is SDValueType.DICT:
            raise GraphError("the value is a dictionary; get_dict_value() returns it")
        return [self._value] if self._kind is SDValueType.TENSOR else list(self._value)

    def get_dict_value(self) -> dict[str, Any]:
        """Return the dictionary."""
        if self._kind is not SDValueType.DICT:
            raise GraphError(f"the value is a {self._kind.name}, not a dictionary")
        return dict(self._value)

    def get_collection(self) -> list[Any]:
        """Return all arrays."""
        return list(self._value.values()) if self._kind is SDValueType.DICT else self.get_list_value()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SDValue) or self._kind is not other._kind:
            return False
        keys = list(self._value) == list(other._value) if self._kind is SDValueType.DICT else True
        mine, theirs = self.get_collection(), other.get_collection()
        return keys and len(mine) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SDValue({self._kind.name}, {self._value!r})"

    getSDValueType, getTensorValue, getListValue = get_sd_value_type, get_tensor_value, get_list_value
    getDictValue, getCollection = get_dict_value, get_collection
