"""DataFrames as RDDs of data sets, through Arrow."""
from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml.functions import vector_to_array
from pyspark.sql.types import BinaryType, StructField, StructType

from ...samediff.data import DataSet
from ...samediff.errors import ConfigurationError, DL4PyError, did_you_mean
from .failures import Failure


def data_sets_of(frame: Any, features: Any = None, label: Any = None) -> Any:
    """An RDD of data sets, one for each batch of rows that Spark hands over.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    features : str or sequence of str, optional
        Columns of numbers, arrays or vectors, side by side; by default ``features``, or all columns of numbers but those of the labels.
    label : str or sequence of str, optional
        Columns of the labels; by default ``label``.

    Raises
    ------
    ConfigurationError
        Columns that are not there, or hold neither numbers nor arrays of them.
    """
    labels = _names(label) or ["label"]
    inputs = _names(features) or ([c for c in frame.columns if c == "features"]
                                  or [c for c, kind in frame.dtypes if c not in labels and _is_number(kind)])
    if not inputs:
        raise ConfigurationError("the DataFrame has no column of features: name them with features=[...]")
    schema = StructType([StructField("data", BinaryType())])
    plain = frame.select([plain_column(frame, name).alias(f"c{k}") for k, name in enumerate(inputs + labels)])
    return plain.mapInArrow(Packed(len(inputs)), schema).rdd.map(_unpacked)


def plain_column(frame: Any, name: str) -> Any:
    """A column as Arrow can hand it over: a vector as an array.

    Raises
    ------
    ConfigurationError
        It is not there, or holds neither numbers nor arrays of them.
    """
    if name not in frame.columns:
        raise ConfigurationError(f"the DataFrame has no column {name!r}{did_you_mean(name, frame.columns)}; columns: "
                                 f"{', '.join(frame.columns)}")
    kind = dict(frame.dtypes)[name]
    column = frame[f"`{name}`"]
    if kind == "vector":
        return vector_to_array(column)
    if not _is_number(kind) and not (kind.startswith("array<") and _is_number(kind[6:-1])):
        raise ConfigurationError(f"column {name!r} holds {kind}; expected numbers, arrays of numbers or vectors")
    return column


class Packed:
    """Pickled data sets of record batches.

    Parameters
    ----------
    inputs : int
        Number of the columns that are features; the others are labels.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                try:
                    data: DataSet | Failure = self._data_set(batch)
                except DL4PyError as error:
                    data = Failure.of(error, 0)
                yield pa.record_batch([pa.array([pickle.dumps(data, 5)], pa.binary())], ["data"])

    def _data_set(self, batch: Any) -> DataSet:
        columns = [array_of(column) for column in batch.columns]
        features, labels = side_by_side(columns[:self.inputs]), columns[self.inputs:]
        return DataSet(features, labels[0] if len(labels) == 1 else side_by_side(labels))


def array_of(column: Any) -> Any:
    """A column of Arrow's as an array (rows,) or, of lists of one length, (rows, length).

    Raises
    ------
    ConfigurationError
        Missing values, or lists of several lengths.
    """
    if column.null_count:
        raise ConfigurationError(f"a column has {column.null_count} missing values; fill or drop them: df.na.drop()")
    if not hasattr(column, "flatten") or not hasattr(column.type, "value_type"):
        return column.to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    lengths = np.diff(column.offsets.to_numpy())
    if len(lengths) and (lengths != lengths[0]).any():
        raise ConfigurationError(f"arrays of one column have {lengths.min()} to {lengths.max()} numbers; features need one length")
    return flat.reshape(len(column), -1)


def side_by_side(columns: Sequence[Any]) -> Any:
    """Columns as one array (rows, features)."""
    return np.concatenate([c[:, None] if c.ndim == 1 else c for c in columns], axis=1)


def _unpacked(row: Any) -> Any:
    return pickle.loads(row[0])


def _names(given: Any) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _is_number(kind: str) -> bool:
    return kind in ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean") or kind.startswith("decimal")
