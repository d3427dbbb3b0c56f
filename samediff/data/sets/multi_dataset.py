"""One batch of examples of a network with several inputs or outputs."""
from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, BinaryIO, Protocol, Self

import numpy as np

from ...base.java_names import MultiDataSetNames
from ...base.user_code.users_arrays import InDL4JForm, users_array, users_arrays
from ...errors import ShapeError
from .dataset_arrays import Array, check_same_examples, data_array, joined, same_array, selected
from .dataset_files import load_multi_data_set, save_multi_data_set
from .java_random import shuffled_order
from .memory import InMemory

__all__ = ["MultiDataSet", "MultiDataSets"]

KINDS = ("features", "labels", "features_masks", "labels_masks")


def _listed(value: Any, what: str) -> list[Array | None]:
    if value is None:
        return []
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    return [data_array(a, f"MultiDataSet {what}[{i}]") for i, a in enumerate(items)]


class OneOfEach(Protocol):
    """A data set with one input and one output."""

    def to_multi_data_set(self) -> MultiDataSet: ...


class MultiDataSet(InMemory, MultiDataSetNames, InDL4JForm):
    """Lists of features and labels of the same examples, with optional masks.

    Shapes: every array (examples, …); masks as in `DataSet`, one per array, None where there is none. A graph that has its examples on
    another axis (time series in TNS order) can take such arrays as one batch; what splits or shuffles examples refuses them.

    Parameters
    ----------
    features, labels, features_masks, labels_masks : list of array-like, or one array-like, optional
        In the order of the network's inputs and outputs.

    Raises
    ------
    ShapeError
        Not as many masks as arrays, or an array missing that is asked for.

    Notes
    -----
    Source: ND4J's ``org.nd4j.linalg.dataset.MultiDataSet``.

    Examples
    --------
    >>> import numpy as np
    >>> m = MultiDataSet([np.zeros((5, 3)), np.zeros((5, 2, 4))], [np.zeros((5, 1))])
    >>> m.num_examples(), m.num_feature_arrays(), m.get_features(1).shape
    (5, 2, (5, 2, 4))
    """

    def __init__(self, features: Any = None, labels: Any = None, features_masks: Any = None,
                 labels_masks: Any = None) -> None:
        given = (features, labels, features_masks, labels_masks)
        self.lists = {kind: _listed(value, kind) for kind, value in zip(KINDS, given)}
        self.example_meta_data: list[Any] | None = None
        for kind in ("features", "labels"):
            masks = self.lists[f"{kind}_masks"]
            if all(m is None for m in masks):
                masks.clear()
            elif len(masks) != len(self.lists[kind]):
                raise ShapeError(f"{len(masks)} masks for {len(self.lists[kind])} {kind} arrays; use None where there "
                                 "is no mask")

    def array(self, kind: str, index: int | None) -> Any:
        """One array of a kind (:data:`KINDS`), None where there is no mask; without an index the list of them."""
        arrays = self.lists[kind]
        if index is None:
            return arrays if arrays or not kind.endswith("masks") else None
        if kind.endswith("masks") and not arrays:
            return None
        if not 0 <= index < len(arrays):
            raise ShapeError(f"{kind} {index} asked for, the data set has {len(arrays)}")
        return arrays[index]

    def all_arrays(self) -> Iterable[Array | None]:
        return itertools.chain.from_iterable(self.lists.values())

    def _set(self, kind: str, first: Any, array: Any) -> None:
        if array is None:
            self.lists[kind] = _listed(first, kind)
        else:
            arrays = self.lists[kind]
            arrays.extend([None] * (first + 1 - len(arrays)))
            arrays[first] = data_array(array, f"MultiDataSet {kind}[{first}]")

    def get_features(self, index: int | None = None) -> Any:
        """All features as a list, or one array."""
        return users_arrays(self.array("features", index))

    def get_labels(self, index: int | None = None) -> Any:
        """All labels as a list, or one array."""
        return users_arrays(self.array("labels", index))

    def get_features_mask_arrays(self) -> list[Array | None] | None:
        """All masks of features, or None."""
        masks: list[Array | None] | None = users_arrays(self.array("features_masks", None))
        return masks

    def get_labels_mask_arrays(self) -> list[Array | None] | None:
        """All masks of labels, or None."""
        masks: list[Array | None] | None = users_arrays(self.array("labels_masks", None))
        return masks

    def get_features_mask_array(self, index: int) -> Array | None:
        """One mask of features, or None."""
        mask: Array | None = users_array(self.array("features_masks", index))
        return mask

    def get_labels_mask_array(self, index: int) -> Array | None:
        """One mask of labels, or None."""
        mask: Array | None = users_array(self.array("labels_masks", index))
        return mask

    def get_example_meta_data(self, kind: type | None = None) -> list[Any] | None:
        """Where each example came from, where that is known; the class of it, as DL4J asks for it, has no effect."""
        return self.example_meta_data

    def set_features(self, first: Any, array: Any = None) -> None:
        """Replace all features by a list, or with ``(index, array)`` one of them."""
        self._set("features", first, array)

    def set_labels(self, first: Any, array: Any = None) -> None:
        """Replace all labels by a list, or with ``(index, array)`` one of them."""
        self._set("labels", first, array)

    def set_features_mask_array(self, first: Any, array: Any = None) -> None:
        """Replace all masks of features by a list, or with ``(index, array)`` one of them."""
        self._set("features_masks", first, array)

    def set_labels_mask_array(self, first: Any, array: Any = None) -> None:
        """Replace all masks of labels by a list, or with ``(index, array)`` one of them."""
        self._set("labels_masks", first, array)

    set_features_mask_arrays = set_features_mask_array
    set_labels_mask_arrays = set_labels_mask_array

    @property
    def features(self) -> list[Array | None]:
        """All features."""
        return self.lists["features"]

    @property
    def labels(self) -> list[Array | None]:
        """All labels."""
        return self.lists["labels"]

    @property
    def features_masks(self) -> list[Array | None] | None:
        """All masks of features, or None."""
        masks: list[Array | None] | None = self.array("features_masks", None)
        return masks

    @property
    def labels_masks(self) -> list[Array | None] | None:
        """All masks of labels, or None."""
        masks: list[Array | None] | None = self.array("labels_masks", None)
        return masks

    def has_mask_arrays(self) -> bool:
        """Whether there is any mask."""
        return bool(self.lists["features_masks"] or self.lists["labels_masks"])

    def num_feature_arrays(self) -> int:
        """Number of features arrays."""
        return len(self.features)

    def num_labels_arrays(self) -> int:
        """Number of labels arrays."""
        return len(self.labels)

    def num_examples(self) -> int:
        """Number of examples."""
        return next((int(a.shape[0]) for a in (*self.features, *self.labels) if a is not None), 0)

    def is_empty(self) -> bool:
        """Whether there are neither features nor labels."""
        return not self.features and not self.labels

    def __len__(self) -> int:
        return self.num_examples()

    def _of(self, index: Any) -> Self:
        lists = self.lists
        if len({a.shape[0] for kind in ("features", "labels") for a in lists[kind] if a is not None}) > 1:
            check_same_examples(**{f"{kind}[{i}]": a for kind in ("features", "labels") for i, a in enumerate(lists[kind])})
        part = object.__new__(type(self))       # without the other checks, which this data set has passed
        part.__dict__.update(self.__dict__)
        part.lists = {kind: [None if a is None else selected(a, index) for a in lists[kind]] for kind in KINDS}
        if self.example_meta_data is not None:
            part.example_meta_data = [self.example_meta_data[i] for i in np.arange(self.num_examples())[index]]
        return part

    def get_range(self, start: int, stop: int) -> Self:
        """The examples ``start`` to ``stop - 1``."""
        return self._of(slice(start, stop))

    def get(self, index: Sequence[int] | Array) -> Self:
        """The examples of a list of indices, as a data set."""
        return self._of(np.asarray(index, np.int64))

    def __iter__(self) -> Iterator[Self]:
        return iter(self.as_list())

    def as_list(self) -> list[Self]:
        """Every example as a data set of its own."""
        return [self._of(slice(i, i + 1)) for i in range(self.num_examples())]

    def copy(self) -> Self:
        """A data set with copies of all arrays."""
        same = type(self)(*([None if a is None else a.copy() for a in self.lists[kind]] for kind in KINDS))
        same.example_meta_data = None if self.example_meta_data is None else list(self.example_meta_data)
        return same

    def shuffle(self, seed: int | None = None) -> None:
        """Permute the examples of all arrays alike; the order is that of `DataSet.shuffle`."""
        moved = self._of(shuffled_order(self.num_examples(), time.time_ns() if seed is None else seed))
        self.lists, self.example_meta_data = moved.lists, moved.example_meta_data

    @staticmethod
    def merge(data_sets: Iterable[OneOfEach | MultiDataSet]) -> MultiDataSet:
        """One data set of all examples; time series of different length are padded and masked."""
        parts = [d if isinstance(d, MultiDataSet) else d.to_multi_data_set() for d in data_sets]
        parts = [d for d in parts if not d.is_empty()]
        if not parts:
            raise ShapeError("cannot merge an empty list of data sets")
        lists: dict[str, list[Array | None]] = {}
        for kind in ("features", "labels"):
            counts = {len(d.lists[kind]) for d in parts}
            if len(counts) > 1:
                raise ShapeError(f"cannot merge data sets of {sorted(counts)} {kind} arrays")
            pairs = [joined([d.array(kind, i) for d in parts], [d.array(f"{kind}_masks", i) for d in parts],
                            f"{kind} {i}") for i in range(counts.pop())]
            lists[kind], lists[f"{kind}_masks"] = [a for a, _ in pairs], [m for _, m in pairs]
        return MultiDataSet(*(lists[kind] for kind in KINDS))

    def save(self, target: str | PathLike[str] | BinaryIO) -> None:
        """Write the arrays to a file or stream as DL4J's ``MultiDataSet.save`` does."""
        arrays = ([None if a is None else np.asarray(a) for a in self.lists[kind]] for kind in KINDS)
        save_multi_data_set(target, *arrays)  # type: ignore[arg-type]

    def load(self, source: str | PathLike[str] | BinaryIO) -> None:
        """Replace everything by what a file or stream of DL4J's ``MultiDataSet.save`` holds."""
        loaded = MultiDataSet(*load_multi_data_set(source))
        self.lists, self.example_meta_data = loaded.lists, None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MultiDataSet):
            return NotImplemented
        return all(len(self.lists[k]) == len(other.lists[k])
                   and all(same_array(a, b) for a, b in zip(self.lists[k], other.lists[k])) for k in KINDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        def shown(arrays: Sequence[Array | None]) -> str:
            return "[" + ", ".join("None" if a is None else f"{a.dtype}{list(a.shape)}" for a in arrays) + "]"
        return "MultiDataSet(" + ", ".join(f"{k}={shown(self.lists[k])}" for k in KINDS if self.lists[k]) + ")"


class MultiDataSets:
    """Ways to make a :class:`MultiDataSet`."""

    @staticmethod
    def singleton(features: Any = None, labels: Any = None) -> MultiDataSet:
        """One array of features and one of labels, each None where there is none.

        Examples
        --------
        >>> import numpy as np
        >>> MultiDataSets.singleton(np.zeros((5, 3)), np.zeros((5, 1))).num_examples()
        5
        """
        return MultiDataSet(*([] if a is None else [a] for a in (features, labels)))
