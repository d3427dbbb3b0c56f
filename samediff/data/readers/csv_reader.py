"""Tables from comma-separated text."""
from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...base.java_names import CSVRecordReaderNames
from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError, FileFormatError
from ..records.record_meta_data import RecordMetaDataLine
from ..records.record_reader import RecordReader
from ..splits.file_split import FileSplit
from ..splits.input_split import Source
from ..splits.text_splits import InputStreamInputSplit, StringSplit
from .arrow_csv import read_numbers
from .record_table import RecordTable

__all__ = ["CSVRecordReader"]


class _Content(str):
    """A text in place of a file."""

    __slots__ = ()

    def __str__(self) -> str:
        return "the text"


class CSVRecordReader(RecordTable, RecordReader, CSVRecordReaderNames):
    r"""Records of comma-separated files, of texts; ``table()`` has them as numbers, where all of them are.

    Parameters
    ----------
    skip_num_lines : int, default 0
        Lines to leave out at the start of every file, such as a heading.
    delimiter : str, default ","
        One character between two values.
    quote : str, default '"'
        One character around values that hold delimiters.

    Raises
    ------
    FileFormatError
        Rows of different length, naming file and line.

    Notes
    -----
    Source: DataVec's ``CSVRecordReader``. Empty lines are left out. Large files of plain numbers are read much faster where pyarrow is
    installed (``dl4py[csv]``), with the same result.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "two.csv"
    >>> _ = path.write_text("a,b\n1,2\n3,4\n")
    >>> reader = CSVRecordReader(skip_num_lines=1).initialize(path)
    >>> reader.table().tolist(), reader.next()
    ([[1.0, 2.0], [3.0, 4.0]], ['1', '2'])
    >>> folder.cleanup()
    """

    def __init__(self, skip_num_lines: int = 0, delimiter: str = ",", quote: str = '"') -> None:
        if skip_num_lines < 0 or len(delimiter) != 1 or len(quote) != 1:
            raise ConfigurationError("CSVRecordReader needs skip_num_lines of at least 0 and one character each as "
                                     f"delimiter and quote, got {skip_num_lines}, {delimiter!r}, {quote!r}")
        self._skip, self._delimiter, self._quote = skip_num_lines, delimiter, quote
        self._files: list[Path | _Content] = []
        self._table: NDArray[Any] | None = None

    def initialize(self, split: Source, *others: Any) -> Self:
        super().initialize(split, *others)
        given = self.split
        in_memory = isinstance(given, (StringSplit, InputStreamInputSplit))
        self._files = [_Content("\n".join(given.lines()))] if in_memory else [*FileSplit.files_of(given)]
        self._table = None
        return self

    def read(self) -> Iterator[tuple[list[Any], RecordMetaDataLine]]:
        record = 0
        for path in self._sources():
            for line, values in self._rows(path):
                yield list(values), RecordMetaDataLine(line, str(path), record)
                record += 1

    load_from_meta_data = RecordReader.load_from_meta_data

    def table(self) -> NDArray[Any]:
        """All records. Shapes: (records, columns), float64; text when a value is not a number."""
        if self._table is None:
            parts = [self._parsed(f) for f in self._sources()]
            widths = {p.shape[1] for p in parts}
            if len(widths) > 1:
                raise FileFormatError("files of different numbers of columns: "
                                      + ", ".join(f"{f}: {p.shape[1]}" for f, p in zip(self._files, parts)))
            self._table = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._table

    def _sources(self) -> list[Path | _Content]:
        if not self._files:
            raise ConfigurationError("CSVRecordReader: call initialize(path) first")
        return self._files

    def _parsed(self, path: Path | _Content) -> NDArray[Any]:
        table = None if isinstance(path, _Content) else read_numbers(path, self._delimiter, self._skip)
        if table is not None:
            return table
        if next(self._rows(path), None) is None:
            raise FileFormatError(f"{path}: no records after {self._skip} skipped lines")
        try:
            source = io.StringIO(path) if isinstance(path, _Content) else path
            numbers: NDArray[Any] = np.loadtxt(source, np.float64, comments=None, delimiter=self._delimiter, ndmin=2,
                                               skiprows=self._skip, quotechar=self._quote, encoding="utf-8")
        except ValueError:          # text among the numbers, or rows of different length
            return self._text(path)
        return numbers

    def _text(self, path: Path | _Content) -> NDArray[Any]:
        rows: list[list[str]] = []
        for line, row in self._rows(path):
            if rows and len(row) != len(rows[0]):
                raise FileFormatError(f"{path}, line {line}: {len(row)} columns, the lines before have {len(rows[0])}")
            rows.append(row)
        return np.array(rows, np.str_)

    def _rows(self, path: Path | _Content) -> Iterator[tuple[int, list[str]]]:
        """Line number and fields of every record; FileFormatError for what is no text of UTF-8 in columns."""
        line = 0
        with io.StringIO(path) if isinstance(path, _Content) else io.TextIOWrapper(open_regular(path), "utf-8", newline="") as file:
            try:
                for _ in range(self._skip):
                    file.readline()
                    line += 1
                reader = csv.reader(file, delimiter=self._delimiter, quotechar=self._quote)
                for row in reader:
                    line = reader.line_num + self._skip
                    if row:
                        yield line, row
            except (UnicodeDecodeError, csv.Error) as error:
                raise FileFormatError(f"{path}: no table of UTF-8 text behind line {line}: {error}") from None

    def place(self, record: int) -> str:
        for path in self._files:
            for line, _ in self._rows(path):
                if record == 0:
                    return f"{path}, line {line}"
                record -= 1
        return f"record {record}"

    def origins(self) -> list[RecordMetaDataLine]:
        """The source of each record: file and line."""
        lines = [(str(path), line) for path in self._files for line, _ in self._rows(path)]
        return [RecordMetaDataLine(line, path, k) for k, (path, line) in enumerate(lines)]
