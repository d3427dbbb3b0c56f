"""Readers over readers: records through a transform process, side by side, and one after the other."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Self

from ...base.java_names import TransformProcessRecordReaderNames, TransformProcessSequenceRecordReaderNames
from ...errors import ConfigurationError
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader, SequenceRecordReader, Values, records_and_places
from ..splits.input_split import Source
from ..transforms.frames import frame_of, records_of
from ..transforms.process import TransformProcess

__all__ = ["ComposableRecordReader", "ConcatenatingRecordReader", "TransformProcessRecordReader", "TransformProcessSequenceRecordReader"]

_AT_ONCE = 4096     # records that go through a process together


class _Through(RecordReader):
    """Base of readers that put a process behind another reader.

    Parameters
    ----------
    record_reader : RecordReader
        It gives the records.
    transform_process : TransformProcess
        What is done with them; no step that needs all records.
    """

    def __init__(self, record_reader: Any, transform_process: TransformProcess) -> None:
        wrong = next((step for step in transform_process.action_list if step.action not in ("transform", "filter")), None)
        if wrong is not None:
            raise ConfigurationError(f"{type(self).__name__} takes processes that go over records one by one; {type(wrong).__name__} "
                                     "needs all records: LocalTransformExecutor.execute runs it")
        self._reader, self._process = record_reader, transform_process

    def initialize(self, split: Source, *others: Any) -> Self:
        self._reader.initialize(split, *others)
        self._ahead = None
        return self

    def get_transform_process(self) -> TransformProcess:
        """The process."""
        return self._process


class TransformProcessRecordReader(_Through, TransformProcessRecordReaderNames):
    """The records of a reader, through a process: those that filters leave out do not come."""

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        source = records_and_places(self._reader)
        while pairs := list(islice(source, _AT_ONCE)):
            frame = frame_of([record for record, _ in pairs], self._process.initial_schema)
            frame.index = range(len(frame))
            places = [place for _, place in pairs]
            for step, schema in zip(self._process.action_list, self._process.schemas()):
                if step.action == "filter":
                    removed = step.removed_rows(frame, schema)
                    places = [place for place, out in zip(places, removed) if not out]
                frame = step.apply(frame, schema)
            yield from zip(records_of(frame), places)


class TransformProcessSequenceRecordReader(_Through, SequenceRecordReader, TransformProcessSequenceRecordReaderNames):
    """The sequences of a reader, through a process."""

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        for sequence, place in records_and_places(self._reader):
            made = self._process.execute_sequence(sequence)
            if made is not None:
                yield made, place


class ComposableRecordReader(RecordReader):
    """Records of several readers side by side.

    Parameters
    ----------
    *readers : RecordReader
        Each gives a part of every record.
    """

    def __init__(self, *readers: Any) -> None:
        self._readers = readers

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for pairs in zip(*map(records_and_places, self._readers)):
            yield [value for record, _ in pairs for value in record], pairs[0][1]


class ConcatenatingRecordReader(RecordReader):
    """Records of several readers one after the other.

    Parameters
    ----------
    *readers : RecordReader
        In their order.
    """

    def __init__(self, *readers: Any) -> None:
        self._readers = readers

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for reader in self._readers:
            yield from records_and_places(reader)
