"""ND4J's old scaler; `NormalizerStandardize` took its place."""
from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from ...base.datatype import is_floating
from ...base.java_names import StandardScalerNames
from ...codecs.atomic_files import atomic_write
from ...codecs.nd4j_array import read_array, write_array
from ...codecs.regular_files import open_regular
from ...errors import ConfigurationError, ShapeError
from ..iterators.iterator import DataSetIterator
from ..sets.dataset import DataSet

__all__ = ["StandardScaler"]

_EPSILON = 1e-5


class StandardScaler(StandardScalerNames):
    """Features to mean 0 and deviation 1 by columns; use `NormalizerStandardize` in new code.

    The deviation is that of a sample (divided by n - 1) plus 1e-5, as ND4J writes it.

    Notes
    -----
    Source: ND4J's deprecated ``StandardScaler``, whose ``fit`` fails in 1.0.0-M2.1.

    Examples
    --------
    >>> scaler = StandardScaler()
    >>> scaler.fit(DataSet([[1.0, 5.0], [3.0, 5.0]], [[0.0], [0.0]]))
    >>> scaler.get_mean().tolist()
    [2.0, 5.0]
    """

    def __init__(self) -> None:
        self._mean: NDArray[np.float64] | None = None
        self._std: NDArray[np.float64] | None = None

    def fit(self, data: DataSet | DataSetIterator) -> None:
        """Take mean and deviation from a data set, or from all batches of an iterator."""
        rows = np.concatenate([np.asarray(b.features, np.float64) for b in ([data] if isinstance(data, DataSet) else data)])
        if rows.ndim != 2 or len(rows) < 2:
            raise ShapeError(f"StandardScaler needs features of shape (examples, columns) and two examples, got {rows.shape}")
        self._mean, self._std = rows.mean(axis=0), rows.std(axis=0, ddof=1) + _EPSILON

    def transform(self, data: DataSet) -> None:
        """Scale the features of a data set in place."""
        scaled = (np.asarray(data.features, np.float64) - self.get_mean()) / self.get_std()
        data.features = scaled.astype(data.features.dtype if is_floating(data.features.dtype) else np.float32)

    pre_process = transform

    def get_mean(self) -> NDArray[np.float64]:
        """The means. Shapes: (columns,)."""
        return _known(self._mean)

    def get_std(self) -> NDArray[np.float64]:
        """The deviations. Shapes: (columns,)."""
        return _known(self._std)

    def save(self, mean: str | os.PathLike[str], std: str | os.PathLike[str]) -> None:
        """Write means and deviations as two files of ND4J arrays."""
        values = self.get_mean(), self.get_std()
        with atomic_write(mean) as first, atomic_write(std) as second:
            for stream, array in zip((first, second), values):
                write_array(stream, array)

    def load(self, mean: str | os.PathLike[str], std: str | os.PathLike[str]) -> None:
        """Read what `save` wrote."""
        with open_regular(mean) as first, open_regular(std) as second:
            self._mean, self._std = (np.asarray(read_array(f), np.float64).reshape(-1) for f in (first, second))


def _known(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if values is None:
        raise ConfigurationError("StandardScaler: call fit first")
    return values
