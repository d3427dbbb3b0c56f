"""The data types of a graph and their NumPy counterparts."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..errors import DataTypeError, did_you_mean
from .java.java_enum import JavaEnum

_TABLE: dict[str, tuple[int, Any]] = {  # name: (code in files, NumPy type)
    "BOOL": (1, np.bool_),
    "HALF": (3, np.float16),
    "FLOAT": (5, np.float32),
    "DOUBLE": (6, np.float64),
    "BYTE": (7, np.int8),
    "SHORT": (8, np.int16),
    "INT": (9, np.int32),
    "LONG": (10, np.int64),
    "UBYTE": (11, np.uint8),
    "UINT16": (12, np.uint16),
    "UINT32": (13, np.uint32),
    "UINT64": (14, np.uint64),
    "BFLOAT16": (17, ml_dtypes.bfloat16),
    "UTF8": (50, np.object_),
}


class DataType(JavaEnum):
    """Element type of an array: DL4J's 14 types, with the codes that its files use, and two that no array here has.

    ``FLOAT16``, ``INT8`` … are accepted as other spellings of ``HALF``, ``BYTE`` …

    Examples
    --------
    >>> DataType.FLOAT.numpy
    dtype('float32')
    >>> DataType.of("float64")
    <DataType.DOUBLE>
    """

    BOOL = "BOOL"
    HALF = "HALF"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BYTE = "BYTE"
    SHORT = "SHORT"
    INT = "INT"
    LONG = "LONG"
    UBYTE = "UBYTE"
    UINT16 = "UINT16"
    UINT32 = "UINT32"
    UINT64 = "UINT64"
    BFLOAT16 = "BFLOAT16"
    UTF8 = "UTF8"
    COMPRESSED = "COMPRESSED"
    UNKNOWN = "UNKNOWN"
    FLOAT16 = HALF
    INT8 = BYTE
    INT16 = SHORT
    INT32 = INT
    INT64 = LONG
    UINT8 = UBYTE

    def __init__(self, name: str) -> None:
        code, kind = _TABLE.get(name, (-1, np.object_))
        self.code: int = code
        self.numpy: np.dtype[Any] = np.dtype(kind)

    def __repr__(self) -> str:
        return f"<DataType.{self.name}>"

    @property
    def is_floating(self) -> bool:
        """True for HALF, BFLOAT16, FLOAT and DOUBLE."""
        return self in _FLOATING

    @property
    def is_integer(self) -> bool:
        """True for the eight integer types (not BOOL)."""
        return self.numpy.kind in "iu"

    @property
    def is_numeric(self) -> bool:
        """True for everything but UTF8, COMPRESSED and UNKNOWN."""
        return self.code not in (-1, 50)

    def is_fp_type(self) -> bool:
        """DL4J's spelling of :attr:`is_floating`."""
        return self.is_floating

    def is_int_type(self) -> bool:
        """DL4J's spelling of :attr:`is_integer`."""
        return self.is_integer

    def is_numerical(self) -> bool:
        """True for floating and integer types, as in DL4J; :attr:`is_numeric` counts BOOL too."""
        return self.is_floating or self.is_integer

    def is_signed(self) -> bool:
        """True for floating types and integers with a sign."""
        return self.is_floating or self.numpy.kind == "i"

    def width(self) -> int:
        """Bytes of an element; -1 for UTF8, COMPRESSED and UNKNOWN."""
        return self.numpy.itemsize if self.is_numeric else -1

    isFloating, isInteger, isNumeric = is_floating, is_integer, is_numeric
    isFPType, isIntType, isNumerical, isSigned = is_fp_type, is_int_type, is_numerical, is_signed

    @staticmethod
    def of(kind: Any) -> DataType:
        """Return the data type for a DataType, a name, a NumPy type or an array."""
        if isinstance(kind, DataType):
            return kind
        if isinstance(kind, str) and kind.upper() in DataType.__members__:
            return DataType[kind.upper()]
        try:
            given = kind if isinstance(kind, type) else getattr(kind, "dtype", kind)
            strange = given is None or (isinstance(given, str) and given.startswith("a"))     # float64 and, with a warning, bytes to NumPy
            dtype = np.dtype("none" if strange else given)
        except (TypeError, ValueError):
            near = did_you_mean(kind.upper(), DataType.__members__) if isinstance(kind, str) else ""
            raise DataTypeError(f"expected a data type, a NumPy type or an array; got {kind!r}{near}") from None
        found = _BY_NUMPY.get(dtype)
        if found is None and dtype.kind in "USO":
            return DataType.UTF8
        if found is None:
            names = ", ".join(_TABLE)
            raise DataTypeError(f"arrays of type {dtype} cannot be used; known types: {names}")
        return found

    @staticmethod
    def storable(kind: Any) -> DataType:
        """As :meth:`of`, for what an array is to be: COMPRESSED and UNKNOWN are a DataTypeError."""
        found = DataType.of(kind)
        if found.code < 0:
            raise DataTypeError(f"no array is of type {found.name}; types of arrays: {', '.join(_TABLE)}")
        return found

    @staticmethod
    def from_code(code: int) -> DataType:
        """Return the data type of a code in DL4J's files."""
        found = _BY_CODE.get(code)
        if found is None:
            raise DataTypeError(f"unknown data type code {code}; known codes: {sorted(_BY_CODE)}")
        return found

    fromCode = from_code


_BY_CODE = {t.code: t for t in DataType if t.code >= 0}
_BY_NUMPY = {t.numpy: t for t in DataType if t.is_numeric}
_FLOATING = frozenset({DataType.HALF, DataType.BFLOAT16, DataType.FLOAT, DataType.DOUBLE})


def is_floating(dtype: np.dtype[Any]) -> bool:
    """True for float16, bfloat16, float32 and float64: NumPy's kind of bfloat16 is not that of floating numbers."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_real(dtype: np.dtype[Any]) -> bool:
    """True for floating and whole numbers and truth values."""
    return dtype.kind in "iub" or is_floating(dtype)
