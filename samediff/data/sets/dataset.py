"""One batch of examples: features, labels and their masks."""
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np

from ...base.java.old_names import Advised
from ...base.java_names import DataSetNames, SplitTestAndTrainNames
from ...base.user_code.users_arrays import InDL4JForm, users_array
from ...errors import ConfigurationError, OutOfRangeError, ShapeError
from .dataset_arrays import Array, check_same_examples, data_array, joined, same_array, selected
from .dataset_files import load_data_set, save_data_set
from .feature_transforms import FeatureTransforms
from .java_random import JavaRandom, shuffled_order
from .memory import InMemory
from .multi_dataset import MultiDataSet

__all__ = ["DataSet", "SplitTestAndTrain"]

PARTS = ("features", "labels", "features_mask", "labels_mask")


class DataSet(FeatureTransforms, Advised, InMemory, DataSetNames, InDL4JForm):
    """Features and labels of some examples, with optional masks.

    Shapes: features (examples, …), labels (examples, …), masks (examples, time) for time series, (examples, 1) or the
    shape of the labels otherwise. A mask holds 1 where a value counts and 0 where it does not. Arrays are kept, not
    copied, and never written to: methods that change a data set give it new arrays.

    Parameters
    ----------
    features, labels, features_mask, labels_mask : array-like, optional
        Anything with ``__array__`` or ``__dlpack__``, or nested lists.

    Raises
    ------
    ShapeError
        A single number instead of an array.

    Notes
    -----
    Labels may have other rows than features, for networks that make several rows of an example; training and splitting
    refuse rows that do not fit. Source: ND4J's ``org.nd4j.linalg.dataset.DataSet``.

    Examples
    --------
    >>> d = DataSet([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> d.num_examples(), d.num_inputs(), d.num_outcomes()
    (3, 2, 2)
    >>> train, test = d.split_test_and_train(2)
    >>> test.get_features().tolist()
    [[5.0, 6.0]]
    """

    advice = "data"
    features: Array
    labels: Array
    features_mask: Array | None
    labels_mask: Array | None

    def __init__(self, features: Any = None, labels: Any = None, features_mask: Any = None,
                 labels_mask: Any = None) -> None:
        given = dict(zip(PARTS, (features, labels, features_mask, labels_mask)))
        arrays = {name: data_array(value, f"DataSet {name}") for name, value in given.items()}
        self.__dict__.update(arrays)
        self.label_names: list[str] = []
        self.column_names: list[str] = []
        self.example_meta_data: list[Any] | None = None

    # parts ------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = data_array(value, f"DataSet {name}") if name in PARTS else value

    def get_features(self) -> Array | None:
        """The features, or None."""
        return users_array(self._part("features"))  # type: ignore[no-any-return]

    def get_labels(self) -> Array | None:
        """The labels, or None."""
        return users_array(self._part("labels"))  # type: ignore[no-any-return]

    def get_features_mask_array(self) -> Array | None:
        """The mask of the features, or None."""
        return users_array(self._part("features_mask"))  # type: ignore[no-any-return]

    def get_labels_mask_array(self) -> Array | None:
        """The mask of the labels, or None."""
        return users_array(self._part("labels_mask"))  # type: ignore[no-any-return]

    def set_features_mask_array(self, mask: Any) -> None:
        """Replace the mask of the features."""
        self.features_mask = mask

    def set_labels_mask_array(self, mask: Any) -> None:
        """Replace the mask of the labels."""
        self.labels_mask = mask

    def has_mask_arrays(self) -> bool:
        """Whether there is a mask of features or labels."""
        return self._part("features_mask") is not None or self._part("labels_mask") is not None

    def get_example_meta_data(self, kind: type | None = None) -> list[Any] | None:
        """Where each example came from, where that is known; the class of it, as DL4J asks for it, has no effect."""
        return self.example_meta_data

    def get_label_names_list(self) -> list[str]:
        """The names of the label columns; empty when they were not set."""
        return self.label_names

    def get_label_name(self, index: int) -> str:
        """The name of one label column."""
        if not 0 <= index < len(self.label_names):
            raise ConfigurationError(f"no name for label {index}: the data set has {len(self.label_names)} label names")
        return self.label_names[index]

    def get_label_names(self, classes: Any = None) -> list[str]:
        """The names of the label columns, or of these classes."""
        return self.label_names if classes is None else [self.get_label_name(int(k)) for k in np.ravel(classes)]

    def _part(self, name: str) -> Array | None:
        array: Array | None = self.__dict__[name]
        return array

    def _parts(self) -> dict[str, Array | None]:
        return {name: self._part(name) for name in PARTS}

    def all_arrays(self) -> Iterable[Array | None]:
        return self._parts().values()

    def _of(self, index: Any) -> Self:
        """The examples of an index array or slice."""
        own = self.__dict__
        features, labels = own["features"], own["labels"]
        if features is not None and labels is not None and features.shape[0] != labels.shape[0]:
            check_same_examples(features=features, labels=labels)
        part = object.__new__(type(self))       # without the other checks, which this data set has passed
        made = part.__dict__
        made.update(own)
        for name in PARTS:
            array = own[name]
            if array is not None:
                made[name] = selected(array, index)
        if self.example_meta_data is not None:
            kept = np.arange(self.num_examples())[index]
            part.__dict__["example_meta_data"] = [self.example_meta_data[i] for i in kept]
        return part

    # size -------------------------------------------------------------------------------------------------

    def num_examples(self) -> int:
        """Number of examples."""
        array = self.__dict__["features"]
        if array is None:
            array = self.__dict__["labels"]
        return 0 if array is None else int(array.shape[0])

    def num_inputs(self) -> int:
        """Size of axis 1 of the features."""
        return _width(self._part("features"))

    def num_outcomes(self) -> int:
        """Size of axis 1 of the labels."""
        return _width(self._part("labels"))

    def is_empty(self) -> bool:
        """Whether there are neither features nor labels."""
        return all(a is None for a in self._parts().values())

    def __len__(self) -> int:
        return self.num_examples()

    # taking apart -----------------------------------------------------------------------------------------

    def get(self, index: int | Sequence[int] | Array) -> Self:
        """One example, or those of a list of indices, as a data set."""
        rows = np.atleast_1d(np.asarray(index, np.int64))
        n = self.num_examples()
        if rows.size and (rows.min() < -n or rows.max() >= n):
            raise ShapeError(f"example {index} of a data set with {n} examples")
        return self._of(rows)

    def get_range(self, start: int, stop: int) -> Self:
        """The examples ``start`` to ``stop - 1``."""
        return self._of(slice(start, stop))

    def __getitem__(self, index: int | slice | Sequence[int] | Array) -> Self:
        return self._of(index) if isinstance(index, slice) else self.get(index)

    def __iter__(self) -> Iterator[Self]:
        return iter(self.as_list())

    def as_list(self) -> list[Self]:
        """Every example as a data set of its own."""
        return [self._of(slice(i, i + 1)) for i in range(self.num_examples())]

    def copy(self) -> Self:
        """A data set with copies of all arrays."""
        return self._of(np.arange(self.num_examples()))

    def batch_by(self, size: int) -> list[Self]:
        """Consecutive batches of ``size`` examples; the last one may be smaller."""
        if size < 1:
            raise ConfigurationError(f"batch_by needs a batch size of at least 1, got {size}")
        return [self._of(slice(i, i + size)) for i in range(0, self.num_examples(), size)]

    data_set_batches = batch_by

    def iterator(self) -> Iterator[Self]:
        """Go through the examples."""
        return self.__iter__()

    def add_row(self, example: DataSet, index: int) -> None:
        """Put a single example in the place of another one."""
        for name in ("features", "labels"):
            row, array = example._part(name), self._part(name)
            if row is None or array is None or not 0 <= index < len(array) or row.size * len(array) != array.size:
                raise ShapeError(f"add_row puts an example with the shape of the others at a place from 0 to {self.num_examples() - 1}; "
                                 f"got {name} {None if row is None else row.shape} for {index} of {None if array is None else array.shape}")
            changed = array.copy()
            changed[index] = row.reshape(array.shape[1:])
            setattr(self, name, changed)

    def reshape(self, rows: int, columns: int) -> DataSet:
        """A data set of these features in another shape of rank 2, with the same labels."""
        features = self.features
        if features is None or rows * columns != features.size:
            raise ShapeError(f"features of shape {None if features is None else features.shape} have no shape ({rows}, {columns})")
        return DataSet(features.reshape(rows, columns), self.labels)

    def set_new_number_of_labels(self, labels: int) -> None:
        """Replace the labels by so many columns of zeros."""
        self.labels = np.zeros((self.num_examples(), labels), self.features.dtype)

    @staticmethod
    def empty() -> DataSet:
        """A data set without arrays."""
        return DataSet()

    def validate(self) -> None:
        """Refuse features and labels of different numbers of examples.

        Raises
        ------
        ShapeError
            They differ.
        """
        check_same_examples(**self._parts())

    def split_test_and_train(self, train: int | float, random: JavaRandom | int | None = None) -> SplitTestAndTrain:
        """Divide into the first ``train`` examples (or that fraction of all) and the rest.

        Parameters
        ----------
        train : int or float
            Number of training examples, or a fraction between 0 and 1 of all, rounded down.
        random : JavaRandom or int, optional
            Shuffle this data set first, with a seed drawn from the generator, or with the generator of the given seed.
        """
        n = self.num_examples()
        count = int(n * train) if isinstance(train, float) else train
        if (isinstance(train, float) and not 0 < train < 1) or not 0 < count < n:
            raise ConfigurationError(f"split_test_and_train({train}): both parts of {n} examples need at least one")
        if random is not None:
            self.shuffle((JavaRandom(random) if isinstance(random, int) else random).next_long())
        return SplitTestAndTrain(self._of(slice(0, count)), self._of(slice(count, n)))

    def sample(self, size: int, random: np.random.Generator | int | None = None,
               with_replacement: bool = False) -> Self:
        """``size`` examples drawn at random."""
        n = self.num_examples()
        if size > n and not with_replacement:
            raise ConfigurationError(f"cannot draw {size} of {n} examples without replacement")
        return self._of(np.random.default_rng(random).choice(n, size, replace=with_replacement))

    # order and labels -------------------------------------------------------------------------------------

    def shuffle(self, seed: int | None = None) -> None:
        """Permute the examples as ND4J does for this seed (`shuffled_order`); without a seed, by the clock."""
        self._take(shuffled_order(self.num_examples(), time.time_ns() if seed is None else seed))

    def _take(self, order: Array) -> None:
        moved = self._of(order)
        self.__dict__.update(moved._parts())
        self.example_meta_data = moved.example_meta_data

    def outcomes(self) -> Array:
        """Class of every example: the position of the largest label. Shapes: (examples,)."""
        labels = self._part("labels")
        if labels is None or labels.ndim != 2:
            shape = None if labels is None else labels.shape
            raise ShapeError(f"classes need labels of shape (examples, classes), got {shape}")
        classes: Array = labels.argmax(axis=1)
        return classes

    def outcome(self) -> int:
        """Class of the only example."""
        if self.num_examples() != 1:
            raise ShapeError(f"outcome() asks for one example, the data set has {self.num_examples()}; see outcomes()")
        return int(self.outcomes()[0])

    def label_counts(self) -> dict[int, float]:
        """Number of examples of every class that occurs."""
        return {int(k): float(v) for k, v in sorted(Counter(self.outcomes().tolist()).items())}

    def filter_by(self, classes: Iterable[int]) -> Self:
        """The examples of the given classes."""
        return self._of(np.flatnonzero(np.isin(self.outcomes(), list(classes))))

    def filter_and_strip(self, classes: Sequence[int]) -> None:
        """Keep the examples of the given classes, and of the labels only their columns, in the given order."""
        kept = self.filter_by(classes)
        kept.labels = kept.labels[:, list(classes)]
        self.__dict__.update(kept._parts())
        self.example_meta_data = kept.example_meta_data

    def sort_by_label(self) -> None:
        """Order the examples by class; equal ones keep their order."""
        self._take(np.argsort(self.outcomes(), kind="stable"))

    def batch_by_num_labels(self) -> list[Self]:
        """Batches of as many examples as there are classes."""
        return self.batch_by(self.num_outcomes())

    def sort_and_batch_by_num_labels(self) -> list[Self]:
        """`sort_by_label`, then `batch_by_num_labels`."""
        self.sort_by_label()
        return self.batch_by_num_labels()

    def set_outcome(self, example: int, label: int) -> None:
        """Give one example the one-hot label.

        Raises
        ------
        OutOfRangeError
            There is no such example or label.
        """
        changed = np.array(self.labels)
        if changed.ndim != 2 or not (0 <= example < changed.shape[0] and 0 <= label < changed.shape[1]):
            raise OutOfRangeError(f"set_outcome({example}, {label}) of labels {changed.shape}: there is no such example or label")
        changed[example] = 0
        changed[example, label] = 1
        self.labels = changed

    # joining ----------------------------------------------------------------------------------------------

    @staticmethod
    def merge(data_sets: Iterable[DataSet]) -> DataSet:
        """One data set of all examples; time series of different length are padded and masked.

        Raises
        ------
        ShapeError
            Nothing to merge, or shapes that do not fit.
        """
        parts = [d for d in data_sets if not d.is_empty()]
        if not parts:
            raise ShapeError("cannot merge an empty list of data sets")
        if len(parts) == 1:
            return parts[0]
        column = {name: [d._part(name) for d in parts] for name in PARTS}
        features, features_mask = joined(column["features"], column["features_mask"], "features")
        labels, labels_mask = joined(column["labels"], column["labels_mask"], "labels")
        merged = DataSet(features, labels, features_mask, labels_mask)
        merged.label_names, merged.column_names = parts[0].label_names, parts[0].column_names
        if all(d.example_meta_data is not None for d in parts):
            merged.example_meta_data = [m for d in parts for m in d.example_meta_data or []]
        return merged

    def save(self, target: str | PathLike[str] | BinaryIO) -> None:
        """Write the arrays to a file or stream as DL4J's ``DataSet.save`` does; names and metadata are not stored."""
        save_data_set(target, *(None if a is None else np.asarray(a) for a in self._parts().values()))

    def load(self, source: str | PathLike[str] | BinaryIO) -> None:
        """Replace everything by what a file or stream of DL4J's ``DataSet.save`` holds.

        Raises
        ------
        FileFormatError
            Not such a file; the data set stays as it is.
        """
        texts: dict[str, list[str]] = {}
        loaded = DataSet(*load_data_set(source, texts))
        loaded.example_meta_data, loaded.label_names = texts.get("metadata"), texts.get("label_names", [])
        self.__dict__.update(loaded.__dict__)

    def to_multi_data_set(self) -> MultiDataSet:
        """The same data as a MultiDataSet with one input and one output."""
        multi = MultiDataSet(*([] if a is None else [a] for a in self._parts().values()))
        multi.example_meta_data = self.example_meta_data
        return multi

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DataSet):
            return NotImplemented
        return all(same_array(a, b) for a, b in zip(self._parts().values(), other._parts().values()))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={a.dtype}{list(a.shape)}" for name, a in self._parts().items() if a is not None)
        return f"DataSet({shown})"


class _Parts(NamedTuple):
    train: DataSet
    test: DataSet


class SplitTestAndTrain(_Parts, SplitTestAndTrainNames):
    """A training and a test part of one data set.

    Parameters
    ----------
    train, test : DataSet
        The parts.
    """

    def get_train(self) -> DataSet:
        """The training part."""
        return self.train

    def get_test(self) -> DataSet:
        """The test part."""
        return self.test


def _width(array: Array | None) -> int:
    return 0 if array is None else int(array.shape[1]) if array.ndim > 1 else 1
