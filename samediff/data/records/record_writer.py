"""Records into files."""
from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, Self

from ...base.java_names import CSVRecordWriterNames, RecordWriterNames
from ...base.javanames import JavaSpelling
from ...errors import ConfigurationError
from ..splits.file_split import as_split
from ..splits.input_split import Source

__all__ = ["CSVRecordWriter", "NumberOfRecordsPartitioner", "RecordWriter"]


class NumberOfRecordsPartitioner(JavaSpelling):
    """All records into the first file of a split (DataVec's class of that name without a number of records)."""


class RecordWriter(RecordWriterNames):
    """Base of writers: a sub-class defines `write`."""

    _file: Any = None

    def initialize(self, split: Source, partitioner: NumberOfRecordsPartitioner | None = None) -> Self:
        """Write into the first file of a split, which begins empty; returns the writer.

        Parameters
        ----------
        split : InputSplit or path
            The file.
        partitioner : NumberOfRecordsPartitioner, optional
            Without effect: all records go into one file.
        """
        self.close()
        self._file = open(as_split(split).locations()[0], "w", encoding="utf-8", newline="")      # noqa: SIM115  # until close
        return self

    @property
    def file(self) -> Any:
        """The open file."""
        if self._file is None:
            raise ConfigurationError(f"{type(self).__name__}: call initialize(split) first")
        return self._file

    def write(self, record: Sequence[Any]) -> None:
        """Write a record."""
        raise NotImplementedError(f"{type(self).__name__} must implement write(self, record)")

    def write_batch(self, records: Iterable[Sequence[Any]]) -> None:
        """Write several records."""
        for record in records:
            self.write(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class CSVRecordWriter(RecordWriter, CSVRecordWriterNames):
    """Every record is a line of its values.

    Parameters
    ----------
    delimiter : str, default ","
        Stands between values.
    """

    def __init__(self, delimiter: str = ",") -> None:
        self._delimiter = delimiter

    def write(self, record: Sequence[Any]) -> None:
        csv.writer(self.file, delimiter=self._delimiter, lineterminator="\n").writerow(record)
