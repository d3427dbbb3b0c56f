"""Base of the iterators over public data sets: an order of examples, batches of it, one-hot labels."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.java.java_enum import JavaEnum
from ...base.java_names import LabelledExamplesNames
from ...errors import ConfigurationError, FileFormatError
from ..iterators.iterator import DataSetIterator
from ..iterators.list_iterators import check_batch
from ..normalizers.image_transforms import Transform, changed
from ..sets.dataset import DataSet
from ..sets.java_random import JavaRandom

__all__ = ["DataSetType"]


class DataSetType(JavaEnum):
    """Parts of a public data set."""

    TRAIN = "TRAIN"
    TEST = "TEST"
    VALIDATION = "VALIDATION"

    @classmethod
    def of(cls, value: DataSetType | str) -> DataSetType:
        """The member of that name."""
        try:
            return cls(value) if isinstance(value, DataSetType) else cls[str(value).upper()]
        except KeyError:
            raise ConfigurationError(f"unknown DataSetType {value!r}; one of {', '.join(t.name for t in cls)}") from None


class Asked(NamedTuple):
    """The data that an iterator of pictures is asked for."""

    img_dim: Sequence[int] | None
    data_set: DataSetType | str
    image_transform: Transform | None
    rng_seed: int

    def or_in(self, form: Sequence[Any]) -> Asked:
        """The same with DL4J's arguments, (sizes, data set, transform, seed); each is known by its kind, as some may be missing."""
        return self._replace(**{_kind(value): value for value in form if value is not None})


def _kind(value: Any) -> str:
    if isinstance(value, (str, DataSetType)):
        return "data_set"
    if isinstance(value, (Sequence, np.ndarray)):
        return "img_dim"
    return "rng_seed" if isinstance(value, (int, np.integer)) else "image_transform"


class LabelledExamples(DataSetIterator, LabelledExamplesNames):
    """Batches of float32 features and one-hot labels; examples stay small in memory until they are asked for.

    A subclass defines `features_of`.

    Parameters
    ----------
    classes : array of int
        The class of every example. Shapes: (examples,).
    num_classes : int
        Length of a label, above every class.
    batch : int
        Number of examples of a batch, at least 1; the last one of a pass may have fewer.
    names : sequence of str
        Names of the classes; empty when they have none.
    num_examples : int, optional
        Only that many examples, after shuffling.
    seed : int, optional
        Shuffle with ``java.util.Random`` of this seed: all examples at first, those in use after every pass.
    image_transform : function of (picture, random), optional
        Changes every picture anew in every pass; see `ImageTransform`. Its random numbers follow from seed, pass and example.
    """

    def __init__(self, classes: NDArray[Any], num_classes: int, batch: int, names: Sequence[str] = (), *,
                 num_examples: int | None = None, seed: int | None = None, image_transform: Transform | None = None) -> None:
        wrong = np.flatnonzero((classes < 0) | (classes >= num_classes))
        if wrong.size:
            raise FileFormatError(f"example {wrong[0]} has class {classes[wrong[0]]}, expected 0 to {num_classes - 1}")
        if num_examples is not None and num_examples < 1:
            raise ConfigurationError(f"num_examples must be at least 1, got {num_examples}")
        self._classes, self._num_classes, self._names = classes, num_classes, list(names)
        self._batch, self._at = check_batch(batch), 0
        self._used = min(num_examples or len(classes), len(classes))
        if image_transform is not None and not callable(image_transform):
            raise ConfigurationError(f"image_transform is a function of (picture, random) or an ImageTransform, "
                                     f"got {image_transform!r:.60}")
        self._seed, self._transform = seed, image_transform
        self._from_seed()

    def _from_seed(self) -> None:
        self._order, self._passes = list(range(len(self._classes))), 0
        self._random = None if self._seed is None else JavaRandom(self._seed)
        if self._random is not None:
            self._random.shuffle(self._order)

    def _mix(self) -> None:
        if self._random is not None:
            used = self._order[:self._used]
            self._random.shuffle(used)
            self._order[:self._used] = used
        self._passes += 1

    def get_order(self) -> dict[str, Any]:
        return {} if self._random is None and self._transform is None else {"passes": self._passes}

    def set_order(self, order: Mapping[str, Any]) -> None:
        self._from_seed()
        if self.get_order():
            for _ in range(int(order["passes"])):
                self._mix()

    @abstractmethod
    def features_of(self, examples: NDArray[np.int64]) -> NDArray[np.float32]:
        """The features of these examples."""

    def has_next(self) -> bool:
        return self._at < self._used

    def take(self, num: int | None) -> DataSet:
        stop = min(self._at + (num or self._batch), self._used)
        chosen = np.array(self._order[self._at:stop], np.int64)
        labels = np.zeros((len(chosen), self._num_classes), np.float32)
        labels[np.arange(len(chosen)), self._classes[chosen]] = 1
        features = self.features_of(chosen)
        if self._transform is not None:
            features = changed(self._transform, features, [(abs(self._seed or 0), self._passes, int(i)) for i in chosen])
        data = DataSet(features, labels)
        data.label_names = list(self._names)
        self._at = stop
        return data

    def reset(self) -> None:
        if self._at:        # a pass that has not begun keeps its order
            self._mix()
        self._at = 0

    def batch(self) -> int:
        return self._batch

    def total_examples(self) -> int:
        """Number of examples of one pass."""
        return self._used

    def input_columns(self) -> int:
        return int(self.features_of(np.zeros(1, np.int64)).size)

    def total_outcomes(self) -> int:
        return self._num_classes

    def get_labels(self) -> list[str] | None:
        return list(self._names) or None
