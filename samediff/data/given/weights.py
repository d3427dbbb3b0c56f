"""Weights of examples, as masks of their labels: DL4J multiplies the loss of an example by its mask."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ConfigurationError, GraphError, ShapeError, UnknownNameError, did_you_mean
from ...expressions.arrays import as_array


def masks_with_weights(labels: Sequence[Any], masks: Sequence[Any] | None, sample_weight: Any = None,
                       class_weight: Any = None, outputs: Sequence[str] = ()) -> list[Any]:
    """The masks of labels with weights in them.

    Parameters
    ----------
    labels : list of array
        One for each output.
    masks : list of array or None
        Theirs, (batch, 1) or (batch, time); None where there is none.
    sample_weight : array (batch,), or mapping of such by output, optional
        Weight of each example, for all outputs or for those that are named.
    class_weight : mapping, array or "balanced", optional
        Weight of each class: by its number, 1 for those that a mapping leaves out. For one output, whose labels are (batch, classes),
        (batch, classes, time), or class numbers (batch, 1). ``"balanced"``: all classes of the batch get the same sum of weights.
    outputs : sequence of str
        The names of the outputs.

    Raises
    ------
    ShapeError, ConfigurationError, GraphError
        Weights that do not fit; negative ones, NaN and infinity; labels that are not there, or are no classes.
    """
    if not labels or any(y is None for y in labels):
        raise GraphError("weights of examples need labels, whose losses they multiply; the data has none")
    found = [*(masks or ()), *[None] * (len(labels) - len(masks or ()))]
    if sample_weight is not None:
        if isinstance(sample_weight, Mapping):
            if wrong := [name for name in sample_weight if name not in outputs]:
                raise UnknownNameError(f"sample_weight names the output {wrong[0]!r}{did_you_mean(str(wrong[0]), outputs)}; the outputs: "
                                       f"{', '.join(outputs)}")
            each = [sample_weight.get(name) for name in outputs]
        else:
            each = [sample_weight] * len(labels)
        found = [m if w is None else _times(m, _of_examples(w, len(y)), y) for m, w, y in zip(found, each, labels)]
    if class_weight is not None:
        if len(labels) != 1:
            raise GraphError(f"class_weight needs one output, there are {len(labels)}; use sample_weight")
        found = [_times(found[0], _by_class(class_weight, labels[0]), labels[0])]
    return found


def _of_examples(sample_weight: Any, size: int) -> Any:
    given = _positive("sample_weight", sample_weight)
    if given.shape not in ((size,), (size, 1)):
        raise ShapeError(f"sample_weight needs one number for each of {size} examples; got shape {given.shape}")
    return given.reshape(-1, 1)


def _positive(what: str, values: Any) -> Any:
    found = as_array(values).astype(np.float32)
    if not np.all((found >= 0) & (found < np.inf)):
        raise ConfigurationError(f"{what} must hold numbers from 0 on; got {found[~((found >= 0) & (found < np.inf))].ravel()[0]}")
    return found


def _times(mask: Any, weights: Any, labels: Any) -> Any:
    """A mask (batch, 1) or (batch, time) of labels times weights of either shape."""
    if labels.ndim == 3 and weights.shape[1] == 1:
        weights = np.repeat(weights, labels.shape[2], axis=1)
    return weights if mask is None else as_array(mask) * weights


def _by_class(class_weight: Any, labels: Any) -> Any:
    """The weight of each example, (batch, 1), or of each step, (batch, time)."""
    labels = labels[:, None] if labels.ndim == 1 else labels
    if labels.ndim not in (2, 3):
        raise GraphError(f"class_weight needs labels (batch, classes) or (batch, classes, time); got shape {labels.shape}")
    single = labels.shape[1] == 1
    classes = _numbers(labels[:, 0]) if single else labels.argmax(axis=1)
    least = int(classes.max(initial=0)) + 1
    count = None if single else labels.shape[1]             # a column does not tell how many classes there are
    if isinstance(class_weight, Mapping):
        for k in class_weight:
            if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0 or (count is not None and k >= count):
                raise ConfigurationError(f"class_weight names the class {k!r}; classes are numbers "
                                         f"{'from 0 on' if count is None else f'0 … {count - 1}'}")
        found = np.ones(classes.shape, np.float32)
        for k, weight in zip(class_weight, _positive("class_weight", list(class_weight.values()))):
            found[classes == k] = weight
    elif isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ConfigurationError(f"class_weight is a mapping, an array or 'balanced'; got {class_weight!r}")
        counts = np.bincount(classes.ravel())
        found = (classes.size / ((counts > 0).sum() * counts[classes])).astype(np.float32)
    else:
        table = _positive("class_weight", class_weight)
        if table.ndim != 1 or (table.size < least if count is None else table.size != count):
            raise ShapeError(f"class_weight needs one number for each of {count or least} classes; got shape {table.shape}")
        found = table[classes]
    return found if labels.ndim == 3 else found.reshape(-1, 1)


def _numbers(labels: Any) -> Any:
    """Classes that a column of labels names."""
    numbers = labels.astype(np.float64)
    wrong = ~((numbers >= 0) & (numbers < 2**31) & (numbers == np.floor(numbers)))
    if wrong.any():
        raise ConfigurationError(f"class_weight needs labels that are classes, whole numbers from 0 on; got {labels[wrong][0]}")
    return numbers.astype(np.int64)
