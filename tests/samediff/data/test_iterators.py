"""Iterators: the order of batches, resetting, errors."""
from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from dl4py.samediff.data import (
    AsyncDataSetIterator,
    BenchmarkDataSetIterator,
    DataSet,
    DataSetIterator,
    DataSetIteratorSplitter,
    EarlyTerminationDataSetIterator,
    ExistingDataSetIterator,
    FloatsDataSetIterator,
    ImagePreProcessingScaler,
    INDArrayDataSetIterator,
    IteratorDataSetIterator,
    IteratorMultiDataSetIterator,
    JointMultiDataSetIterator,
    KFoldIterator,
    ListDataSetIterator,
    MultiDataSetIteratorAdapter,
    MultiDataSetWrapperIterator,
    MultipleEpochsIterator,
    NoMoreDataError,
    NumpyDataSetIterator,
    NumpyMultiDataSetIterator,
    RandomDataSetIterator,
    ReconstructionDataSetIterator,
    SamplingDataSetIterator,
    Values,
    ViewIterator,
)
from dl4py.samediff.errors import ConfigurationError, ShapeError, UnknownNameError

X = np.arange(10, dtype=np.float32).reshape(10, 1)
DATA = DataSet(X, X)


def singles() -> ListDataSetIterator:
    return ListDataSetIterator(DATA.as_list(), 4)


def walk(it: DataSetIterator) -> list[list[int]]:
    out = []
    while it.has_next():
        out.append([int(v) for v in it.next().features[:, 0]])
    return out


FOURS = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
MAKERS = {
    "list": (singles, FOURS),
    "view": (lambda: ViewIterator(DATA, 4), FOURS),
    "numpy": (lambda: NumpyDataSetIterator(X, X, 4), FOURS),
    "pairs": (lambda: INDArrayDataSetIterator(list(zip(X, X)), 4), FOURS),
    "pairs of rows": (lambda: INDArrayDataSetIterator([(x[None], x[None]) for x in X], 4), FOURS),
    "floats": (lambda: FloatsDataSetIterator([([float(i)], [0.0]) for i in range(10)], 4), FOURS),
    "existing": (lambda: ExistingDataSetIterator(DATA.batch_by(4)), FOURS),
    "async": (lambda: AsyncDataSetIterator(singles(), 2), FOURS),
    "early": (lambda: EarlyTerminationDataSetIterator(singles(), 2), FOURS[:2]),
    "epochs": (lambda: MultipleEpochsIterator(2, singles()), FOURS * 2),
    "limit": (lambda: MultipleEpochsIterator(9, singles(), total_iterations=4), FOURS + FOURS[:1]),
    "reconstruction": (lambda: ReconstructionDataSetIterator(singles()), FOURS),
    "benchmark": (lambda: BenchmarkDataSetIterator(DATA.get_range(0, 2), 3), [[0, 1]] * 3),
    "train": (lambda: DataSetIteratorSplitter(singles(), 3, 0.67).get_train_iterator(), FOURS[:2]),
    "test": (lambda: DataSetIteratorSplitter(singles(), 3, 0.67).get_test_iterator(), FOURS[2:]),
    "wrapped": (lambda: MultiDataSetWrapperIterator(MultiDataSetIteratorAdapter(singles())), FOURS),
}


@pytest.mark.parametrize("name", MAKERS)
def test_order_and_reset(name):
    make, expected = MAKERS[name]
    it = make()
    assert walk(it) == expected
    with pytest.raises(NoMoreDataError, match="reset"):
        it.next()
    it.reset()
    it.next()
    it.reset()
    assert walk(it) == expected
    assert [[int(v) for v in batch.features[:, 0]] for batch in it] == expected
    it.reset()


@pytest.mark.parametrize("make", [singles, lambda: ViewIterator(DATA, 4), lambda: MultipleEpochsIterator(1, singles())])
def test_next_with_a_number(make):
    it = make()
    assert it.next(5).num_examples() == 5
    assert walk(it) == [[5, 6, 7, 8], [9]]


def test_parts_of_a_splitter_may_alternate():
    first, second = DataSetIteratorSplitter(ViewIterator(DATA, 2), [2, 3]).get_iterators()
    got = [int(it.next().features[0, 0]) for it in (first, second, first, second, second)]
    assert got == [0, 4, 2, 6, 8]


def test_rebatching_cuts_and_joins():
    it = IteratorDataSetIterator(DATA.batch_by(3), 4)
    assert (it.input_columns(), it.total_outcomes(), it.reset_supported()) == (1, 1, False)
    assert walk(it) == FOURS
    with pytest.raises(ConfigurationError, match="cannot be reset"):
        it.reset()


def test_a_python_iterator_is_taken_once():
    it = ExistingDataSetIterator(iter(DATA.batch_by(4)))
    assert [len(b) for b in it] == [4, 4, 2]
    with pytest.raises(ConfigurationError, match="cannot be reset"):
        it.reset()


def test_a_preprocessor_changes_batches_and_not_the_source():
    images = DataSet(np.full((2, 1), 255.0, np.float32), np.zeros((2, 1)))
    for it in (ExistingDataSetIterator([images]), BenchmarkDataSetIterator(images, 1), ViewIterator(images, 2)):
        it.set_pre_processor(ImagePreProcessingScaler())
        assert [b.features[0, 0] for b in it] == [1.0]
        assert [b.features[0, 0] for b in it] == [1.0]
    assert images.features[0, 0] == 255


def test_reading_ahead_passes_errors_on_and_ends_its_thread():
    class Broken(ViewIterator):
        def take(self, num):
            raise OSError("disk")

    it = AsyncDataSetIterator(Broken(DATA, 4))
    with pytest.raises(OSError, match="disk"):
        it.has_next()
    it.shutdown()
    abandoned = AsyncDataSetIterator(MultipleEpochsIterator(1000, singles()), 1)
    assert abandoned.has_next()
    thread = abandoned._thread
    del abandoned
    thread.join(60)
    assert not thread.is_alive()
    assert not [t for t in threading.enumerate() if t.name == "dl4py-read-ahead"]


@pytest.mark.parametrize("size", [1, 3])
def test_reading_ahead_is_bounded_and_ends(size):
    class Counted(ViewIterator):
        given = 0

        def take(self, num):
            self.given += 1
            return super().take(num)

    base = Counted(DataSet(np.arange(40.0).reshape(-1, 1), np.zeros((40, 1))), 2)
    it = AsyncDataSetIterator(base, size)
    for done in range(20):
        assert it.has_next()
        deadline = time.monotonic() + 60
        while base.given < min(20, done + 1 + size) and time.monotonic() < deadline:
            time.sleep(0.001)
        assert base.given == min(20, done + 1 + size)       # the one that is asked for, and those that wait
        assert it.next().features[0, 0] == 2 * done
    assert not it.has_next()
    it._thread.join(60)
    assert not it._thread.is_alive()
    it.reset()
    assert it.next().features[0, 0] == 0
    it.shutdown()


def test_shuffled_numpy_batches_change_with_every_pass():
    it = NumpyDataSetIterator(X, X, 10, shuffle_seed=1)
    first, second = ([int(v) for v in next(iter(it)).features[:, 0]] for _ in range(2))
    assert sorted(first) == sorted(second) == [*range(10)]
    assert first != second


def test_the_order_of_a_seed_stays_the_same():
    """Every pass permutes the order of the pass before; batches are rows of their own."""
    x = np.arange(40, dtype=np.float32).reshape(20, 2)
    it = NumpyDataSetIterator(x, x[:, :1], 6, shuffle_seed=9)
    random, order = np.random.default_rng(9), np.arange(20)
    for _ in range(3):
        order = order[random.permutation(20)]
        batches = list(it)
        np.testing.assert_array_equal(np.concatenate([b.features for b in batches]), x[order])
        np.testing.assert_array_equal(np.concatenate([b.labels for b in batches]), x[order, :1])
    batches[0].features[...] = -1
    assert x.min() == 0


def test_batches_in_order_are_views():
    x = np.zeros((10, 2), np.float32)
    assert all(np.shares_memory(b.features, x) for b in NumpyDataSetIterator(x, x, 4))
    b = NumpyDataSetIterator(x, x, 4).next()
    b.copy().features[...] = 1
    b.multiply_by(2)
    b.features[...] = 1
    assert not x.any()


def test_several_inputs():
    it = NumpyMultiDataSetIterator([X, X + 1], [X], 4)
    assert [b.get_features(1)[0, 0] for b in it] == [1, 5, 9]
    rebatched = IteratorMultiDataSetIterator(iter(it), 6)
    assert [b.get_features(0)[:, 0].tolist() for b in rebatched] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]
    joint = JointMultiDataSetIterator(singles(), singles())
    assert [(b.num_feature_arrays(), b.num_examples()) for b in joint] == [(2, 4), (2, 4), (2, 2)]


def test_folds_are_a_partition():
    it = KFoldIterator(3, DATA, seed=5)
    for train in it:
        both = np.concatenate([train.features[:, 0], it.test_fold().features[:, 0]])
        assert sorted(both.tolist()) == [*range(10)]
    assert KFoldIterator(DATA).batch() == 1
    plain = KFoldIterator(2, DATA)              # the first pass as the examples stand
    np.testing.assert_array_equal(plain.next().features, DATA.features[5:])
    np.testing.assert_array_equal(plain.test_fold().features, DATA.features[:5])
    with pytest.raises(ConfigurationError, match="folds"):
        KFoldIterator(11, DATA)


def test_drawn_batches():
    it = SamplingDataSetIterator(DATA, 3, 8, seed=1)
    assert [len(set(batch)) for batch in walk(it)] == [3, 3, 3]
    for values in Values:
        batches = list(RandomDataSetIterator(2, (6, 4), (6, 3), values, "ONE_HOT", seed=3))
        assert [b.labels.sum() for b in batches] == [6, 6]
        again = RandomDataSetIterator(2, (6, 4), (6, 3), values.name, "ONE_HOT", seed=3).next()
        np.testing.assert_array_equal(again.features, batches[0].features)
    with pytest.raises(UnknownNameError, match="did you mean 'ZEROS'"):
        RandomDataSetIterator(1, (1, 1), (1, 1), "ZERO", "ONES").next()


def test_bad_arguments():
    with pytest.raises(ConfigurationError, match="batch size"):
        ListDataSetIterator([], 0)
    with pytest.raises(ShapeError, match="one shape"):
        INDArrayDataSetIterator([([1.0], [1.0]), ([1.0, 2.0], [1.0])], 2)
    with pytest.raises(ConfigurationError, match="whole batches"):
        AsyncDataSetIterator(singles()).next(3)
    with pytest.raises(ConfigurationError, match="shares"):
        DataSetIteratorSplitter(singles(), 3, 1.5)
