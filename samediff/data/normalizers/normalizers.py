"""Normalizers of data sets: standardize and min-max."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ...base.java_names import FittedNormalizerNames, NormalizerMinMaxScalerNames, NormalizerStandardizeNames
from ...base.user_code.users_arrays import into_given, users_array
from ...errors import ConfigurationError
from ...expressions.arrays import as_array, require_numbers, to_numbers
from ..iterators.iterator import BatchIterator
from ..sets.column_statistics import DistributionStats, MinMaxStats, Statistics, mapped
from ..sets.dataset import DataSet
from ..sets.dataset_arrays import Array, data_array
from ..sets.multi_dataset import MultiDataSet
from .data_normalization import DataNormalization

__all__ = ["NormalizerMinMaxScaler", "NormalizerStandardize"]


def batches_of(data: Any) -> list[Any]:
    """The data sets of a data set, a list or an iterator; an iterator is put back to its start."""
    if isinstance(data, BatchIterator):
        held, whole = data, data.whole_pass()
        data = list(data) if whole is None else whole
        if held.reset_supported():
            held.reset()
    found = [data] if isinstance(data, (DataSet, MultiDataSet)) else list(data)
    if not found:
        raise ConfigurationError("nothing to fit: the iterator has no batch")
    return found


class FittedNormalizer(DataNormalization, FittedNormalizerNames):
    """Base of normalizers that are fitted to data and then map features, and labels when asked, affinely.

    Statistics are per column for rank 2, per channel or feature (axis 1) for ranks 3 and 4; masked time steps do not
    count, and are set to 0 by `transform` and `revert`.
    """

    statistics_type: ClassVar[type[Statistics]]

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        self.target_min, self.target_max = float(low), float(high)
        self._fit_label = False
        self.feature_stats: Statistics | None = None
        self.label_stats: Statistics | None = None

    def fit_label(self, fit_label: bool) -> None:
        """Whether labels are fitted and mapped too (regression)."""
        self._fit_label = bool(fit_label)

    def is_fit_label(self) -> bool:
        """Whether labels are fitted and mapped too."""
        return self._fit_label

    def fit(self, data: DataSet | BatchIterator[Any] | Iterable[DataSet]) -> None:
        """Take the statistics of a data set, or of all batches of an iterator or list."""
        batches = batches_of(data)
        features = self.statistics_type.collect([(d.features, d.features_mask) for d in batches], "features")
        if self._fit_label:
            self.label_stats = self.statistics_type.collect([(d.labels, d.labels_mask) for d in batches], "labels")
        self.feature_stats = features

    def is_fit(self) -> bool:
        """Whether there are statistics."""
        return self.feature_stats is not None

    def _map(self, which: str, inverse: bool) -> tuple[Array, Array]:
        stats = self.feature_stats if which == "feature" else self.label_stats
        if stats is None:
            raise ConfigurationError(f"{type(self).__name__} has no statistics of the {which}s: call fit() first"
                                     + (", after fit_label(True)" if which == "label" else ""))
        return stats.map(self.target_min, self.target_max, inverse)

    def _apply(self, data: Any, mask: Any, inverse: bool) -> Any:
        if not isinstance(data, DataSet):
            return self._array(data, mask, "feature", inverse)
        parts = data.__dict__
        if parts["features"] is None:
            raise ConfigurationError(f"{type(self).__name__}: the data set has no features")
        features = mapped(parts["features"], parts["features_mask"], *self._map("feature", inverse))
        if self._fit_label and parts["labels"] is not None:
            parts["labels"] = mapped(parts["labels"], parts["labels_mask"], *self._map("label", inverse))
        parts["features"] = features
        return data

    def _array(self, array: Any, mask: Any, which: str, inverse: bool) -> Array:
        values = data_array(array, which)
        if values is None:
            raise ConfigurationError(f"{type(self).__name__}: expected an array of {which}s, got None")
        return into_given(array, mapped(require_numbers(values, "a normalizer"), mask, *self._map(which, inverse)))  # type: ignore[no-any-return]

    def transform(self, data: Any, mask: Any = None) -> Any:
        """Map a data set or DL4J's array of features (with its mask) in place, other arrays into a new one; returns it."""
        return self._apply(data, mask, False)

    def revert(self, data: Any, mask: Any = None) -> Any:
        """The inverse of `transform`."""
        return self._apply(data, mask, True)

    def transform_label(self, labels: Any, mask: Any = None) -> Array:
        """Map labels, when `fit_label` asks for it."""
        return self._array(labels, mask, "label", False) if self._fit_label else to_numbers(labels, "a normalizer")

    def revert_labels(self, labels: Any, mask: Any = None) -> Array:
        """Map labels back, when `fit_label` asks for it."""
        return self._array(labels, mask, "label", True) if self._fit_label else to_numbers(labels, "a normalizer")

    def revert_features(self, features: Any, mask: Any = None) -> Array:
        """Map features back."""
        return self._array(features, mask, "feature", True)

    def _set(self, which: str, first: Any, second: Any) -> None:
        given = [v if hasattr(v, "dtype") else as_array(v, np.float32) for v in (first, second)]
        pair = [to_numbers(v, "a normalizer").reshape(1, -1) for v in given]
        if pair[0].shape != pair[1].shape:
            raise ConfigurationError(f"{' and '.join(self.statistics_type.names)} need the same size, "
                                     f"got {pair[0].size} and {pair[1].size}")
        setattr(self, f"{which}_stats", self.statistics_type(*pair))

    def set_feature_stats(self, first: Any, second: Any) -> None:
        """Give the statistics of the features (mean and std, or min and max) instead of fitting."""
        self._set("feature", first, second)

    def set_label_stats(self, first: Any, second: Any) -> None:
        """Give the statistics of the labels instead of fitting."""
        self._set("label", first, second)

    def _statistic(self, which: str, number: int) -> Array:
        self._map(which, False)
        stats: Statistics = getattr(self, f"{which}_stats")
        return users_array(stats.second if number else stats.first)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(fit_label={self._fit_label}, is_fit={self.is_fit()})"


class NormalizerStandardize(FittedNormalizer, NormalizerStandardizeNames):
    """``(x - mean) / std`` per column or channel, with the population standard deviation, at least 1e-5.

    Shapes: features (examples, columns), (examples, features, time) or (examples, channels, height, width).

    Parameters
    ----------
    mean, std, label_mean, label_std : array-like, optional
        Given statistics instead of `fit`.

    Raises
    ------
    ConfigurationError
        `transform` before `fit`.

    Notes
    -----
    Source: ND4J's ``NormalizerStandardize``.

    Examples
    --------
    >>> data = DataSet([[1.0], [2.0], [3.0]], [[0.0], [0.0], [1.0]])
    >>> n = NormalizerStandardize()
    >>> n.fit(data)
    >>> n.transform(data).get_features().round(3)
    array([[-1.225],
           [ 0.   ],
           [ 1.225]], dtype=float32)
    """

    statistics_type = DistributionStats

    def __init__(self, mean: Any = None, std: Any = None, label_mean: Any = None, label_std: Any = None) -> None:
        super().__init__()
        if mean is not None:
            self.set_feature_stats(mean, std)
        if label_mean is not None:
            self.set_label_stats(label_mean, label_std)
            self._fit_label = True

    def get_mean(self) -> Array:
        """Means of the features. Shapes: (1, features)."""
        return self._statistic("feature", 0)

    def get_std(self) -> Array:
        """Standard deviations of the features. Shapes: (1, features)."""
        return self._statistic("feature", 1)

    def get_label_mean(self) -> Array:
        """Means of the labels. Shapes: (1, labels)."""
        return self._statistic("label", 0)

    def get_label_std(self) -> Array:
        """Standard deviations of the labels. Shapes: (1, labels)."""
        return self._statistic("label", 1)


class NormalizerMinMaxScaler(FittedNormalizer, NormalizerMinMaxScalerNames):
    """``(x - min) / (max - min) * (high - low) + low`` per column or channel.

    Shapes: as `NormalizerStandardize`.

    Parameters
    ----------
    low, high : float, default 0 and 1
        The range to map to.

    Raises
    ------
    ConfigurationError
        `transform` before `fit`.

    Notes
    -----
    Source: ND4J's ``NormalizerMinMaxScaler``.

    Examples
    --------
    >>> n = NormalizerMinMaxScaler(-1, 1)
    >>> n.fit(DataSet([[0.0], [4.0]], [[0.0], [0.0]]))
    >>> n.transform([[1.0]]).tolist()
    [[-0.5]]
    """

    statistics_type = MinMaxStats

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(low, high)

    def get_min(self) -> Array:
        """Smallest values of the features. Shapes: (1, features)."""
        return self._statistic("feature", 0)

    def get_max(self) -> Array:
        """Largest values of the features. Shapes: (1, features)."""
        return self._statistic("feature", 1)

    def get_label_min(self) -> Array:
        """Smallest values of the labels. Shapes: (1, labels)."""
        return self._statistic("label", 0)

    def get_label_max(self) -> Array:
        """Largest values of the labels. Shapes: (1, labels)."""
        return self._statistic("label", 1)

    def get_target_min(self) -> float:
        """Lower end of the range."""
        return self.target_min

    def get_target_max(self) -> float:
        """Upper end of the range."""
        return self.target_max
