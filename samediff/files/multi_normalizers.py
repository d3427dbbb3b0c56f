"""Files of normalizers of several inputs and outputs: their part after the type, and the statistics that all of them write."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codecs.data_stream import DataInput, DataOutput
from ..codecs.nd4j_array import read_array, write_array
from ..data.normalizers.multi_normalizers import (
    STANDARDIZE,
    MultiNormalizerHybrid,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
    Strategy,
)
from ..data.sets.column_statistics import DistributionStats, MinMaxStats

if TYPE_CHECKING:
    from ..data.normalizers.multi_normalizers import MultiNormalizerHybrid, Strategy
    from ..data.sets.column_statistics import Statistics

_MAX_PARTS = 1 << 16            # inputs or outputs of one normalizer
_MAX_FEATURES = 1 << 28
_NOTHING, _STANDARDIZE, _MIN_MAX = 0, 1, 2


# statistics: two arrays


def write_stats(out: DataOutput, stats: Statistics) -> None:
    """Write the two arrays of one input or output."""
    for array in (stats.first, stats.second):
        write_array(out.stream, array)


def read_stats(source: DataInput) -> tuple[Any, Any]:
    """Read what `write_stats` wrote. Shapes: (1, columns) each."""
    first, second = (read_array(source.stream, max_elements=_MAX_FEATURES, where=source.where) for _ in range(2))
    if first.shape != second.shape:
        raise source.error(f"two arrays of statistics of shapes {first.shape} and {second.shape}")
    return first.reshape(1, -1), second.reshape(1, -1)


def _count(source: DataInput, what: str, least: int = 0) -> int:
    count = source.read_int(f"the number of {what}")
    if not least <= count <= _MAX_PARTS:
        raise source.error(f"{count} {what}; expected {least} to {_MAX_PARTS}")
    return count


# several inputs and outputs


def write_multi(out: DataOutput, normalizer: Any) -> None:
    """Write a normalizer that treats all inputs and outputs alike."""
    labels = normalizer.is_fit_label()
    features, outputs = ([s for _, s in sorted(normalizer.stats[kind].items())] for kind in ("features", "labels"))
    out.write_boolean(labels)
    out.write_int(len(features))
    out.write_int(len(outputs) if labels else -1)
    _write_range(out, normalizer.strategy("features", 0))
    for stats in (*features, *(outputs if labels else ())):
        write_stats(out, stats)


def read_multi_standardize(source: DataInput) -> Any:
    """Read a ``MultiNormalizerStandardize``."""
    return _fill_multi(source, *_multi_counts(source), MultiNormalizerStandardize())


def read_multi_min_max(source: DataInput) -> Any:
    """Read a ``MultiNormalizerMinMaxScaler``; the range stands behind the counts."""
    counts = _multi_counts(source)
    scaler = MultiNormalizerMinMaxScaler(*(source.read_double("the range") for _ in range(2)))
    return _fill_multi(source, *counts, scaler)


def _multi_counts(source: DataInput) -> tuple[bool, int, int]:
    return source.read_boolean("fitLabels"), _count(source, "inputs"), _count(source, "outputs", -1)


def _fill_multi(source: DataInput, labels: bool, inputs: int, outputs: int, normalizer: Any) -> Any:
    normalizer.fit_label(labels)
    features = [read_stats(source) for _ in range(inputs)]
    normalizer.set_stats(features, [read_stats(source) for _ in range(outputs if labels else 0)])
    return normalizer


# a strategy for each


def _kind_of(statistics: type[Statistics]) -> int:
    return _MIN_MAX if statistics.names == ("min", "max") else _STANDARDIZE


def _write_range(out: DataOutput, strategy: Strategy) -> None:
    if _kind_of(strategy.statistics) == _MIN_MAX:
        out.write_double(strategy.low)
        out.write_double(strategy.high)


def _write_strategy(out: DataOutput, strategy: Strategy | None) -> None:
    kind = _kind_of(strategy.statistics) if strategy else _NOTHING
    out.write_int(kind)
    if strategy:
        _write_range(out, strategy)


def _read_strategy(source: DataInput) -> Strategy | None:
    kind = source.read_int("a strategy")
    if kind == _MIN_MAX:
        return Strategy(MinMaxStats, *(source.read_double("the range") for _ in range(2)))
    if kind not in (_NOTHING, _STANDARDIZE):
        raise source.error(f"unknown strategy {kind}; expected 0 (none), 1 (standardize) or 2 (min-max)")
    return STANDARDIZE if kind == _STANDARDIZE else None


def write_hybrid(out: DataOutput, normalizer: MultiNormalizerHybrid) -> None:
    """Write statistics, the strategies for all, and those of single inputs and outputs."""
    for kind in ("features", "labels"):
        stats = normalizer.stats[kind]
        out.write_int(len(stats))
        for index in sorted(stats):
            out.write_int(index)
            out.write_int(_kind_of(type(stats[index])))
            write_stats(out, stats[index])
    for kind in ("features", "labels"):
        _write_strategy(out, normalizer.strategies[kind].get(None))
    for kind in ("features", "labels"):
        own = {i: strategy for i, strategy in normalizer.strategies[kind].items() if i is not None}
        out.write_int(len(own))
        for index in sorted(own):
            out.write_int(index)
            _write_strategy(out, own[index])


def read_hybrid(source: DataInput) -> Any:
    """Read what `write_hybrid` wrote."""
    classes = {_STANDARDIZE: DistributionStats, _MIN_MAX: MinMaxStats}
    normalizer = MultiNormalizerHybrid()
    for kind in ("features", "labels"):
        for _ in range(_count(source, f"statistics of {kind}")):
            index, number = source.read_int("an index"), source.read_int("a kind of statistics")
            if number not in classes:
                raise source.error(f"unknown kind of statistics {number}; expected 1 (standardize) or 2 (min-max)")
            normalizer.stats[kind][index] = classes[number](*read_stats(source))
    for kind in ("features", "labels"):
        overall = _read_strategy(source)
        if overall is not None:
            normalizer.strategies[kind][None] = overall
    for kind in ("features", "labels"):
        for _ in range(_count(source, f"strategies of {kind}")):
            index, own = source.read_int("an index"), _read_strategy(source)
            if own is not None:
                normalizer.strategies[kind][index] = own
    normalizer.fitted = True
    return normalizer
