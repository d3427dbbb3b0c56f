"""Records of readers that users write, in either spelling."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.javanames import method_of
from ...errors import ConfigurationError, FileFormatError
from .record_meta_data import RecordMetaDataLine


class UserRecords:
    """All records of an object that has ``has_next`` and ``next``, which gives a list of values; ``reset`` is called where there is one.

    Parameters
    ----------
    reader : object
        It gives the records.
    """

    def __init__(self, reader: Any) -> None:
        has_next, following, reset = (method_of(reader, name) for name in ("has_next", "next", "reset"))
        if has_next is None or following is None:
            raise ConfigurationError(f"a reader has has_next() and next() (hasNext in Java's spelling); got {type(reader).__name__}")
        if reset is not None:
            reset()
        rows: list[list[Any]] = []
        while has_next():
            rows.append([_value(v) for v in following()])
            if len(rows[-1]) != len(rows[0]):
                raise FileFormatError(f"record {len(rows) - 1} has {len(rows[-1])} values, those before have {len(rows[0])}")
        if not rows:
            raise FileFormatError(f"{type(reader).__name__} has no records")
        self._name, self._table = type(reader).__name__, np.array(rows)

    def table(self) -> NDArray[Any]:
        """All records. Shapes: (records, columns)."""
        return self._table

    def place(self, record: int) -> str:
        """The record, for messages."""
        return f"{self._name}, record {record}"

    def origins(self) -> list[RecordMetaDataLine]:
        """The source of each record."""
        return [RecordMetaDataLine(0, self._name, k) for k in range(len(self._table))]

    def numbers(self, columns: list[int], dtype: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
        """The given columns as numbers; FileFormatError for a value that is none."""
        part = self._table[:, columns]
        try:
            return part.astype(np.float64).astype(dtype)
        except ValueError as error:
            raise FileFormatError(f"{self._name}: columns {columns} hold text: {error}") from None


def _value(value: Any) -> Any:
    """The content of a value of DL4J's kind (``IntWritable(3)``)."""
    get = method_of(value, "to_double")
    return value if get is None else get()
