"""Places that records came from."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...base.java_names import RecordMetaDataLineNames, RecordNames
from .writables import as_writables

__all__ = ["Record", "RecordMetaData", "RecordMetaDataLine"]


@dataclass(frozen=True)
class RecordMetaDataLine(RecordMetaDataLineNames):
    """The line of a file that holds a record.

    Parameters
    ----------
    line_number : int
        The line, from 1; 0 where a reader has none.
    uri : str
        The file, or the class of a reader without files.
    record : int
        The number of the record in its reader, from 0.

    Examples
    --------
    >>> RecordMetaDataLine(7, "iris.csv", 6).getLocation()
    'iris.csv:7'
    """

    line_number: int
    uri: str
    record: int

    @property
    def source(self) -> tuple[str, int]:
        """File and line."""
        return self.uri, self.line_number

    def get_location(self) -> str:
        """File and line, as text."""
        return f"{self.uri}:{self.line_number or self.record}"


#: The base of all kinds in DL4J; here one kind serves all readers.
RecordMetaData = RecordMetaDataLine


class Record(list[Any], RecordNames):
    """The values of a record, a list, and where they came from.

    Parameters
    ----------
    record : iterable
        The values.
    meta_data : RecordMetaDataLine
        The place.

    Examples
    --------
    >>> record = Record([5.1, 3.5], RecordMetaDataLine(7, "iris.csv", 6))
    >>> record.getRecord(), record.getMetaData().getLineNumber()
    ([5.1, 3.5], 7)
    """

    def __init__(self, record: Iterable[Any], meta_data: RecordMetaDataLine) -> None:
        super().__init__(as_writables(record))
        self.meta_data = meta_data

    def get_record(self) -> list[Any]:
        """The values."""
        return list(self)

    def get_sequence_record(self) -> list[Any]:
        """The records of a sequence."""
        return list(self)
