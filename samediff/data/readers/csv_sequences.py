"""Sequences from comma-separated text: several in a file, one for a line, windows of lines."""
from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from ...errors import ConfigurationError, FileFormatError
from ...text.java_regex import java_pattern
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader, SequenceRecordReader, Values
from ..splits.input_split import InputSplit
from .line_readers import lines_of

__all__ = ["CSVLineSequenceRecordReader", "CSVNLinesSequenceRecordReader", "CSVRegexRecordReader", "CSVVariableSlidingWindowRecordReader"]


def _rows(split: InputSplit, skip: int, delimiter: str, quote: str) -> Iterator[tuple[Values, RecordMetaDataLine]]:
    """The values of each line that is not empty, and its place."""
    for line, place in lines_of(split, skip):
        if line.strip():
            yield next(csv.reader([line], delimiter=delimiter, quotechar=quote)), place


class _Delimited(SequenceRecordReader):
    """Base of readers of lines with values.

    Parameters
    ----------
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file.
    delimiter, quote : str
        One character between values, and around those that hold one.
    """

    def __init__(self, skip_num_lines: int = 0, delimiter: str = ",", quote: str = '"') -> None:
        self._form = int(skip_num_lines), delimiter, quote


class CSVLineSequenceRecordReader(_Delimited):
    """Every line is a sequence: each of its values a time step."""

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        for values, place in _rows(self.split, *self._form):
            yield [[value] for value in values], place


class CSVNLinesSequenceRecordReader(_Delimited):
    """So many lines are a sequence; the last one may have fewer.

    Parameters
    ----------
    num_lines_per_sequence : int
        How many.
    skip_num_lines, delimiter, quote
        As of `CSVRecordReader`.
    """

    def __init__(self, num_lines_per_sequence: int = 10, skip_num_lines: int = 0, delimiter: str = ",", quote: str = '"') -> None:
        super().__init__(skip_num_lines, delimiter, quote)
        if num_lines_per_sequence < 1:
            raise ConfigurationError(f"CSVNLinesSequenceRecordReader: a sequence has at least one line, got {num_lines_per_sequence}")
        self._lines = int(num_lines_per_sequence)

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        steps: list[tuple[Values, RecordMetaDataLine]] = []
        for pair in _rows(self.split, *self._form):
            steps.append(pair)
            if len(steps) == self._lines:
                yield [values for values, _ in steps], steps[0][1]
                steps = []
        if steps:
            yield [values for values, _ in steps], steps[0][1]


class CSVVariableSlidingWindowRecordReader(_Delimited):
    """Windows of lines: one ends at every line, with at most so many lines, the last one first.

    Parameters
    ----------
    max_lines_per_sequence : int, default 10
        The most lines of a window.
    skip_num_lines, stride : int, default 0 and 1
        Lines to leave out at the start, and by how many lines windows move.
    delimiter : str
        One character between values.
    """

    def __init__(self, max_lines_per_sequence: int = 10, skip_num_lines: int = 0, stride: int = 1, delimiter: str = ",") -> None:
        super().__init__(skip_num_lines, delimiter)
        if min(max_lines_per_sequence, stride) < 1:
            raise ConfigurationError("CSVVariableSlidingWindowRecordReader: windows have at least one line and move by at least one; got "
                                     f"{max_lines_per_sequence}, {stride}")
        self._most, self._stride = int(max_lines_per_sequence), int(stride)

    def read(self) -> Iterator[tuple[list[Values], RecordMetaDataLine]]:
        pairs = list(_rows(self.split, *self._form))
        for end in range(self._stride, len(pairs) + self._most, self._stride):
            window = pairs[max(0, end - self._most):end]
            if window:
                yield [values for values, _ in reversed(window)], window[-1][1]


class CSVRegexRecordReader(RecordReader):
    """Records of comma-separated lines whose values regular expressions take further apart.

    Parameters
    ----------
    skip_num_lines : int
        Lines to leave out at the start of every file.
    delimiter, quote : str
        One character between values, and around those that hold one.
    regexs : sequence of str or None
        For each column an expression, whose groups are the values; None where the value stays.
    """

    def __init__(self, skip_num_lines: int = 0, delimiter: str = ",", quote: str = '"', regexs: Sequence[str | None] | None = None) -> None:
        self._form = int(skip_num_lines), delimiter, quote
        self._patterns = [None if one is None else java_pattern(one) for one in regexs or ()]

    def read(self) -> Iterator[tuple[Values, RecordMetaDataLine]]:
        for values, place in _rows(self.split, *self._form):
            made: Values = []
            for k, value in enumerate(values):
                pattern = self._patterns[k] if k < len(self._patterns) else None
                found = None if pattern is None else pattern.fullmatch(str(value))
                if pattern is not None and found is None:
                    raise FileFormatError(f"{place.get_location()}, column {k}: {value!r:.60} does not match {pattern.pattern!r}")
                made += [value] if found is None else list(found.groups())
            yield made, place
