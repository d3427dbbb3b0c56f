"""Iterators that draw: folds, samples, random data."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java_names import KFoldIteratorNames
from ...configuration.method_builder import MethodBuilder
from ...errors import ConfigurationError, UnknownNameError, did_you_mean
from ..sets.dataset import DataSet
from ..sets.dataset_arrays import Array
from ..sets.multi_dataset import MultiDataSet
from .iterator import DataSetIterator, MultiDataSetIterator
from .list_iterators import ViewIterator, check_batch

__all__ = ["KFoldIterator", "RandomDataSetIterator", "RandomMultiDataSetIterator", "SamplingDataSetIterator", "Values"]


class KFoldIterator(DataSetIterator, KFoldIteratorNames):
    """K-fold cross-validation: `next` gives the training part, `test_fold` the rest.

    Without a seed the first pass takes the examples as they stand, as in DL4J; they are shuffled at every reset.
    The first ``examples % k`` folds have one example more.

    Parameters
    ----------
    k : int, default 10
        Number of folds, at least 2.
    data : DataSet
        Not changed.
    seed : int, optional
        Seed of the order of all passes; by the clock without one.

    Examples
    --------
    >>> folds = KFoldIterator(3, DataSet([[float(i)] for i in range(10)], [[0.0]] * 10), seed=1)
    >>> [(train.num_examples(), folds.test_fold().num_examples()) for train in folds]
    [(6, 4), (7, 3), (7, 3)]
    """

    def __init__(self, k: int | DataSet, data: DataSet | None = None, *, seed: int | None = None) -> None:
        folds, held = (10, k) if isinstance(k, DataSet) else (k, data)
        if held is None or not 2 <= folds <= held.num_examples():
            raise ConfigurationError("KFoldIterator needs data and 2 or more folds, not more than examples; "
                                     f"got {folds} folds of {held}")
        self._k, self._seed, self._held = folds, seed, held
        n = held.num_examples()
        sizes = np.full(folds, n // folds) + (np.arange(folds) < n % folds)
        self._edges = np.concatenate([[0], np.cumsum(sizes)])
        self._fold: DataSet | None = None
        self._mix()

    def _mix(self) -> None:
        self._at = 0
        rows = self._held.num_examples()
        self._data = self._held if self._seed is None else self._held.get(np.random.default_rng(self._seed).permutation(rows))

    def has_next(self) -> bool:
        return self._at < self._k

    def take(self, num: int | None) -> DataSet:
        self._no_part(num)
        start, stop = int(self._edges[self._at]), int(self._edges[self._at + 1])
        self._at += 1
        self._fold = self._data.get_range(start, stop)
        return self._data.get(np.r_[0:start, stop:self._data.num_examples()])

    def test_fold(self) -> DataSet:
        """The examples that the last training part left out."""
        if self._fold is None:
            raise ConfigurationError("KFoldIterator.test_fold() comes after next()")
        return self._fold

    def reset(self) -> None:
        if self._at:
            self._seed = time.time_ns() if self._seed is None else self._seed + 1
        self._mix()

    def get_order(self) -> dict[str, Any]:
        return {"seed": self._seed}

    def set_order(self, order: Mapping[str, Any]) -> None:
        self._seed = order["seed"]
        self._mix()

    def batch(self) -> int:
        return int(self._edges[1])

    def input_columns(self) -> int:
        return self._held.num_inputs()

    def total_outcomes(self) -> int:
        return self._held.num_outcomes()


class SamplingDataSetIterator(ViewIterator):
    """Batches drawn at random from one data set, every example at most once per batch.

    Parameters
    ----------
    batch : int
        Number of examples of every batch, at least 1.
    total : int
        Stop when this many examples were drawn; the last batch is whole.
    seed : int, optional
        Of the draws, which go on over resets; without it they differ every time.
    """

    def __init__(self, data: DataSet, batch: int, total: int, seed: int | None = None) -> None:
        super().__init__(data, check_batch(batch))
        self._total, self._random = total, np.random.default_rng(seed)

    def has_next(self) -> bool:
        return self._at < self._total

    def take(self, num: int | None) -> DataSet:
        size = num or self._batch
        self._at += size
        return self._data.sample(size, self._random)

    def get_order(self) -> dict[str, Any]:
        return {"random": self._random.bit_generator.state}

    def set_order(self, order: Mapping[str, Any]) -> None:
        try:
            self._random.bit_generator.state = dict(order["random"])
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"expected the state of a NumPy generator under 'random': {error}") from None


class Values(JavaEnum):
    """Kinds of random data."""

    RANDOM_UNIFORM = "uniform in [0, 1)"
    RANDOM_NORMAL = "normal with mean 0 and deviation 1"
    ONE_HOT = "one 1 along axis 1"
    ZEROS = "zeros"
    ONES = "ones"
    BINARY = "0 or 1"
    INTEGER_0_10 = "whole numbers below 10"
    INTEGER_0_100 = "whole numbers below 100"
    INTEGER_0_1000 = "whole numbers below 1000"
    INTEGER_0_10000 = "whole numbers below 10000"
    INTEGER_0_100000 = "whole numbers below 100000"


_Kind: TypeAlias = Values | str


def _one_hot(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    if len(shape) < 2:
        raise ConfigurationError(f"ONE_HOT needs a shape (examples, classes, …), got {shape}")
    hot = random.integers(shape[1], size=(shape[0], 1, *shape[2:]))
    return np.asarray(hot == np.arange(shape[1]).reshape(1, -1, *[1] * (len(shape) - 2)))


_DRAW: dict[Values, Callable[[np.random.Generator, tuple[int, ...]], Any]] = {
    Values.RANDOM_UNIFORM: lambda random, shape: random.random(shape),
    Values.RANDOM_NORMAL: lambda random, shape: random.standard_normal(shape),
    Values.ONE_HOT: _one_hot,
    Values.ZEROS: lambda random, shape: np.zeros(shape),
    Values.ONES: lambda random, shape: np.ones(shape),
}


def _drawn(random: np.random.Generator, shape: Sequence[int], values: _Kind) -> Array:
    if isinstance(values, str) and values not in Values.__members__:
        raise UnknownNameError(f"unknown kind of random values {values!r}{did_you_mean(values, Values.__members__)}")
    kind = values if isinstance(values, Values) else Values[values]
    if kind in _DRAW:
        drawn = _DRAW[kind](random, tuple(shape))
    else:
        top = 2 if kind is Values.BINARY else int(kind.name.rsplit("_", 1)[1])
        drawn = random.integers(top, size=tuple(shape))
    return np.asarray(drawn, np.float32)


class RandomMultiDataSetIterator(MultiDataSetIterator):
    """Batches of random float32 data.

    Parameters
    ----------
    num_batches : int
        How many there are until `reset`.
    features, labels : list of (shape, Values)
        Shape of a whole batch and what it consists of, for every input and output.
    seed : int, default 0
        The same batches after every reset.
    """

    Values: ClassVar[type[Values]] = Values
    Builder: ClassVar[type[RandomMultiDataSetIteratorBuilder]]

    def __init__(self, num_batches: int, features: Sequence[tuple[Sequence[int], _Kind]],
                 labels: Sequence[tuple[Sequence[int], _Kind]], seed: int = 0) -> None:
        self._count, self._features, self._labels, self._seed = num_batches, list(features), list(labels), seed
        self.reset()

    def has_next(self) -> bool:
        return self._at < self._count

    def take(self, num: int | None) -> MultiDataSet:
        self._no_part(num)
        self._at += 1
        parts = self._features, self._labels
        return MultiDataSet(*([_drawn(self._random, *wanted) for wanted in part] for part in parts))

    def reset(self) -> None:
        self._at, self._random = 0, np.random.default_rng(self._seed)


class RandomMultiDataSetIteratorBuilder(MethodBuilder):
    """``RandomMultiDataSetIterator.Builder(num_batches)``.

    Parameters
    ----------
    num_batches : int
        How many there are until `reset`.
    """

    def __init__(self, num_batches: int) -> None:
        self._batches, self._features, self._labels = num_batches, list[Any](), list[Any]()

    def add_features(self, shape: Sequence[int], *values: _Kind) -> Self:
        """Add an input of that shape; the order of the array in memory, before the kind of values, has no effect."""
        self._features.append((shape, values[-1]))
        return self

    def add_labels(self, shape: Sequence[int], *values: _Kind) -> Self:
        """Add an output, as `add_features` does an input."""
        self._labels.append((shape, values[-1]))
        return self

    def build(self) -> RandomMultiDataSetIterator:
        """Return the iterator."""
        return RandomMultiDataSetIterator(self._batches, self._features, self._labels)


RandomMultiDataSetIterator.Builder = RandomMultiDataSetIteratorBuilder


class RandomDataSetIterator(DataSetIterator):
    """Batches of random float32 data.

    Parameters
    ----------
    num_batches : int
        How many there are until `reset`.
    features_shape, labels_shape : sequence of int
        Shapes of a whole batch.
    features_values, labels_values : Values or str
        What the arrays consist of, such as ``"RANDOM_UNIFORM"`` or ``"ONE_HOT"``.
    seed : int, default 0
        The same batches after every reset.

    Examples
    --------
    >>> batch = RandomDataSetIterator(1, (3, 4), (3, 2), "RANDOM_UNIFORM", "ONE_HOT").next()
    >>> batch.get_features().shape, batch.get_labels().sum(axis=1).tolist()
    ((3, 4), [1.0, 1.0, 1.0])
    """

    Values = Values

    def __init__(self, num_batches: int, features_shape: Sequence[int], labels_shape: Sequence[int],
                 features_values: _Kind, labels_values: _Kind, seed: int = 0) -> None:
        self._shapes = tuple(features_shape), tuple(labels_shape)
        self._multi = RandomMultiDataSetIterator(num_batches, [(features_shape, features_values)],
                                                 [(labels_shape, labels_values)], seed)

    def has_next(self) -> bool:
        return self._multi.has_next()

    def take(self, num: int | None) -> DataSet:
        batch = self._multi.take(num)
        return DataSet(batch.features[0], batch.labels[0])

    def reset(self) -> None:
        self._multi.reset()

    def batch(self) -> int:
        return self._shapes[0][0]

    def input_columns(self) -> int:
        return self._shapes[0][1]

    def total_outcomes(self) -> int:
        return self._shapes[1][1]
