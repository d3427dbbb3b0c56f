"""Records from lines of text and from given values."""
from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError, FileFormatError
from ...text.java_regex import java_pattern
from ..records.configuration import Configuration
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader, SequenceRecordReader, Values
from ..splits.file_split import FileSplit
from ..splits.input_split import InputSplit
from ..splits.text_splits import InputStreamInputSplit, ListStringSplit, StringSplit

__all__ = [
    "CollectionRecordReader", "CollectionSequenceRecordReader", "FileRecordReader", "LibSvmRecordReader", "LineRecordReader",
    "ListStringRecordReader", "RegexLineRecordReader", "RegexSequenceRecordReader", "SVMLightRecordReader",
]


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
            yield _decoded(line, f"{path}, line {number}").rstrip("\r\n")


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{where}: not UTF-8 text ({error.reason})") from None


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
        self.skip_num_lines = int(skip_num_lines)

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for line, place in lines_of(self.split, self.skip_num_lines):
            yield self._values_of(line, place), place

    def _values_of(self, line: str, place: RecordMetaDataLine) -> Values:
        """The values of a line."""
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
        self._pattern = java_pattern(regex)

    def _values_of(self, line: str, place: RecordMetaDataLine) -> Values:
        found = self._pattern.fullmatch(line)
        if found is None:
            raise FileFormatError(f"{place.get_location()}: the line does not match the pattern {self._pattern.pattern!r}: {line!r:.80}")
        return list(found.groups())


class SVMLightRecordReader(LineRecordReader):
    """Sparse lines ``label index:value index:value # comment``: the features, then the labels. Lines without values are left out.

    Parameters
    ----------
    num_features : int
        Length of the features. All of these can come in a `Configuration` instead, as in DL4J.
    num_labels : int, optional
        Multi-label lines (``1,3 0:0.5``) have a value 0 or 1 for each of so many labels.
    zero_based_indexing : bool, default True
        Whether features count from 0.
    zero_based_label_indexing : bool, default False
        Whether labels of multi-label lines do.
    append_label : bool, default True
        Whether records end with the label.

    Examples
    --------
    >>> SVMLightRecordReader(3).initialize(StringSplit("1 0:0.5 2:2 # first")).next()
    [0.5, 0.0, 2.0, 1.0]
    """

    NUM_FEATURES = "num_features"
    NUM_LABELS = "num_labels"
    ZERO_BASED_INDEXING = "zero_based_indexing"
    ZERO_BASED_LABEL_INDEXING = "zero_based_label_indexing"
    APPEND_LABEL = "append_label"
    MULTILABEL = "multilabel"               # follows from the number of labels

    def __init__(self, num_features: int | None = None, num_labels: int | None = None, *, zero_based_indexing: bool = True,
                 zero_based_label_indexing: bool = False, append_label: bool = True) -> None:
        super().__init__()
        self._features, self._labels, self._append, self._first, self._first_label = 0, None, True, 0, 1
        self._options = Configuration()
        self._options.update({self.NUM_LABELS: num_labels, self.ZERO_BASED_INDEXING: zero_based_indexing,
                              self.ZERO_BASED_LABEL_INDEXING: zero_based_label_indexing, self.APPEND_LABEL: append_label})
        if num_features is not None:
            self._options.set_int(self.NUM_FEATURES, num_features)

    def initialize(self, split: Any, *others: Any) -> Self:
        for given in (split, *others):
            if isinstance(given, Mapping):
                self._options.update(given)
        options = self._options
        self._features = options.get_int(self.NUM_FEATURES, 0)
        if self._features < 1:
            raise ConfigurationError("SVMLightRecordReader needs the number of features: SVMLightRecordReader(num_features), or "
                                     "SVMLightRecordReader.NUM_FEATURES in a Configuration")
        self._labels = options.get(self.NUM_LABELS)
        self._append = options.get_boolean(self.APPEND_LABEL, True)
        self._first = 0 if options.get_boolean(self.ZERO_BASED_INDEXING, True) else 1
        self._first_label = 0 if options.get_boolean(self.ZERO_BASED_LABEL_INDEXING, False) else 1
        return super().initialize(split, *others)

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for line, place in lines_of(self.split):
            if line.partition("#")[0].strip():
                yield self._values_of(line, place), place

    def _values_of(self, line: str, place: RecordMetaDataLine) -> Values:
        content = line.partition("#")[0]
        head, *pairs = ["", *content.split()] if content[:1].isspace() else content.split()
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
            return [float(label) for label in filter(None, head.split(","))]
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
            with open_regular(path) as file:
                yield [_decoded(file.read(), str(path))], RecordMetaDataLine(0, str(path), record)


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


class LineErrorHandling(JavaEnum):
    """Treatment of lines that an expression does not match: ``RegexSequenceRecordReader.LineErrorHandling``."""

    FailOnInvalid = "an error"
    SkipInvalid = "they are left out"
    SkipInvalidWithWarning = "they are left out, with a warning"


class RegexSequenceRecordReader(SequenceRecordReader):
    """Every file is a sequence, every line a time step that a regular expression takes apart.

    Parameters
    ----------
    regex : str
        An expression for a whole line, with a group for each value.
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file.
    *options : LineErrorHandling
        What becomes of other lines; an error by default. A character set before it, as in DL4J, has no effect: files are UTF-8.
    """

    LineErrorHandling: ClassVar[type[LineErrorHandling]] = LineErrorHandling

    def __init__(self, regex: str, skip_num_lines: int = 0, *options: Any) -> None:
        self._lines = RegexLineRecordReader(regex, skip_num_lines)
        self._handling = next((one for one in options if isinstance(one, LineErrorHandling)), LineErrorHandling.FailOnInvalid)

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        for record, path in enumerate(FileSplit.files_of(self.split)):
            yield list(self._steps(path)), RecordMetaDataLine(0, str(path), record)

    def _steps(self, path: Path) -> Iterator[Values]:
        if self._handling is LineErrorHandling.FailOnInvalid:
            yield from self._lines.initialize(path)
            return
        for (line,), place in LineRecordReader(self._lines.skip_num_lines).initialize(path).read():
            try:
                yield self._lines._values_of(line, place)
            except FileFormatError as error:
                if self._handling is LineErrorHandling.SkipInvalidWithWarning:
                    warnings.warn(f"left out: {error}", stacklevel=2)
