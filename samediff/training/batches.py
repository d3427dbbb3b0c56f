"""What can be trained on or evaluated: turning it into batches, and batches into placeholder values."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data import DataSet, MultiDataSet
from ..errors import ConfigurationError
from .config import TrainingConfig


class Batch(NamedTuple):
    """One batch: as given to listeners and evaluations, and the placeholder values."""

    data: MultiDataSet
    feeds: dict[str, Any]


def is_array(value: Any) -> bool:
    """Whether a value is an array rather than a collection of batches."""
    return isinstance(value, np.ndarray) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def is_single(data: Any) -> bool:
    """Whether ``data`` is one batch: a data set, a dictionary of arrays, or ``(x, y)``."""
    return isinstance(data, (DataSet, MultiDataSet, Mapping)) or is_array(data) or _is_pair(data)


def _is_pair(data: Any) -> bool:
    return isinstance(data, tuple) and 1 <= len(data) <= 2 and all(
        is_array(a) or (isinstance(a, list) and a and all(is_array(i) for i in a)) for a in data)


def as_batch(item: Any, config: TrainingConfig, labels_needed: bool = True) -> Batch:
    """One batch in any accepted form.

    Raises
    ------
    ConfigurationError
        The number of arrays differs from the mappings of the training configuration, or the form is unknown.
    """
    if isinstance(item, Mapping):
        feeds = {k if isinstance(k, str) else k.name(): v for k, v in item.items()}
        return Batch(_as_data(feeds, config), feeds)
    if isinstance(item, DataSet):
        item = item.to_multi_data_set()
    elif _is_pair(item) or is_array(item):
        item = MultiDataSet(*(item if isinstance(item, tuple) else (item,)))
    if not isinstance(item, MultiDataSet):
        raise ConfigurationError(f"expected a DataSet, MultiDataSet, dictionary of arrays or (features, labels); got {type(item).__name__}")
    labels = item.get_labels()
    if not labels_needed and not labels:
        config = _without_labels(config)
    masks = item.get_labels_mask_arrays()
    if not labels_needed and not config.data_set_label_mapping:      # they are for evaluations, not for the graph
        labels, masks = [], None
    return Batch(item, config.placeholders(item.get_features(), labels, item.get_features_mask_arrays(), masks))


def in_batches(data: Any, size: Any, config: TrainingConfig) -> list[MultiDataSet]:
    """One data set or ``(x, y)`` cut into batches of ``size`` examples.

    Raises
    ------
    ConfigurationError
        ``size`` is no positive whole number, or the data come in batches already.
    """
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size <= 0:
        raise ConfigurationError(f"batch_size must be a whole number above 0; got {size!r}")
    if not is_single(data) or isinstance(data, Mapping):
        raise ConfigurationError(f"batch_size cuts one data set or (x, y) into batches; "
                                 f"{type(data).__name__} decides on its batches itself")
    whole = as_batch(data, config).data
    return [whole.get_range(i, min(i + int(size), len(whole))) for i in range(0, len(whole), int(size))]


def _as_data(feeds: Mapping[str, Any], config: TrainingConfig) -> MultiDataSet:
    def pick(names: Iterable[str] | None) -> list[Any] | None:
        return [feeds.get(n) for n in names or ()] or None
    parts = [pick(config.data_set_feature_mapping), pick(config.data_set_label_mapping),
             pick(config.data_set_feature_mask_mapping), pick(config.data_set_label_mask_mapping)]
    return MultiDataSet(*(None if p is None or any(a is None for a in p) else p for p in parts))


def _without_labels(config: TrainingConfig) -> TrainingConfig:
    return TrainingConfig(data_set_feature_mapping=config.data_set_feature_mapping, data_set_label_mapping=(),
                          data_set_feature_mask_mapping=config.data_set_feature_mask_mapping,
                          data_set_label_mask_mapping=config.data_set_label_mask_mapping)


class Source:
    """Batches that can be gone through once or, when resettable, several times."""

    def __init__(self, data: Any) -> None:
        if data is None:
            raise ConfigurationError("no data: expected a data set, an iterator, a list of data sets, a dictionary of arrays or (x, y)")
        self.data: Any = [data] if is_single(data) else data
        self._java = hasattr(self.data, "has_next")
        if not self._java and not hasattr(self.data, "__iter__"):
            raise ConfigurationError(f"{type(data).__name__} holds no batches: expected a data set, an iterator of them or a list")

    def resettable(self) -> bool:
        """Whether there can be a second pass."""
        if self._java:
            return bool(self.data.reset_supported())
        return iter(self.data) is not self.data

    def rewind(self) -> None:
        """Go back to the first batch, where that is possible."""
        if self._java and self.resettable():
            self.data.reset()

    def __iter__(self) -> Iterator[Any]:
        if not self._java:
            yield from self.data
            return
        if not self.data.has_next():
            self.rewind()
        while self.data.has_next():
            yield self.data.next()
