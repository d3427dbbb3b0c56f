"""One batch, in whatever form, as lists of arrays in the order of the names of inputs and outputs."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import ConfigurationError, DL4PyError, GraphError, did_you_mean
from ..sets.dataset import PARTS, DataSet
from ..sets.multi_dataset import MultiDataSet
from .forms import is_array, is_number, is_pair, is_rows, is_several, record_of

#: How batches by name call their parts, besides names of inputs and outputs.
_ROLES = {"features": 0, "x": 0, "inputs": 0, "input": 0, "labels": 1, "y": 1, "label": 1, "targets": 1, "target": 1,
          "features_mask": 2, "features_masks": 2, "labels_mask": 3, "labels_masks": 3}
_WEIGHTS = "sample_weight", "sample_weights"


class BatchParts(NamedTuple):
    """The arrays of a batch, as they were given; None where there are none of a kind. Weights are those of its examples."""

    inputs: Sequence[Any]
    labels: Sequence[Any] | None = None
    features_masks: Sequence[Any] | None = None
    labels_masks: Sequence[Any] | None = None
    weights: Any = None


class ArrayNames(NamedTuple):
    """The inputs and outputs that arrays belong to.

    Attributes
    ----------
    inputs, outputs : their names, in the order of the arrays
    is_list : whether a list is always one array, as there is but one input
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    is_list: bool = False


def parts_of(item: Any, names: ArrayNames, use: str, error: type[DL4PyError] = GraphError) -> BatchParts:
    """The arrays of a data set, of (features, labels), or of arrays by name.

    Raises
    ------
    GraphError, or ``error``
        The form is none of these, or a name is unknown or missing.
    """
    if isinstance(item, MultiDataSet):
        return BatchParts(item.features, item.labels or None, item.features_masks, item.labels_masks)
    if isinstance(item, DataSet):
        own = item.__dict__
        return BatchParts(*[None if own[name] is None else [own[name]] for name in PARTS])  # type: ignore[arg-type]  # networks refuse None
    record = record_of(item)
    if record is not None:
        return _by_name(record, names, use, error)
    if _is_row_of_parts(item, names):
        return BatchParts(item[:len(names.inputs)], item[len(names.inputs):])
    if is_pair(item, lists=True):
        return parts_from(names, *item)
    single = isinstance(item, (tuple, list)) and len(item) > 1 and any(map(is_number, item))
    raise error(f"the data to {use} gives {_shown(item)}; expected data sets, (features, labels), or arrays by name: "
                f"{', '.join((*names.inputs, *names.outputs))}" + ("; batch_size puts single examples together" if single else ""))


def inputs_of(item: Any, names: ArrayNames, use: str, error: type[DL4PyError] = GraphError) -> BatchParts:
    """The same, where labels are not needed: an array is the features, and so is the only part of a tuple."""
    if isinstance(item, (tuple, list)) and len(item) == 1 and is_array(item[0]):
        return parts_from(names, item[0])
    return parts_from(names, item) if is_array(item) or is_rows(item) else parts_of(item, names, use, error)


def parts_from(names: ArrayNames, x: Any, y: Any = None, features_mask: Any = None, labels_mask: Any = None) -> BatchParts:
    """Features, labels and masks: an array of each, or several where there are several inputs or outputs.

    What stands third and has a single axis is no mask, which has two, but the weights of the examples.
    """
    sides = names.inputs, names.outputs, names.inputs, names.outputs
    weights = features_mask if _is_flat(features_mask) else None
    parts = x, y, None if weights is not None else features_mask, labels_mask
    given = [_several(part, side, names.is_list) for part, side in zip(parts, sides)]
    return BatchParts(*given)._replace(weights=weights)  # type: ignore[arg-type]  # x is not None, or refused as no array


def _is_row_of_parts(item: Any, names: ArrayNames) -> bool:
    """Whether a batch is one array for each of several inputs, then for each output, as data sets of tensors give them."""
    count = len(names.inputs) + len(names.outputs)
    return isinstance(item, (tuple, list)) and len(item) == count > 2 and all(map(is_array, item))


def _is_flat(part: Any) -> bool:
    """Whether a part is numbers in one row."""
    if is_array(part):
        return len(getattr(part, "shape", (0,))) == 1
    return isinstance(part, (list, tuple)) and not is_several(part)


def _several(part: Any, names: Sequence[str], is_list: bool) -> Sequence[Any] | None:
    """One part of a batch, as the list of its arrays."""
    if part is None:
        return None
    if isinstance(part, Mapping):
        unknown = [k for k in part if k not in names]
        if unknown:
            raise GraphError(f"there is no input or output {unknown[0]!r}{did_you_mean(str(unknown[0]), names)}; names: {', '.join(names)}")
        return [part.get(name) for name in names]
    if not is_several(part):
        return [part]
    arrays = all(p is None or is_array(p) for p in part)
    if isinstance(part, tuple) and arrays and (not is_list or len(part) == 1):
        return part
    if is_list or (len(names) == 1 and len(part) != 1 and not isinstance(part, tuple)) or not (arrays or len(part) == len(names) > 1):
        return [part]                       # rows of one array
    return part  # type: ignore[no-any-return]


def _by_name(item: Mapping[Any, Any], names: ArrayNames, use: str, error: type[DL4PyError]) -> BatchParts:
    """Arrays by the names of inputs and outputs, or of their parts; the only other name beside labels is the only input."""
    found: list[dict[str, Any]] = [{}, {}, {}, {}]
    weights = None
    sides = names.inputs, names.outputs, names.inputs, names.outputs
    others = {}
    for key, value in item.items():
        name = key if isinstance(key, str) else key.name() if hasattr(key, "name") else str(key)
        if name in names.inputs or name in names.outputs:
            found[name not in names.inputs][name] = value
        elif name in _ROLES:
            role = _ROLES[name]
            found[role].update((n, v) for n, v in zip(sides[role], _several(value, sides[role], names.is_list) or ()))
        elif name in _WEIGHTS:
            weights = value
        else:
            others[name] = value
    if len(others) == len(names.inputs) == 1 and not found[0]:
        found[0], others = {names.inputs[0]: next(iter(others.values()))}, {}
    known = [*names.inputs, *names.outputs]
    if others:
        wrong = next(iter(others))
        raise error(f"the data to {use} has {wrong!r}, which is no input or output{did_you_mean(wrong, known)}; names: {', '.join(known)}, "
                    "or features and labels. Leave it out")
    missing = [n for n in names.inputs if found[0].get(n) is None]
    if missing:
        raise error(f"the data to {use} has no input {missing[0]!r}; it has {', '.join(map(repr, item)) or 'nothing'}")
    sides_in_order = [[side.get(n) for n in order] if side else None for side, order in zip(found, sides)]
    return BatchParts(*sides_in_order)._replace(weights=weights)  # type: ignore[arg-type]  # there are inputs


def by_role(given: Mapping[str, Any]) -> tuple[dict[int, Any], list[str]]:
    """Arguments given by name, by the number of the part that the name means (features, labels, their masks), and the other names.

    Examples
    --------
    >>> by_role({"x": 1, "labels": 2, "epoch": 3})
    ({0: 1, 1: 2}, ['epoch'])
    """
    known = {**_ROLES, "data": 0}
    return {known[name]: value for name, value in given.items() if name in known}, [name for name in given if name not in known]


def _shown(item: Any) -> str:
    if isinstance(item, (tuple, list)):
        return f"a {type(item).__name__} of {len(item)} ({', '.join(type(part).__name__ for part in item[:4])})"
    return f"a {type(item).__name__}"


def no_batch(use: str) -> ConfigurationError:
    """The error for data without batches."""
    return ConfigurationError(f"the data has no batch: nothing to {use} (an iterator that was used up and cannot be reset has none either)")
