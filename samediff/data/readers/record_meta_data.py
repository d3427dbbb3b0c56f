"""Places that records came from."""
from __future__ import annotations

from dataclasses import dataclass

from ...base.java_names import RecordMetaDataLineNames


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

    def get_location(self) -> str:
        """File and line, as text."""
        return f"{self.uri}:{self.line_number or self.record}"
