"""Outputs of a saved model for the columns of DataFrames."""
from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.functions import arrow_udf

from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.codecs.atomic_files import write_file
from ...samediff.data.iterators.list_iterators import check_batch
from ...samediff.errors import MissingPackageError
from ...samediff.graph.graph import SameDiff
from ...samediff.text.document_text import read_text
from ..files.model_zip import is_model_zip, read_configuration
from ..models.model_serializer import ModelSerializer
from ..structure.configuration import is_graph
from .frames import array_of, side_by_side
from .inference import outputs_of

#: The models that were used last, in each process.
_opened: BoundedCache[str, Any] = BoundedCache(4)


def open_model(path: str) -> Any:
    """The network or graph of a file: a model zip, or the file of a SameDiff graph."""
    if not is_model_zip(path):
        return SameDiff.load(path)
    if is_graph(read_text(read_configuration(path), "JSON")):
        return ModelSerializer.restore_computation_graph(path)
    return ModelSerializer.restore_multi_layer_network(path)


class SavedModel:
    """A model file that travels with the function that uses it; each Python process of an executor opens it once.

    Parameters
    ----------
    text : bytes
        The file: a model zip, or the file of a SameDiff graph.
    batch_size : int
        Rows that are computed at once.
    """

    def __init__(self, text: bytes, batch_size: int) -> None:
        self.text, self.batch_size, self.key = text, check_batch(batch_size), hashlib.sha256(text).hexdigest()

    @classmethod
    def of(cls, model: Any, batch_size: int) -> SavedModel:
        """The file of a path, or of a network or graph."""
        if isinstance(model, (str, os.PathLike)):
            with open(model, "rb") as file:
                return cls(file.read(), batch_size)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            model.save(path) if isinstance(model, SameDiff) else ModelSerializer.write_model(model, path, False)
            with open(path, "rb") as file:
                return cls(file.read(), batch_size)

    def model(self) -> Any:
        """The model in this process."""
        found = _opened.used(self.key)
        if found is None:
            found = _opened[self.key] = self._read()
        return found

    def _read(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            write_file(path, self.text)
            try:
                return open_model(path)
            except ImportError as error:
                raise MissingPackageError(f"executors lack what the model is made of: {error}. Install the plug-in there") from error

    def outputs(self, features: Any) -> Any:
        """The outputs (rows, …) of the model for features (rows, …)."""
        model, size = self.model(), self.batch_size
        found = [outputs_of(model, features[i:i + size])[0] for i in range(0, len(features), size)]
        return found[0] if len(found) == 1 else np.concatenate(found) if found else np.zeros((0, 1), np.float32)


def predict_udf(model: Any, batch_size: int = 4096) -> Any:
    """A function of columns that gives the outputs of a model, an array of floats for each row.

    Parameters
    ----------
    model : path, network or graph
        A model file, which the driver reads, or a model; it travels to the executors by itself.
    batch_size : int
        Rows that are computed at once.

    Examples
    --------
    ::

        predict = predict_udf("model.zip")
        df.withColumn("scores", predict("age", "income"))       # columns of numbers, arrays or vectors as arrays
    """
    saved = SavedModel.of(model, batch_size)

    def outputs(*columns: Any) -> Any:
        return rows_of(saved.outputs(features_of(columns)))
    outputs.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return arrow_udf(outputs, "array<float>")


def predict_in_pandas(model: Any, features: Any, output: str = "prediction",
                      batch_size: int = 4096) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for ``df.mapInPandas`` that adds the outputs of a model to each row.

    Parameters
    ----------
    model : path, network or graph
        As for :func:`predict_udf`.
    features : str or sequence of str
        The columns of the features.
    output : str
        The new column: an array of floats.
    batch_size : int
        Rows that are computed at once.

    Examples
    --------
    ::

        df.mapInPandas(predict_in_pandas("model.zip", ["age", "income"]), df.schema.add("prediction", "array<float>"))
    """
    saved, names = SavedModel.of(model, batch_size), [features] if isinstance(features, str) else list(features)

    def added(frames: Iterator[Any]) -> Iterator[Any]:
        for frame in frames:
            columns = [np.stack(list(frame[name])) if frame[name].dtype == object else frame[name].to_numpy() for name in names]
            found = saved.outputs(side_by_side(columns))
            yield frame.assign(**{output: list(found.reshape(len(frame), -1).astype(np.float32))})
    return added


def features_of(columns: Any) -> Any:
    """Columns of Arrow's, side by side, in single precision."""
    return side_by_side([array_of(column) for column in columns]).astype(np.float32, copy=False)


def rows_of(found: Any) -> Any:
    """Outputs (rows, …) as a column of arrays."""
    flat = np.ascontiguousarray(found.reshape(len(found), -1), np.float32)
    offsets = np.arange(0, flat.size + 1, flat.shape[1] or 1, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat.ravel()))
