"""Records of any reader as one table."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import records_and_places
from ..records.writables import plain
from .record_table import RecordTable


class UserRecords(RecordTable):
    """All records of an object that has ``has_next`` and ``next``, which gives a list of values; ``reset`` is called where there is one.

    Parameters
    ----------
    reader : object
        It gives the records.
    """

    def __init__(self, reader: Any) -> None:
        self._name, self._places = type(reader).__name__, list[RecordMetaDataLine]()
        rows: list[list[Any]] = []
        for record, place in records_and_places(reader):
            rows.append([plain(value) for value in record])
            self._places.append(place)
            if len(rows[-1]) != len(rows[0]):
                raise FileFormatError(f"record {len(rows) - 1} has {len(rows[-1])} values, those before have {len(rows[0])}")
        if not rows:
            raise FileFormatError(f"{self._name} has no records")
        self._table = np.array(rows)

    def table(self) -> NDArray[Any]:
        return self._table

    def place(self, record: int) -> str:
        place = self._places[record]
        return f"{place.uri}, line {place.line_number}" if place.line_number else f"{self._name}, record {record}"

    def origins(self) -> list[RecordMetaDataLine]:
        """The source of each record."""
        return [RecordMetaDataLine(place.line_number, place.uri, k) for k, place in enumerate(self._places)]


def as_table(reader: Any) -> Any:
    """The records of a reader as a table: the reader itself, where it is one."""
    return reader if hasattr(reader, "table") and hasattr(reader, "numbers") else UserRecords(reader)


class _Place:
    """One sequence, for messages."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def place(self, record: int) -> str:
        """One of its steps."""
        return f"{self._uri}, step {record}"


class UserSequences:
    """All sequences of a reader: an object with ``has_next`` and ``next`` (or ``sequence_record``), which gives a list of records.

    Parameters
    ----------
    reader : object
        It gives the sequences.
    """

    def __init__(self, reader: Any) -> None:
        self._sequences: list[NDArray[Any]] = []
        self.readers: list[_Place] = []
        for k, (sequence, place) in enumerate(records_and_places(reader)):
            rows = [[plain(value) for value in step] for step in sequence]
            wrong = next((step for step, row in enumerate(rows) if len(row) != len(rows[0])), None)
            if wrong is not None:
                raise FileFormatError(f"{type(reader).__name__}, sequence {k}: step {wrong} has {len(rows[wrong])} values, those before "
                                      f"have {len(rows[0])}")
            try:
                self._sequences.append(np.array(rows, np.float64))
            except (TypeError, ValueError):
                raise FileFormatError(f"{type(reader).__name__}, sequence {k}: text; numbers are needed: {rows[0]!r:.60}") from None
            self.readers.append(_Place(place.uri if place.line_number == 0 else place.get_location()))
        if not self._sequences:
            raise FileFormatError(f"{type(reader).__name__} has no sequences")

    def sequence(self, index: int) -> NDArray[np.float64]:
        """One of them. Shapes: (time, columns)."""
        return self._sequences[index]
