"""Normalizers of data sets with several inputs and outputs."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ...base.java_names import MultiNormalizerHybridNames, MultiNormalizerMinMaxScalerNames, MultiNormalizerStandardizeNames
from ...base.user_code.users_arrays import into_given, users_array
from ...errors import ConfigurationError
from ..iterators.iterator import BatchIterator
from ..sets.column_statistics import DistributionStats, MinMaxStats, Statistics, mapped
from ..sets.dataset_arrays import Array
from ..sets.multi_dataset import MultiDataSet
from .data_normalization import MultiDataNormalization
from .normalizers import batches_of

__all__ = ["MultiNormalizerHybrid", "MultiNormalizerMinMaxScaler", "MultiNormalizerStandardize"]


@dataclass(frozen=True)
class Strategy:
    """The normalization of one input or output."""

    statistics: type[Statistics]
    low: float = 0.0
    high: float = 1.0


STANDARDIZE = Strategy(DistributionStats)


class MultiNormalizerHybrid(MultiDataNormalization, MultiNormalizerHybridNames):
    """Every input and output normalized in its own way: standardized, scaled to a range, or left alone.

    What is said for one input or output goes before what is said for all. Shapes and masks as for
    `NormalizerStandardize`.

    Notes
    -----
    Source: ND4J's ``MultiNormalizerHybrid``.

    Examples
    --------
    >>> data = MultiDataSet([[[1.0], [3.0]], [[0.0], [8.0]]], [[[0.0], [1.0]]])
    >>> n = MultiNormalizerHybrid().standardize_input(0).min_max_scale_input(1)
    >>> n.fit(data)
    >>> [a.tolist() for a in n.transform(data).get_features()]
    [[[-1.0], [1.0]], [[0.0], [1.0]]]
    """

    def __init__(self) -> None:
        self.strategies: dict[str, dict[int | None, Strategy]] = {"features": {}, "labels": {}}    # None: all of them
        self.stats: dict[str, dict[int, Statistics]] = {"features": {}, "labels": {}}
        self.fitted = False

    # what to do ------------------------------------------------------------------------------------------------

    def _plan(self, kind: str, index: int | None, strategy: Strategy) -> Self:
        self.strategies[kind][index] = strategy
        return self

    def standardize_all_inputs(self) -> Self:
        """Standardize every input."""
        return self._plan("features", None, STANDARDIZE)

    def standardize_input(self, index: int) -> Self:
        """Standardize one input."""
        return self._plan("features", index, STANDARDIZE)

    def standardize_all_outputs(self) -> Self:
        """Standardize every output."""
        return self._plan("labels", None, STANDARDIZE)

    def standardize_output(self, index: int) -> Self:
        """Standardize one output."""
        return self._plan("labels", index, STANDARDIZE)

    def min_max_scale_all_inputs(self, low: float = 0.0, high: float = 1.0) -> Self:
        """Scale every input to a range."""
        return self._plan("features", None, Strategy(MinMaxStats, low, high))

    def min_max_scale_input(self, index: int, low: float = 0.0, high: float = 1.0) -> Self:
        """Scale one input to a range."""
        return self._plan("features", index, Strategy(MinMaxStats, low, high))

    def min_max_scale_all_outputs(self, low: float = 0.0, high: float = 1.0) -> Self:
        """Scale every output to a range."""
        return self._plan("labels", None, Strategy(MinMaxStats, low, high))

    def min_max_scale_output(self, index: int, low: float = 0.0, high: float = 1.0) -> Self:
        """Scale one output to a range."""
        return self._plan("labels", index, Strategy(MinMaxStats, low, high))

    def strategy(self, kind: str, index: int) -> Strategy | None:
        """The normalization of one of the ``features`` or ``labels``; None for none."""
        plans = self.strategies[kind]
        return plans.get(index, plans.get(None))

    # doing it --------------------------------------------------------------------------------------------------

    def fit(self, data: MultiDataSet | BatchIterator[Any] | Iterable[MultiDataSet]) -> None:
        """Take the statistics of a data set, or of all batches of an iterator or list."""
        batches: list[MultiDataSet] = batches_of(data)
        stats: dict[str, dict[int, Statistics]] = {}
        for kind in self.stats:
            plans = {i: self.strategy(kind, i) for i in range(len(batches[0].lists[kind]))}
            stats[kind] = {i: plan.statistics.collect(
                [(b.array(kind, i), b.array(f"{kind}_masks", i)) for b in batches], f"{kind} {i}")
                for i, plan in plans.items() if plan}
        self.stats, self.fitted = stats, True

    def is_fit(self) -> bool:
        """Whether there are statistics."""
        return self.fitted

    def _map(self, kind: str, index: int, inverse: bool) -> tuple[Array, Array] | None:
        if not self.fitted:
            raise ConfigurationError(f"{type(self).__name__} has no statistics: call fit() first")
        plan, stats = self.strategy(kind, index), self.stats[kind].get(index)
        if plan is None or stats is None:
            return None
        return stats.map(plan.low, plan.high, inverse)

    def _mapped(self, kind: str, arrays: Any, masks: Any, inverse: bool) -> list[Array | None]:
        out: list[Array | None] = []
        for i, array in enumerate(arrays):
            affine = self._map(kind, i, inverse)
            mask = masks[i] if masks else None
            out.append(array if affine is None or array is None else into_given(array, mapped(array, mask, *affine)))
        return out

    def _apply(self, data: MultiDataSet, inverse: bool) -> MultiDataSet:
        lists = data.lists
        new = {kind: self._mapped(kind, lists[kind], lists[f"{kind}_masks"], inverse) for kind in self.stats}
        lists.update(new)
        return data

    def transform(self, data: MultiDataSet) -> MultiDataSet:
        """Map a data set in place; returns it."""
        return self._apply(data, False)

    def revert(self, data: MultiDataSet) -> MultiDataSet:
        """The inverse of `transform`."""
        return self._apply(data, True)

    def revert_features(self, features: list[Array], masks: list[Array | None] | None = None) -> list[Array | None]:
        """Map features back."""
        return self._mapped("features", features, masks, True)

    def revert_labels(self, labels: list[Array], masks: list[Array | None] | None = None) -> list[Array | None]:
        """Map labels (network outputs) back."""
        return self._mapped("labels", labels, masks, True)

    def _statistic(self, kind: str, index: int, number: int) -> Array:
        if index not in self.stats[kind]:
            raise ConfigurationError(f"{type(self).__name__} has no statistics of {kind} {index}")
        stats = self.stats[kind][index]
        return users_array(stats.second if number else stats.first)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(is_fit={self.fitted})"


class _Uniform(MultiNormalizerHybrid):
    """The same for all inputs, and for all outputs when asked."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__()
        self._strategy = strategy
        self._plan("features", None, strategy)

    def fit_label(self, fit_label: bool) -> None:
        """Whether labels are fitted and mapped too (regression)."""
        self.strategies["labels"] = {None: self._strategy} if fit_label else {}

    def is_fit_label(self) -> bool:
        """Whether labels are fitted and mapped too."""
        return bool(self.strategies["labels"])

    def set_stats(self, features: list[tuple[Any, Any]], labels: list[tuple[Any, Any]] | None = None) -> None:
        """Give the statistics (pairs, one for every input and output) instead of fitting."""
        kind = self._strategy.statistics
        self.stats = {"features": {i: kind(*pair) for i, pair in enumerate(features)},
                      "labels": {i: kind(*pair) for i, pair in enumerate(labels or [])}}
        self.fitted = True


class MultiNormalizerStandardize(_Uniform, MultiNormalizerStandardizeNames):
    """``(x - mean) / std`` for every input, and for every output after ``fit_label(True)``.

    Notes
    -----
    Source: ND4J's ``MultiNormalizerStandardize``.
    """

    def __init__(self) -> None:
        super().__init__(STANDARDIZE)

    def get_feature_mean(self, index: int) -> Array:
        """Means of one input. Shapes: (1, features)."""
        return self._statistic("features", index, 0)

    def get_feature_std(self, index: int) -> Array:
        """Standard deviations of one input. Shapes: (1, features)."""
        return self._statistic("features", index, 1)

    def get_label_mean(self, index: int) -> Array:
        """Means of one output. Shapes: (1, labels)."""
        return self._statistic("labels", index, 0)

    def get_label_std(self, index: int) -> Array:
        """Standard deviations of one output. Shapes: (1, labels)."""
        return self._statistic("labels", index, 1)


class MultiNormalizerMinMaxScaler(_Uniform, MultiNormalizerMinMaxScalerNames):
    """Scale every input, and after ``fit_label(True)`` every output, to the range from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        The range; 0 and 1 by default.

    Notes
    -----
    Source: ND4J's ``MultiNormalizerMinMaxScaler``.
    """

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__(Strategy(MinMaxStats, float(low), float(high)))

    def get_min(self, index: int) -> Array:
        """Smallest values of one input. Shapes: (1, features)."""
        return self._statistic("features", index, 0)

    def get_max(self, index: int) -> Array:
        """Largest values of one input. Shapes: (1, features)."""
        return self._statistic("features", index, 1)

    def get_label_min(self, index: int) -> Array:
        """Smallest values of one output. Shapes: (1, labels)."""
        return self._statistic("labels", index, 0)

    def get_label_max(self, index: int) -> Array:
        """Largest values of one output. Shapes: (1, labels)."""
        return self._statistic("labels", index, 1)
