"""Records as data frames, and numbers of their columns."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError, MissingPackageError, ShapeError
from ..records.writables import plain

if TYPE_CHECKING:
    from .schema import Schema


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
        columns = {name: records[name].to_numpy() for name in schema.get_column_names()}
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
    columns = [[plain(v) for v in frame[name].tolist()] for name in frame.columns]
    return [list(row) for row in zip(*columns)] if columns else []


def numbers(frame: Any, column: str, whole: bool = False) -> NDArray[Any]:
    """The values of a column as numbers (of 64 bits).

    Raises
    ------
    FileFormatError
        A value that is none, naming row and column.
    """
    values = frame[column].to_numpy()
    if values.dtype.kind in "iufb":
        found: NDArray[Any] = np.trunc(values).astype(np.int64) if whole else values.astype(np.float64)
        return found
    made = np.empty(len(values), np.int64 if whole else np.float64)
    for row, value in enumerate(values):
        try:
            made[row] = int(float(value)) if whole else float(value)
        except (TypeError, ValueError, OverflowError):
            raise FileFormatError(f"column {column!r}, row {row}: expected a {'whole ' * whole}number, got {value!r:.60}") from None
    return made


def texts(values: Sequence[Any] | NDArray[Any]) -> list[str]:
    """The values as texts: whole numbers without a point."""
    return [("" if value is None else str(value)) for value in map(plain, values)]
