"""Records from lines of text and from given values."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError, FileFormatError
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader, SequenceRecordReader, Values
from ..splits.file_split import FileSplit
from ..splits.input_split import InputSplit
from ..splits.text_splits import InputStreamInputSplit, ListStringSplit, StringSplit


def lines_of(split: InputSplit, skip: int = 0) -> Iterator[tuple[str, RecordMetaDataLine]]:
    """Every line of the files or the text behind the first ``skip`` of each, with its place."""
    record = 0
    if isinstance(split, (StringSplit, InputStreamInputSplit)):
        sources: Iterable[tuple[str, Any]] = [(type(split).__name__, split)]
    else:
        sources = [(str(path), path) for path in FileSplit.files_of(split)]
    for name, source in sources:
        for number, line in enumerate(source.lines() if isinstance(source, InputSplit) else _file_lines(source), 1):
            if number > skip:
                yield line, RecordMetaDataLine(number, name, record)
                record += 1


def _file_lines(path: Any) -> Iterator[str]:
    with open_regular(path) as file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise FileFormatError(f"{path}, line {number}: not UTF-8 text ({error.reason})") from None


class LineRecordReader(RecordReader):
    """Every line is a record of one value, its text.

    Parameters
    ----------
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file.

    Examples
    --------
    >>> list(LineRecordReader().initialize(StringSplit("a b\\nc")))
    [['a b'], ['c']]
    """

    def __init__(self, skip_num_lines: int = 0) -> None:
        self._skip = int(skip_num_lines)

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for line, place in lines_of(self.split, self._skip):
            yield self._values(line, place), place

    def _values(self, line: str, place: RecordMetaDataLine) -> Values:
        return [line]


class RegexLineRecordReader(LineRecordReader):
    """Lines that a regular expression takes apart: its groups are the values.

    Parameters
    ----------
    regex : str
        An expression for a whole line, with a group for each value.
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file.

    Examples
    --------
    >>> RegexLineRecordReader("(\\\\d+) (\\\\w+)", 0).initialize(StringSplit("7 up")).next()
    ['7', 'up']
    """

    def __init__(self, regex: str, skip_num_lines: int = 0) -> None:
        super().__init__(skip_num_lines)
        self._pattern = re.compile(regex)

    def _values(self, line: str, place: RecordMetaDataLine) -> Values:
        found = self._pattern.fullmatch(line)
        if found is None:
            raise FileFormatError(f"{place.get_location()}: the line does not match the pattern {self._pattern.pattern!r}: {line!r:.80}")
        return list(found.groups())


class SVMLightRecordReader(LineRecordReader):
    """Sparse lines ``label index:value index:value # comment``: the features, then the labels.

    Parameters
    ----------
    num_features : int
        Length of the features; indices count from 1, or from 0 with ``zero_based_indexing``.
    num_labels : int, optional
        Multi-label lines (``0,3 1:0.5``) have a value 0 or 1 for each of so many labels.
    zero_based_indexing, zero_based_label_indexing : bool, default False
        Whether features and labels of multi-label lines count from 0.
    append_label : bool, default True
        Whether records end with the label.

    Examples
    --------
    >>> SVMLightRecordReader(3).initialize(StringSplit("1 1:0.5 3:2 # first")).next()
    [0.5, 0.0, 2.0, 1.0]
    """

    def __init__(self, num_features: int, num_labels: int | None = None, *, zero_based_indexing: bool = False,
                 zero_based_label_indexing: bool = False, append_label: bool = True) -> None:
        super().__init__()
        self._features, self._labels, self._append = int(num_features), num_labels, append_label
        self._first, self._first_label = (0 if zero_based_indexing else 1), (0 if zero_based_label_indexing else 1)

    def _values(self, line: str, place: RecordMetaDataLine) -> Values:
        content = line.partition("#")[0]
        head, *pairs = ["", *content.split()] if content[:1].isspace() else content.split() or [""]
        values = [0.0] * self._features
        try:
            for pair in pairs:
                index, _, value = pair.partition(":")
                if index == "qid":
                    continue
                at = int(index) - self._first
                if not 0 <= at < self._features:
                    raise FileFormatError(f"{place.get_location()}: feature {index} is not one of {self._features} from {self._first} on")
                values[at] = float(value)
            return [*values, *(self._label_values(head, place) if self._append else [])]
        except ValueError:
            raise FileFormatError(f"{place.get_location()}: expected 'label index:value …', got {line!r:.80}") from None

    def _label_values(self, head: str, place: RecordMetaDataLine) -> Values:
        if self._labels is None:
            return [float(label) for label in head.split(",")]
        hot = np.zeros(self._labels)
        for label in filter(None, head.split(",")):
            at = int(label) - self._first_label
            if not 0 <= at < self._labels:
                raise FileFormatError(f"{place.get_location()}: label {label} is not one of {self._labels} from {self._first_label} on")
            hot[at] = 1
        return hot.tolist()  # type: ignore[no-any-return]


#: The same format; DL4J has a class for each name.
LibSvmRecordReader = SVMLightRecordReader


class FileRecordReader(RecordReader):
    """Every file is a record of one value, its text."""

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for record, path in enumerate(FileSplit.files_of(self.split)):
            yield ["\n".join(_file_lines(path))], RecordMetaDataLine(0, str(path), record)


class CollectionRecordReader(RecordReader):
    """Given records.

    Parameters
    ----------
    records : iterable of sequence
        The values of each.

    Examples
    --------
    >>> list(CollectionRecordReader([[1, "a"], [2, "b"]]))
    [[1, 'a'], [2, 'b']]
    """

    def __init__(self, records: Iterable[Sequence[Any]]) -> None:
        self._records = [list(record) for record in records]

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for k, record in enumerate(self._records):
            yield record, RecordMetaDataLine(0, type(self).__name__, k)


class ListStringRecordReader(RecordReader):
    """The records of a `ListStringSplit`."""

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        if not isinstance(self.split, ListStringSplit):
            raise ConfigurationError(f"ListStringRecordReader reads a ListStringSplit; got {type(self.split).__name__}")
        for k, record in enumerate(self.split.lines()):
            yield list(record), RecordMetaDataLine(0, type(self).__name__, k)


class CollectionSequenceRecordReader(SequenceRecordReader):
    """Given sequences of records.

    Parameters
    ----------
    sequences : iterable of sequence of sequence
        The records of each.
    """

    def __init__(self, sequences: Iterable[Sequence[Sequence[Any]]]) -> None:
        self._sequences = [[list(step) for step in sequence] for sequence in sequences]

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        for k, sequence in enumerate(self._sequences):
            yield sequence, RecordMetaDataLine(0, type(self).__name__, k)


class RegexSequenceRecordReader(SequenceRecordReader):
    """Every file is a sequence, every line a time step that a regular expression takes apart.

    Parameters
    ----------
    regex : str
        An expression for a whole line, with a group for each value.
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file.
    """

    def __init__(self, regex: str, skip_num_lines: int = 0) -> None:
        self._lines = RegexLineRecordReader(regex, skip_num_lines)

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        for record, path in enumerate(FileSplit.files_of(self.split)):
            yield list(self._lines.initialize(path)), RecordMetaDataLine(0, str(path), record)
