"""Tables and columns of pandas, polars and pyarrow as arrays. They come from whoever has these libraries: nothing imports them here."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataTypeError


class _Library(NamedTuple):
    """Functions that read the tables of one library."""

    columns: Callable[[Any], list[tuple[Any, Any]]]         # names and columns; one without a name where it is a column itself
    complete: Callable[[Any], bool]                         # whether a table has no missing values that an array could not show
    missing: Callable[[Any], Any]                           # marks the missing values of a column
    array: Callable[[Any], Any] = np.asarray                # a column without missing values
    says_nan: bool = False                                  # whether NaN stands for what is missing


def _named(table: Any) -> list[tuple[Any, Any]]:
    return [(getattr(table, "name", None), table)]


def _pandas_columns(table: Any) -> list[tuple[Any, Any]]:
    return [(name, table.iloc[:, k]) for k, name in enumerate(table.columns)] if hasattr(table, "columns") else _named(table)


def _numpy_types(table: Any) -> bool:
    return all(isinstance(kind, np.dtype) for kind in (table.dtypes if hasattr(table, "columns") else [table.dtype]))


def _pandas_missing(column: Any) -> Any:
    return np.asarray(column.isna())


def _pandas_array(column: Any) -> Any:
    kind = getattr(column.dtype, "numpy_dtype", None)
    return np.asarray(column) if kind is None or kind.kind == "O" else column.to_numpy(dtype=kind)


def _polars_columns(table: Any) -> list[tuple[Any, Any]]:
    return [(column.name, column) for column in table.get_columns()] if hasattr(table, "get_columns") else _named(table)


def _polars_missing(column: Any) -> Any:
    """Rows of lists miss something where one of their elements is missing."""
    if type(column.dtype).__name__ not in ("List", "Array"):
        return column.is_null().to_numpy()
    return np.array([row is None or bool(_polars_missing(row).any()) for row in column], bool)


def _arrow_columns(table: Any) -> list[tuple[Any, Any]]:
    return list(zip(table.column_names, table.columns)) if hasattr(table, "column_names") else [(None, table)]


_LIBRARIES = {
    "pandas": _Library(_pandas_columns, _numpy_types, _pandas_missing, _pandas_array, says_nan=True),
    "polars": _Library(_polars_columns, lambda table: not any(_polars_missing(c).any() for _, c in _polars_columns(table)),
                       _polars_missing),
    "pyarrow": _Library(_arrow_columns, lambda table: not any(c.null_count for _, c in _arrow_columns(table)),
                        lambda column: np.asarray(column.is_null())),
}


def table_array(value: Any) -> Any:
    """The array of a table or column; None for what is neither.

    Raises
    ------
    DataTypeError
        A column that holds no numbers, or misses some: it is named, and the first row.
    """
    library = _LIBRARIES.get(type(value).__module__.partition(".")[0])
    if library is None or not hasattr(value, "__array__"):
        return None
    if library.complete(value):
        whole = np.asarray(value)
        if whole.dtype.kind in "fiub" and not (library.says_nan and whole.dtype.kind == "f" and np.isnan(whole).any()):
            return whole
    if not hasattr(value, "columns"):                   # a column, which may hold text too
        return _without_gaps(library, getattr(value, "name", None), value)
    columns = [_numbers(library, name, column) for name, column in library.columns(value)]
    return np.stack(columns, axis=1, dtype=np.result_type(*columns), casting="unsafe") if columns else np.asarray(value)


def table_arrays(value: Any) -> Any:
    """Lists of columns, or of lists of these, with arrays in their place; anything else as it is."""
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if first is value or type(first).__module__.partition(".")[0] not in _LIBRARIES:
        return value
    return [table_arrays(v) if isinstance(v, (list, tuple)) else v if (a := table_array(v)) is None else a for v in value]


def _without_gaps(library: _Library, name: Any, column: Any) -> Any:
    missing = library.missing(column)
    if missing.any():
        raise DataTypeError(f"missing values: {_called(name)} has none in row {int(missing.argmax())}, and {int(missing.sum())} of "
                            f"{missing.size} are missing; fill them, or leave these rows out" + _NAN * library.says_nan)
    return library.array(column)


def _numbers(library: _Library, name: Any, column: Any) -> Any:
    array = _without_gaps(library, name, column)
    if array.dtype.kind not in "fiub":
        row = next((k for k, v in enumerate(array) if array.dtype.kind != "O" or not isinstance(v, numbers.Real)), 0)
        raise DataTypeError(f"expected numbers, {_called(name)} holds {_KINDS.get(array.dtype.kind, 'other things')} ({array.dtype}), "
                            f"such as {array[row]!r:.40} in row {row}; leave it out, or turn it into numbers")
    return array


def _called(name: Any) -> str:
    return "the column" if name in (None, "") else f"column {name!r}"


#: Advice where NaN is a value.
_NAN = "; where NaN shall stay, as behind a mask, give the array itself: to_numpy()"
_KINDS = {"O": "text or objects", "U": "text", "T": "text", "M": "dates", "m": "durations", "c": "complex numbers"}
