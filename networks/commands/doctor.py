"""The doctor of the command line: a model file and data of a CSV file."""
from __future__ import annotations

from typing import Any

from ...samediff.data import CSVRecordReader, DataSet, RecordReaderDataSetIterator
from ...samediff.errors import ConfigurationError
from ...samediff.graph.graph import SameDiff
from ..reports.doctor import examine
from .opening import open_model

#: Rows that are read.
MOST_ROWS = 10_000


def doctor(path: str, data: str, label: int = -1, skip: int = 0, rates: str | None = None) -> str:
    """Findings in a model and the data that it is to be trained with, as text.

    Parameters
    ----------
    path : a model zip
    data : a CSV file: a row for each example, features and a label
    label : column of the label, from the end where it is negative
    skip : lines in front, such as the names of columns
    rates : a picture of the learning rate range test, written where given
    """
    network = open_model(path)
    if isinstance(network, SameDiff):
        raise ConfigurationError(f"{path} is a graph; the doctor examines networks")
    found, tried = examine(network, _read(network, data, label, skip))
    if rates is not None and tried is not None:
        tried.plot(rates)
    lines = [f"{number}. {finding}" for number, finding in enumerate(found, 1)] or ["nothing looks wrong"]
    if tried is not None:
        lines.append(f"learning rate: {tried.present:.3g} now, {tried.suggestion():.3g} suggested, {tried.limit():.3g} at most")
    return "\n".join(lines)


def _read(network: Any, data: str, label: int, skip: int) -> DataSet:
    """The rows of a CSV file; labels are classes where the network gives more than one number."""
    reader = CSVRecordReader(skip).initialize(data)
    columns = reader.table().shape[1]
    place = label + columns if label < 0 else label
    if not 0 <= place < columns:
        raise ConfigurationError(f"{data} has {columns} columns; there is no column {label} for the label")
    outputs = network.num_labels()
    if outputs > 1:
        return next(iter(RecordReaderDataSetIterator(reader, MOST_ROWS, place, outputs)))
    return next(iter(RecordReaderDataSetIterator(reader, MOST_ROWS, place, place, True)))
