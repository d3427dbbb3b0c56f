"""Records that are a table."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError
from ..records.record_meta_data import Record, RecordMetaDataLine


class RecordTable:
    """Base of what has all its records as one table; a sub-class defines `table` and `place`."""

    def table(self) -> NDArray[Any]:
        """All records. Shapes: (records, columns)."""
        raise NotImplementedError

    def place(self, record: int) -> str:
        """Where a record came from, for messages."""
        raise NotImplementedError

    def load_from_meta_data(self, meta_data: RecordMetaDataLine | Sequence[RecordMetaDataLine]) -> Any:
        """The records that came from there; one where a single place is given."""
        if isinstance(meta_data, RecordMetaDataLine):
            return Record(self.table()[meta_data.record].tolist(), meta_data)
        return [Record(self.table()[one.record].tolist(), one) for one in meta_data]

    def numbers(self, columns: list[int], dtype: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
        """The given columns as numbers, in an array of their own with one record after the other.

        Raises
        ------
        FileFormatError
            A value that is not a number, naming its place and column.
        """
        neighbours = columns == list(range(columns[0], columns[-1] + 1))
        part = self.table()[:, columns[0]:columns[-1] + 1] if neighbours else self.table()[:, columns]
        try:
            return part.astype(np.float64).astype(dtype, copy=False) if part.dtype.kind == "U" else part.astype(dtype, order="C")
        except (TypeError, ValueError):
            pass
        for record, row in enumerate(part):
            for column, value in zip(columns, row):
                try:
                    float(value)
                except (TypeError, ValueError):
                    raise FileFormatError(f"{self.place(record)}, column {column}: expected a number, got {str(value)!r}") from None
        raise FileFormatError("the table cannot be converted to numbers")
