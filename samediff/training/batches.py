"""Batches of training and evaluation, from any form of data, and their values for placeholders."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..base.lazy_property import lazy_property
from ..data import DataSet, MultiDataSet
from ..data.given.forms import Form, form_of, is_array
from ..data.given.labels import as_columns
from ..data.given.parts import ArrayNames, inputs_of
from ..data.given.sources import Order, can_repeat, decides_itself, source_of
from ..data.given.weights import masks_with_weights
from ..errors import ConfigurationError
from ..ir.core import GraphCore
from .config import TrainingConfig
from .fit_options import positive, split_at


class Batch:
    """One batch, as listeners and evaluations see it and as a graph is fed with it.

    Attributes
    ----------
    feeds : values of placeholders
    """

    def __init__(self, data: DataSet | MultiDataSet, feeds: dict[str, Any]) -> None:
        self._given, self.feeds = data, feeds

    @lazy_property
    def data(self) -> MultiDataSet:
        """The batch as a MultiDataSet."""
        return self._given.to_multi_data_set() if isinstance(self._given, DataSet) else self._given


def is_single(data: Any) -> bool:
    """Whether ``data`` is one batch: a data set, a dictionary of arrays, ``(x, y)``, or an array of features."""
    return _is_single(data, form_of(data))


def _is_single(data: Any, form: Form) -> bool:
    return form is not Form.BATCHES or (isinstance(data, tuple) and len(data) == 1 and form_of(data[0]) is Form.ARRAY)


def as_batch(sd: GraphCore, item: Any, config: TrainingConfig, labels_needed: bool = True) -> Batch:
    """One batch in any accepted form.

    Raises
    ------
    ConfigurationError
        The number of arrays differs from the mappings of the training configuration, or the form is unknown.
    """
    known, labels = sd.tables.variables, config.data_set_label_mapping or ()
    if isinstance(item, Mapping):
        feeds = {k if isinstance(k, str) else k.name(): v for k, v in item.items()}
        if not feeds or not known.keys().isdisjoint(feeds):                # values of any placeholders
            feeds = {k: _fitting(sd, k, v) if k in labels else v for k, v in feeds.items()}
            data = _as_data(feeds, config)
            if config.data_set_label_mask_mapping and data.labels:
                _fit_label_masks(sd, config.data_set_label_mask_mapping, feeds, data.labels)
            return Batch(data, feeds)
    if isinstance(item, DataSet):
        found = _of_one_input(sd, item, config)
        if found is not None:
            return Batch(item, found)
        item = item.to_multi_data_set()
    elif not isinstance(item, MultiDataSet):
        parts = inputs_of(item, ArrayNames(config.data_set_feature_mapping or (), labels), "use", ConfigurationError)
        item = MultiDataSet(*parts[:4])
        if parts.weights is not None:
            return as_batch(sd, with_weights(sd, item, config, parts.weights), config, labels_needed)
    given, masks = item.labels, item.labels_masks
    fitting = [_fitting(sd, name, a) for name, a in zip(labels, given)]
    if any(map(operator.is_not, fitting, given)):
        given = [*fitting, *given[len(fitting):]]
        data = MultiDataSet(item.features, given, item.features_masks, masks)
        data.example_meta_data, item = item.example_meta_data, data
    if not labels_needed and not given:
        config = _without_labels(config)
    if not labels_needed and not config.data_set_label_mapping:      # they are for evaluations, not for the graph
        given, masks = [], None
    feeds = config.placeholders(item.features, given, item.features_masks, masks)
    if config.data_set_label_mask_mapping and given:
        _fit_label_masks(sd, config.data_set_label_mask_mapping, feeds, given)
    return Batch(item, feeds)


def _of_one_input(sd: GraphCore, data: DataSet, config: TrainingConfig) -> dict[str, Any] | None:
    """Features and labels of a data set for two placeholders; None where there is more to do."""
    inputs, labels = config.data_set_feature_mapping or (), config.data_set_label_mapping or ()
    if (data.features is None or data.labels is None or data.features_mask is not None or data.labels_mask is not None
            or len(inputs) != 1 or len(labels) != 1 or config.data_set_label_mask_mapping or config.data_set_feature_mask_mapping
            or _fitting(sd, labels[0], data.labels) is not data.labels):
        return None
    return {inputs[0]: data.features, labels[0]: data.labels}


def _fit_label_masks(sd: GraphCore, names: Iterable[str], feeds: dict[str, Any], labels: Iterable[Any]) -> None:
    """Masks of labels in the rank that their placeholders declare, and ones where there are none: every example counts."""
    for name, label in zip(names, labels):
        variable = sd.tables.variables.get(name)
        shape = None if variable is None else variable.get_shape()
        mask = feeds.get(name)
        if shape is None or not 1 <= len(shape) <= 2 or label is None:
            continue
        if mask is None:
            steps = label.shape[2] if label.ndim == 3 else 1
            mask = np.ones((len(label), *(n if n > 0 else steps for n in shape[1:])), np.float32)
        elif len(shape) == 1 and mask.ndim == 2 and mask.shape[1] == 1:
            mask = mask[:, 0]
        elif len(shape) == 2 and mask.ndim == 1:
            mask = mask[:, None]
        feeds[name] = mask


def with_weights(sd: GraphCore, item: Any, config: TrainingConfig, sample_weight: Any = None, class_weight: Any = None) -> MultiDataSet:
    """The data set with weights in the masks of its labels.

    Raises
    ------
    ConfigurationError
        No placeholder takes them.
    """
    if not config.data_set_label_mask_mapping:
        raise ConfigurationError("weights of examples go to the placeholder of the labels' mask, and there is none: weights = "
                                 "sd.placeholder('weights', DataType.FLOAT, -1, 1), sd.loss.log_loss(…, weights=weights) or another loss, "
                                 "and data_set_label_mask_mapping('weights') in the training configuration")
    data = as_batch(sd, item, config).data
    masks = masks_with_weights(data.labels, data.labels_masks, sample_weight, class_weight, config.data_set_label_mapping or ())
    made = MultiDataSet(data.features, data.labels, data.features_masks, masks)
    made.example_meta_data = data.example_meta_data
    return made


def divided(sd: GraphCore, data: Any, share: Any, config: TrainingConfig) -> tuple[MultiDataSet, MultiDataSet]:
    """One data set or ``(x, y)`` in two: the rows to train on, and the last rows for validation."""
    if not is_single(data):
        raise ConfigurationError(f"validation_split is for one data set or (x, y); {type(data).__name__} decides on its batches itself")
    whole = as_batch(sd, data, config).data
    first = split_at(len(whole), share)
    return whole.get_range(0, first), whole.get_range(first, len(whole))


def fitting_labels(sd: GraphCore, values: Mapping[Any, Any] | None, config: TrainingConfig | None) -> Mapping[Any, Any] | None:
    """Values of placeholders, those of labels as their placeholders declare them."""
    labels = () if config is None or not values else config.data_set_label_mapping or ()
    names = [n for n in labels if n in (values or ())]
    return {**values, **{n: _fitting(sd, n, values[n]) for n in names}} if values and names else values


def _fitting(sd: GraphCore, name: str, labels: Any) -> Any:
    """Labels as the placeholder declares them: class numbers and targets in one row become its columns."""
    if type(labels) is np.ndarray and labels.ndim == 2 and labels.dtype.kind == "f" and labels.shape[1] > 1:      # nearly always
        return labels
    variable = sd.tables.variables.get(name)
    shape = None if variable is None else variable.get_shape()
    if labels is None or shape is None or len(shape) != 2 or shape[1] < 1 or len(getattr(labels, "shape", ())) > 2:
        return labels
    return as_columns(labels, shape[1])


def in_batches(sd: GraphCore, data: Any, size: Any, order: Order | None, config: TrainingConfig, labels_needed: bool = True) -> Any:
    """One data set or ``(x, y)`` cut into batches of ``size`` examples, in that order; single examples put together.

    Raises
    ------
    ConfigurationError
        ``size`` is no positive whole number, or the data come in batches already.
    """
    size = None if size is None else positive("batch_size", size)
    if is_single(data):
        return RowsOfData(as_batch(sd, data, config, labels_needed).data, size, order)
    if size is None or decides_itself(data):
        raise ConfigurationError(f"{'shuffle' if size is None else 'batch_size'} is for one data set, (x, y) or single examples; "
                                 f"{type(data).__name__} decides on its batches itself")
    return source_of(data, int(size), order)


class RowsOfData:
    """Batches of the rows of a data set, consecutive ones or in an order that is asked for at every pass."""

    def __init__(self, data: MultiDataSet, size: int | None, order: Order | None) -> None:
        self._data, self._size, self._order = data, size or len(data), order

    def __iter__(self) -> Iterator[MultiDataSet]:
        data = self._data if self._order is None else self._data.get(self._order(len(self._data)))
        return (data.get_range(k, min(k + self._size, len(data))) for k in range(0, len(data), self._size))


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
    """Batches that can be gone through once or, when resettable, several times; ``is_single`` where one batch was given."""

    def __init__(self, data: Any) -> None:
        if data is None:
            raise ConfigurationError("no data: expected a data set, an iterator, a list of data sets, a dictionary of arrays or (x, y)")
        form = form_of(data)
        if form is Form.ARRAY and not is_array(data) and not isinstance(data, (list, tuple)):
            raise ConfigurationError(f"{type(data).__name__} holds no batches: expected a data set, an iterator of them or a list")
        self.is_single = _is_single(data, form)
        self.data: Any = [data] if self.is_single else source_of(data)
        self._java = hasattr(self.data, "has_next")

    def resettable(self) -> bool:
        """Whether there can be a second pass."""
        return can_repeat(self.data)

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
