"""Values of records as DL4J wraps them: they are Python's numbers and texts, and have Java's methods besides."""
from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import WritableNames
from ...base.user_code.users_arrays import users_array
from ...configuration.classes import find_class, register
from ...errors import DataTypeError
from ...text.java_text import java_number

__all__ = [
    "BooleanWritable", "DoubleWritable", "FloatWritable", "IntWritable", "LongWritable", "NDArrayWritable", "NullWritable", "Text",
    "Writable", "WritableType",
]

_INT = 1 << 31


class WritableType(JavaEnum):
    """Kinds of values."""

    Boolean = "Boolean"
    Double = "Double"
    Float = "Float"
    Int = "Int"
    Long = "Long"
    Null = "Null"
    Text = "Text"
    NDArray = "NDArray"


class Writable(WritableNames):
    """Base of DL4J's values; everything takes plain numbers, texts and arrays too.

    Examples
    --------
    >>> IntWritable(3).toDouble(), DoubleWritable(0.5) + 1, Text("7").toInt()
    (3.0, 1.5, 7)
    """

    kind: ClassVar[WritableType]

    def get(self) -> Any:
        """The plain value."""
        return self

    def get_type(self) -> WritableType:
        """The kind of the value."""
        return self.kind

    def to_double(self) -> float:
        """The value as a number."""
        return float(self.get())

    def to_float(self) -> float:
        """The value as a number of 32 bits."""
        return float(np.float32(self.get()))

    def to_int(self) -> int:
        """The value without its fraction."""
        return int(float(self.get()))

    def to_long(self) -> int:
        """The value without its fraction."""
        return int(self.get())

    def to_document(self) -> dict[str, Any]:
        """The value as DL4J's JSON has it."""
        return {"@class": f"org.datavec.api.writable.{type(self).__name__}", **self._document()}

    def _document(self) -> dict[str, Any]:
        return {"value": self.get()}

    def __str__(self) -> str:
        return text_of(self.get())

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The value of DL4J's JSON."""
        return cls(document.get("value"))  # type: ignore[call-arg]  # of the sub-classes


class _WholeWritable(int, Writable):
    """Base of whole numbers.

    Parameters
    ----------
    value : int, default 0
        The value.

    Raises
    ------
    DataTypeError
        A number that has more bits.
    """

    bits: ClassVar[int]

    def __new__(cls, value: Any = 0) -> Self:
        made = super().__new__(cls, value)
        if not -1 << cls.bits - 1 <= made < 1 << cls.bits - 1:
            raise DataTypeError(f"{cls.__name__} holds whole numbers of {cls.bits} bits, not {made:d}")
        return made

    def get(self) -> int:
        return int(self)


class IntWritable(_WholeWritable):
    """A whole number of 32 bits."""

    kind, bits = WritableType.Int, 32


class LongWritable(_WholeWritable):
    """A whole number of 64 bits."""

    kind, bits = WritableType.Long, 64


class DoubleWritable(float, Writable):
    """A number.

    Parameters
    ----------
    value : float, default 0
        The value.
    """

    kind = WritableType.Double

    def __new__(cls, value: float = 0.0) -> Self:
        return super().__new__(cls, value)

    def get(self) -> float:
        return float(self)


class FloatWritable(float, Writable):
    """A number of 32 bits.

    Parameters
    ----------
    value : float, default 0
        The value.
    """

    kind = WritableType.Float

    def __new__(cls, value: float = 0.0) -> Self:
        with np.errstate(over="ignore"):
            return super().__new__(cls, np.float32(value))

    def __str__(self) -> str:
        return text_of(np.float32(self))

    def _document(self) -> dict[str, Any]:
        return {"value": float(str(self))}

    def get(self) -> float:
        return float(self)


class BooleanWritable(int, Writable):
    """A truth value.

    Parameters
    ----------
    value : bool
        The value.
    """

    kind = WritableType.Boolean

    def __new__(cls, value: bool) -> Self:
        return super().__new__(cls, bool(value))

    def get(self) -> bool:
        return bool(self)


class Text(str, Writable):
    """A text.

    Parameters
    ----------
    value : object, default an empty text
        What it is the text of.
    """

    kind = WritableType.Text

    def __new__(cls, value: object = "") -> Self:
        return super().__new__(cls, value)

    def get(self) -> str:
        return str.__str__(self)

    def _document(self) -> dict[str, Any]:
        held = self.encode()
        return {"bytes": base64.b64encode(held).decode(), "length": len(held)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        if "bytes" not in document:
            return cls(document.get("value", ""))
        return cls(base64.b64decode(document["bytes"])[:int(document["length"])].decode())


class NullWritable(Writable):
    """Nothing.

    Parameters
    ----------
    value : None
        Without meaning: files have the place.
    """

    kind = WritableType.Null
    INSTANCE: ClassVar[NullWritable]

    def __init__(self, value: None = None) -> None:
        pass

    def get(self) -> None:
        return None

    def _document(self) -> dict[str, Any]:
        return {}

    def __str__(self) -> str:
        return "NullWritable"

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, NullWritable)

    def __hash__(self) -> int:
        return hash(None)


NullWritable.INSTANCE = NullWritable()


class NDArrayWritable(Writable):
    """An array.

    Parameters
    ----------
    array : array-like
        The values.
    """

    kind = WritableType.NDArray

    def __init__(self, array: Any) -> None:
        self._array = np.asarray(array)

    def get(self) -> Any:
        return self._array

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self._array, *args, **options)


WRITABLES = (BooleanWritable, DoubleWritable, FloatWritable, IntWritable, LongWritable, NullWritable, Text)
for _kind in WRITABLES:
    register(f"org.datavec.api.writable.{_kind.__name__}", _kind)


class WritableValue:
    """The type of options that hold a value of a record: plain ones are wrapped, as DL4J's files have them."""

    @classmethod
    def of(cls, value: Any) -> Any:
        """The value as DL4J has it, of a plain one or of its JSON."""
        if isinstance(value, Mapping):
            return find_class(str(value.get("@class")), "value").from_document(value)
        if isinstance(value, Writable):
            return value
        given = plain(value)
        if isinstance(given, bool):
            return BooleanWritable(given)
        if isinstance(given, int):
            return IntWritable(given) if -_INT <= given < _INT else LongWritable(given)
        return DoubleWritable(given) if isinstance(given, float) else Text(given) if isinstance(given, str) else given


def as_writables(values: Any) -> Any:
    """The values of a record, or of the records of a sequence, as DL4J's; arrays have its methods."""
    return [as_writables(v) if isinstance(v, list) else users_array(v) if isinstance(v, np.ndarray) else WritableValue.of(v)
            for v in values]


def plain(value: Any) -> Any:
    """The value itself, where DL4J or NumPy wrap it; text of what is neither number nor array."""
    if isinstance(value, Writable):
        return value.get()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    get = getattr(value, "toDouble", None) or getattr(value, "to_double", None)
    if get is not None:
        return get()
    return value.name if isinstance(value, Enum) else value


def text_of(value: Any) -> str:
    """The text of a value, as Java has it: ``true``, ``1.0E10``; an empty one of none.

    Examples
    --------
    >>> text_of(True), text_of(1e10), text_of(np.float32(0.1)), text_of(7), text_of(None)
    ('true', '1.0E10', '0.1', '7', '')
    """
    if isinstance(value, np.floating):
        return java_number(value)
    value = plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    return java_number(value) if isinstance(value, float) else "" if value is None else str(value)


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """An array of Python objects, one for each value."""
    given = list(values)
    made = np.empty(len(given), object)
    made[:] = given
    return made
