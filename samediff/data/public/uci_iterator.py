"""The control charts of the UCI repository: 600 synthetic time series in six classes."""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...codecs.regular_files import read_file
from ...errors import ConfigurationError, FileFormatError
from ..iterators.list_iterators import ViewIterator
from ..sets.dataset import DataSet
from ..sets.java_random import JavaRandom
from .fetcher import fetch
from .labelled_examples import DataSetType

__all__ = ["UciSequenceDataSetIterator"]

_CLASSES, _OF_EACH, _STEPS, _TRAIN = 6, 100, 60, 450
_SEED = 12345       # of the order in which DL4J divides the series into training and test
LABELS = ("normal", "cyclic", "increasing trend", "decreasing trend", "upward shift", "downward shift")


class UciSequenceDataSetIterator(ViewIterator):
    """Synthetic control charts: 450 training and 150 test series of 60 time steps in six classes.

    Shapes: features (batch, 1, 60), labels (batch, 6, 60): every time step has the label of its series.

    Parameters
    ----------
    data_set : DataSetType or str, default TRAIN
        TRAIN or TEST.
    rng_seed : int, default 123
        Has no effect, as in DL4J: the order is always the same.
    file : path, optional
        Take ``synthetic_control.data`` from here instead of fetching it.

    Notes
    -----
    Source: DL4J's ``UciSequenceDataSetIterator``, with its division into training and test. R. Alcock, *Synthetic
    control chart time series*, UCI Machine Learning Repository (1999).
    """

    def __init__(self, batch: int, data_set: DataSetType | str = DataSetType.TRAIN, rng_seed: int = 123, *,
                 file: str | os.PathLike[str] | None = None) -> None:
        kind = DataSetType.of(data_set)
        if kind is DataSetType.VALIDATION:
            raise ConfigurationError("the control charts have no validation part: use TRAIN or TEST")
        series = _table(fetch("uci-sequence") if file is None else Path(file))
        order = list(range(len(series)))
        JavaRandom(_SEED).shuffle(order)
        chosen = np.array(order[:_TRAIN] if kind is DataSetType.TRAIN else order[_TRAIN:])
        labels = np.zeros((len(chosen), _CLASSES, _STEPS), np.float32)
        labels[np.arange(len(chosen)), chosen // _OF_EACH] = 1
        data = DataSet(series[chosen][:, None], labels)
        data.label_names = list(LABELS)
        super().__init__(data, batch)


def _table(path: Path) -> NDArray[np.float32]:
    rows = [line.split() for line in read_file(path).decode("ascii", "replace").splitlines() if line.strip()]
    if len(rows) != _CLASSES * _OF_EACH:
        raise FileFormatError(f"{path}: {len(rows)} series, expected {_CLASSES * _OF_EACH}")
    for number, row in enumerate(rows):
        if len(row) != _STEPS:
            raise FileFormatError(f"{path}: series {number} has {len(row)} values, expected {_STEPS}")
    try:
        table = np.array(rows, np.float64)
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from None
    if not np.isfinite(table).all():
        raise FileFormatError(f"{path}: values that are not finite")
    return table.astype(np.float32)
