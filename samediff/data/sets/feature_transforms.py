"""Changes of the features of one data set by its own statistics or by constants."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.datatype import is_floating
from ...base.user_code.users_arrays import users_array
from ...errors import ShapeError
from .column_statistics import DistributionStats, mapped
from .dataset_arrays import Array

_SMALLEST = 1e-5    # keeps constant columns from being divided by zero, as ND4J does


class FeatureTransforms:
    """Mix-in of DataSet: every method replaces the features and leaves labels and masks."""

    features: Array
    features_mask: Array | None

    def _change(self, function: Callable[[Array], Any], rank: int | None = None) -> None:
        x = self.features
        if x is None or (rank is not None and x.ndim != rank):
            raise ShapeError(f"expected features of rank {rank}, got {None if x is None else x.shape}")
        exact = x.astype(np.float64) if x.dtype.kind in "iub" else x
        self.features = np.asarray(function(exact)).astype(x.dtype if is_floating(x.dtype) else np.float32)

    def normalize(self) -> None:
        """Features to mean 0 and population standard deviation 1 per column (per channel for ranks 3 and 4)."""
        stats = DistributionStats.collect([(self.features, self.features_mask)], "features")
        self.features = mapped(self.features, self.features_mask, *stats.affine(0, 1))

    def normalize_zero_mean_zero_unit_variance(self) -> None:
        """Columns to mean 0 and standard deviation 1, with the sample standard deviation (n - 1); one example to 0."""
        self._change(lambda x: (x - x.mean(axis=0)) / (x.std(axis=0, ddof=min(1, len(x) - 1)) + _SMALLEST), rank=2)

    def scale(self) -> None:
        """Divide every row by its largest value."""
        self._change(lambda x: x / x.max(axis=1, keepdims=True), rank=2)

    def scale_min_and_max(self, low: float, high: float) -> None:
        """Columns to the range from ``low`` to ``high``."""
        def scaled(x: Array) -> Any:
            least, most = x.min(axis=0), x.max(axis=0)
            return (x - least) / np.maximum(most - least, _SMALLEST) * (high - low) + low
        self._change(scaled, rank=2)

    def add_feature_vector(self, columns: Any) -> None:
        """Append further features as columns (rank 2)."""
        self._change(lambda x: np.concatenate([x, np.asarray(columns).reshape(len(x), -1)], axis=1), rank=2)

    def example_sums(self) -> Array:
        """The sum of each row of features."""
        return users_array(self.features.sum(axis=1))  # type: ignore[no-any-return]

    def example_means(self) -> Array:
        """The mean of each row of features."""
        return users_array(self.features.mean(axis=1))  # type: ignore[no-any-return]

    def example_maxs(self) -> Array:
        """The largest value of each row of features."""
        return users_array(self.features.max(axis=1))  # type: ignore[no-any-return]

    def binarize(self, cutoff: float = 0.0) -> None:
        """1 where a feature is larger than ``cutoff``, else 0."""
        self._change(lambda x: x > cutoff)

    def multiply_by(self, factor: float) -> None:
        """Multiply the features."""
        self._change(lambda x: x * factor)

    def divide_by(self, divisor: float) -> None:
        """Divide the features."""
        self._change(lambda x: x / divisor)

    def round_to_the_nearest(self, digits: int) -> None:
        """Round the features to so many decimal digits."""
        self._change(lambda x: np.round(x, digits))

    def squish_to_range(self, low: float, high: float) -> None:
        """Clip the features to the range from ``low`` to ``high``."""
        self._change(lambda x: np.clip(x, low, high))
