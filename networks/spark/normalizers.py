"""Normalizers whose statistics are those of an RDD."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...samediff.data import DataSet, MultiDataSet, MultiNormalizerHybrid
from ...samediff.data.normalizers.normalizers import FittedNormalizer
from ...samediff.data.sets.column_statistics import Statistics
from ...samediff.errors import ConfigurationError, DL4PyError
from .batches import as_data_set
from .contexts import spark_errors
from .failures import Failure, raise_first

#: What is normalized: "features" or "labels", and the number of an input or output, None for the only one.
Part = tuple[str, int | None]


def fit_normalizer(normalizer: Any, data: Any) -> None:
    """Give a normalizer the statistics of an RDD of data sets: those that it would take on one machine.

    Parameters
    ----------
    normalizer : NormalizerStandardize, NormalizerMinMaxScaler, MultiNormalizerHybrid and those derived from it
        It is fitted.
    data : RDD
        The data sets.

    Raises
    ------
    ConfigurationError
        A normalizer of another kind, or data without rows.
    """
    if not isinstance(normalizer, (FittedNormalizer, MultiNormalizerHybrid)):
        raise ConfigurationError(f"expected a normalizer with statistics of columns, such as NormalizerStandardize(); got "
                                 f"{type(normalizer).__name__}")
    with spark_errors("the statistics"):
        found = data.mapPartitionsWithIndex(_Partials(normalizer)).collect()
    raise_first(part for _, part in found)
    parts: dict[Part, tuple[type[Statistics], list[Any]]] = {}
    for _, (part, kind, partial) in sorted(found, key=lambda pair: pair[0]):
        parts.setdefault(part, (kind, []))[1].append(partial)
    if not parts:
        raise ConfigurationError("nothing to fit: the RDD has no data set")
    made = {part: kind.combined(partials, _text(part)) for part, (kind, partials) in parts.items()}
    if isinstance(normalizer, FittedNormalizer):
        normalizer.feature_stats, normalizer.label_stats = made["features", None], made.get(("labels", None), normalizer.label_stats)
    else:
        normalizer.stats = {kind: {i: stats for (own, i), stats in made.items() if own == kind} for kind in ("features", "labels")}  # type: ignore[misc]
        normalizer.fitted = True


def normalized(data: Any, normalizer: Any) -> Any:
    """An RDD of the data sets, mapped by a fitted normalizer; those of the given RDD stay as they are.

    Parameters
    ----------
    data : RDD
        The data sets.
    normalizer : any normalizer or preprocessor of data sets
        It is sent to executors.
    """
    return data.map(_Mapped(normalizer))


class _Partials:
    """Partial statistics of a partition, with what they are of."""

    def __init__(self, normalizer: Any) -> None:
        self.normalizer = normalizer

    def __call__(self, index: int, data: Iterator[Any]) -> Iterator[Any]:
        try:
            batches = [as_data_set(one) for one in data]
            for part, (kind, arrays) in (_parts(self.normalizer, batches[0]) if batches else {}).items():
                yield index, (part, kind, kind.partial([arrays(one) for one in batches], _text(part)))
        except DL4PyError as error:
            yield index, Failure.of(error, index)


def _parts(normalizer: Any, first: Any) -> dict[Part, tuple[type[Statistics], Callable[[Any], Any]]]:
    """What a normalizer takes statistics of: their kind, and the array with its mask."""
    if isinstance(normalizer, FittedNormalizer):
        found: dict[Part, Any] = {("features", None): (normalizer.statistics_type, lambda d: (d.features, d.features_mask))}
        if normalizer.is_fit_label():
            found["labels", None] = normalizer.statistics_type, lambda d: (d.labels, d.labels_mask)
        return found
    lists = (first if isinstance(first, MultiDataSet) else first.to_multi_data_set()).lists
    plans = {(kind, i): normalizer.strategy(kind, i) for kind in ("features", "labels") for i in range(len(lists[kind]))}
    return {part: (plan.statistics, _Array(*part)) for part, plan in plans.items() if plan}


class _Array:
    """One array of a data set with its mask."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.number = kind, number

    def __call__(self, data: Any) -> Any:
        whole = data.to_multi_data_set() if isinstance(data, DataSet) else data
        return whole.array(self.kind, self.number), whole.array(f"{self.kind}_masks", self.number)


class _Mapped:
    """A data set after a normalizer."""

    def __init__(self, normalizer: Any) -> None:
        self.normalizer = normalizer

    def __call__(self, data: Any) -> Any:
        copy = as_data_set(data).copy()
        self.normalizer.pre_process(copy)
        return copy


def _text(part: Part) -> str:
    return part[0] if part[1] is None else f"{part[0]} {part[1]}"
