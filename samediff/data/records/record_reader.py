"""Bases of what reads records and sequences of them."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from ...base.java_names import RecordReaderNames, SequenceRecordReaderNames
from ...base.javanames import method_of
from ...errors import ConfigurationError, FileFormatError
from ..iterators.iterator import NoMoreDataError
from ..splits.file_split import as_split
from ..splits.input_split import InputSplit, Source
from .record_meta_data import Record, RecordMetaDataLine
from .writables import as_writables

__all__ = ["RecordReader", "SequenceRecordReader"]

#: A record: its values.
Values = list[Any]


class RecordReader(RecordReaderNames):
    """Base of readers: records one after the other.

    A sub-class defines `read`; or ``has_next``, ``next`` and ``reset`` (in Java's spelling, too), as in DL4J.

    Notes
    -----
    Source: DataVec's ``RecordReader``.
    """

    _split: InputSplit | None = None
    _ahead: Iterator[tuple[Any, RecordMetaDataLine]] | None = None
    _next: tuple[Any, RecordMetaDataLine] | None = None
    _last: RecordMetaDataLine | None = None         # where the last record came from; a further one may have been read

    def initialize(self, split: Source, *others: Any) -> Self:
        """Read from these files or this text; returns the reader."""
        given = next((one for one in (split, *others) if isinstance(one, InputSplit)), split)      # DL4J has (configuration, split) too
        self._split = as_split(given)
        self._ahead = None
        return self

    @property
    def split(self) -> InputSplit:
        """The files or the text to read."""
        if self._split is None:
            raise ConfigurationError(f"{type(self).__name__}: call initialize(split) first")
        return self._split

    def read(self) -> Iterator[tuple[Any, RecordMetaDataLine]]:
        """All records from the first on, each with its place."""
        raise NotImplementedError(f"{type(self).__name__} must implement read(self), or has_next, next and reset")

    def has_next(self) -> bool:
        """Whether there is a further record."""
        if self._ahead is None:
            self._ahead = self.read()
            self._next = next(self._ahead, None)
        return self._next is not None

    def _taken(self) -> tuple[Any, RecordMetaDataLine]:
        if not self.has_next():
            raise NoMoreDataError(f"{type(self).__name__} has no further record: ask has_next() first, or reset()")
        found, self._next = self._next, next(self._ahead or iter(()), None)
        assert found is not None
        self._last = found[1]
        return found

    def next(self, num: int | None = None) -> Any:
        """The next record: a list of its values; with ``num``, a list of at most so many records."""
        if num is None:
            return as_writables(self._taken()[0])
        found: list[Any] = []
        while len(found) < num and self.has_next():
            found.append(self.next())
        return found

    def next_record(self) -> Record:
        """The next record and where it came from."""
        return Record(*self._taken())

    def reset(self) -> None:
        """Start again from the first record."""
        if self._split is not None:
            self._split.reset()
        self._ahead = None

    def reset_supported(self) -> bool:
        """Whether `reset` works."""
        return True

    def get_labels(self) -> list[str] | None:
        """Names of the classes, where the reader knows them."""
        return None

    def load_from_meta_data(self, meta_data: RecordMetaDataLine | Sequence[RecordMetaDataLine]) -> Any:
        """The records that came from there; one where a single place is given."""
        wanted = [meta_data] if isinstance(meta_data, RecordMetaDataLine) else list(meta_data)
        found: dict[tuple[str, int], dict[int, Any]] = {place.source: {} for place in wanted}
        for record, place in self.read():       # numbers of records change with the order of files, places in files do not
            if place.source in found:
                found[place.source][place.record] = record
        records = []
        for place in wanted:
            there = found[place.source]
            if not there or (len(there) > 1 and place.record not in there):
                raise FileFormatError(f"{type(self).__name__} has no record from {place.get_location()}")
            records.append(Record(there[place.record] if len(there) > 1 else next(iter(there.values())), place))
        return records[0] if isinstance(meta_data, RecordMetaDataLine) else records

    def close(self) -> None:
        """Does nothing: files are open only while they are read."""

    def __iter__(self) -> Iterator[Any]:
        self.reset()
        while self.has_next():
            yield self.next()


class SequenceRecordReader(RecordReader, SequenceRecordReaderNames):
    """Base of readers of sequences: each is a list of records, one for every time step."""

    def sequence_record(self) -> list[Values]:
        """The next sequence."""
        found: list[Values] = self.next()
        return found

    def next_sequence(self) -> Record:
        """The next sequence and where it came from."""
        return self.next_record()


def records_and_places(reader: Any) -> Iterator[tuple[Any, RecordMetaDataLine]]:
    """All records of a reader from the first on, in either spelling, each with its place."""
    if isinstance(reader, RecordReader) and type(reader).read is not RecordReader.read:
        yield from reader.read()
        return
    has_next, following, reset = (method_of(reader, name) for name in ("has_next", "next", "reset"))
    if has_next is None or following is None:
        raise ConfigurationError(f"a reader has has_next() and next() (hasNext in Java's spelling); got {type(reader).__name__}")
    if reset is not None:
        reset()
    record = 0
    while has_next():
        yield list(following()), RecordMetaDataLine(0, type(reader).__name__, record)
        record += 1
