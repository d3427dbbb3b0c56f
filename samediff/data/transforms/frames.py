"""Records as data frames, and numbers of their columns."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError, MissingPackageError, ShapeError
from ..records.writables import plain

if TYPE_CHECKING:
    from .meta_data import ColumnMetaData
    from .schema import Schema

_TOO_LARGE = 2.0 ** 63


def pandas() -> Any:
    """The module pandas.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError("transforms of records need pandas: pip install pandas (or dl4py[tables])") from None
    return pd


def frame_of(records: Any, schema: Schema) -> Any:
    """The data frame of records: columns by their schema, numbers where all values of a column are.

    Parameters
    ----------
    records : data frame, or iterable of sequences
        A frame has the columns of the schema, in any order.
    schema : Schema
        Names and types of the columns.
    """
    pd = pandas()
    if isinstance(records, pd.DataFrame):
        missing = [name for name in schema.get_column_names() if name not in records.columns]
        if missing:
            raise ShapeError(f"the frame has no column {missing[0]!r}, which the schema has; "
                             f"its columns: {', '.join(map(str, records.columns))}")
        columns = {name: _present(records[name]) if records[name].dtype.kind == "O" else records[name].to_numpy()
                   for name in schema.get_column_names()}
    else:
        rows = [list(record) for record in records]
        wrong = next((k for k, row in enumerate(rows) if len(row) != schema.num_columns()), None)
        if wrong is not None:
            raise ShapeError(f"record {wrong} has {len(rows[wrong])} values, the schema {schema.num_columns()} columns: "
                             f"{rows[wrong]!r:.80}")
        columns = dict(zip(schema.get_column_names(), zip(*rows))) if rows else dict.fromkeys(schema.get_column_names(), ())
    return pd.DataFrame({name: pd.Series(schema.get_meta_data(name).read([plain(v) for v in values])) for name, values in columns.items()})


def records_of(frame: Any) -> list[list[Any]]:
    """The records of a frame."""
    columns = [[plain(v) for v in listed(frame, name)] for name in frame.columns]
    return [list(row) for row in zip(*columns)] if columns else []


def numbers(frame: Any, column: str, whole: bool = False) -> NDArray[Any]:
    """The values of a column as numbers: of 64 bits, as FLOAT where the column holds such; whole ones without their fraction.

    Raises
    ------
    FileFormatError
        A value that is none, or too large for a whole number, naming row and column.
    """
    values = frame[column].to_numpy()
    kind = values.dtype.kind
    if kind in "iub" or (kind == "f" and (not whole or bool((np.abs(values) < _TOO_LARGE).all()))):
        found: NDArray[Any] = values if values.dtype == np.float32 and not whole else values.astype(np.int64 if whole else np.float64)
        return found
    made = np.empty(len(values), np.int64 if whole else np.float64)
    for row, value in enumerate(listed(frame, column)):
        try:
            made[row] = whole_of(value) if whole else float(value)
        except (TypeError, ValueError, OverflowError):
            raise FileFormatError(f"column {column!r}, row {row}: expected a {'whole ' * whole}number, got {plain(value)!r:.60}") from None
    return made


def whole_of(value: Any) -> int:
    """A number, or the text of one, without its fraction."""
    try:
        return int(value)
    except ValueError:
        return int(float(value))


def listed(frame: Any, column: str) -> list[Any]:
    """The values of a column, None where one is missing. NaN is a number."""
    values = frame[column]
    found: list[Any] = _present(values) if isinstance(values.dtype, pandas().StringDtype) else values.tolist()
    return found


def _present(values: Any) -> list[Any]:
    return [None if missing else value for value, missing in zip(values.tolist(), values.isna())]


def texts(frame: Any, column: ColumnMetaData) -> list[str]:
    """The texts of the values of a column."""
    return [column.text(value) for value in listed(frame, column.name)]
