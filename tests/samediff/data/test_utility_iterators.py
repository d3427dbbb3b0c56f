"""Iterators around files, functions and other iterators."""
from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from dl4py.samediff.data import (
    CachingDataSetIterator,
    DataSet,
    DataSetIteratorSplitter,
    DataSetLoaderIterator,
    DummyBlockDataSetIterator,
    DummyBlockMultiDataSetIterator,
    ExistingMiniBatchDataSetIterator,
    ExistingMultiDataSetIterator,
    FileSplitDataSetIterator,
    FileSplitParallelDataSetIterator,
    InequalityHandling,
    InFileAndMemoryDataSetCache,
    InFileDataSetCache,
    InMemoryDataSetCache,
    JavaRandom,
    JointParallelDataSetIterator,
    ListDataSetIterator,
    MiniBatchFileDataSetIterator,
    MultiDataSet,
    MultiDataSetIteratorSplitter,
    MultiDataSetLoaderIterator,
    ScrollableDataSetIterator,
    ScrollableMultiDataSetIterator,
    StandardScaler,
    TestMultiDataSetIterator,
    WorkspacesShieldDataSetIterator,
)
from dl4py.samediff.errors import ConfigurationError, ShapeError

X = np.arange(10, dtype=np.float32).reshape(10, 1)
DATA = DataSet(X, X)


def upto(n, batch=1, start=0):
    return ListDataSetIterator(DATA.get_range(start, start + n).as_list(), batch)


def walk(it):
    out = []
    while it.has_next():
        batch = it.next()
        features = batch.get_features(0) if isinstance(batch, MultiDataSet) else getattr(batch, "features", None)
        out.append(None if features is None else np.ravel(features).astype(int).tolist())
    return out


def multi(values):
    return [MultiDataSet([[float(v)]], [[0.0]]) for v in values]


def test_the_parts_of_a_splitter_share_one_iterator():
    splitter = DataSetIteratorSplitter(upto(6), [2, 3])
    one, two = ScrollableDataSetIterator(0, splitter), ScrollableDataSetIterator(1, splitter)
    assert (walk(two), walk(one), two.has_next()) == ([[2], [3], [4]], [[0], [1]], False)
    assert one.input_columns() == 1
    with pytest.raises(ConfigurationError, match="part 2 of 2 parts"):
        ScrollableDataSetIterator(2, splitter)


def test_splitter_of_multi_data_sets():
    splitter = MultiDataSetIteratorSplitter(ExistingMultiDataSetIterator(multi(range(5))), 5, 0.6)
    assert walk(splitter.get_test_iterator()) == [[3], [4]] and walk(splitter.getTrainIterator()) == [[0], [1], [2]]
    assert isinstance(splitter.get_iterators()[1], ScrollableMultiDataSetIterator)
    with pytest.raises(ConfigurationError, match="only one part"):
        MultiDataSetIteratorSplitter(ExistingMultiDataSetIterator(multi(range(5))), [5]).get_test_iterator()


def test_blocks():
    blocks = DummyBlockDataSetIterator(upto(5, 2))
    assert [len(b) for b in blocks.next(2)] == [2, 2] and blocks.hasAnything()
    assert [len(b) for b in blocks.next(2)] == [1] and not blocks.has_anything() and blocks.next(2) == []
    assert len(DummyBlockMultiDataSetIterator(ExistingMultiDataSetIterator(multi(range(5)))).next(9)) == 5
    with pytest.raises(ConfigurationError, match="at least 1"):
        blocks.next(0)


def test_shield_and_given_multi_data_sets():
    shield = WorkspacesShieldDataSetIterator(upto(3, 2))
    assert walk(shield) == [[0, 1], [2]] and not shield.async_supported()
    it = TestMultiDataSetIterator(2, *multi(range(5)))
    assert walk(it) == [[0, 1], [2, 3], [4]] and it.batch() == 2
    it.reset()
    assert it.next(3).num_examples() == 3


def saved(folder, count, start=0, pattern="dataset-{}.bin"):
    paths = [folder / pattern.format(i) for i in range(count)]
    for i, path in enumerate(paths):
        DATA.get_range(start + i, start + i + 1).save(path)
    return paths


def test_loaders(tmp_path):
    paths = saved(tmp_path, 6)
    opened = []

    def load(stream):
        opened.append(stream)
        data = DataSet()
        data.load(stream)
        return data

    it = DataSetLoaderIterator(paths, load)
    assert walk(it) == [[i] for i in range(6)] and all(s.closed for s in opened)
    it = DataSetLoaderIterator(paths, JavaRandom(3), load)
    one, again = walk(it), (it.reset(), walk(it))[1]
    assert sorted(one) == sorted(again) == [[i] for i in range(6)] and one != again
    once = DataSetLoaderIterator(iter(paths), load)
    assert len(walk(once)) == 6 and not once.reset_supported()
    with pytest.raises(ConfigurationError, match="cannot be reset"):
        once.reset()
    with pytest.raises(ConfigurationError, match="give functions"):
        DataSetLoaderIterator(paths, "load")
    assert walk(MultiDataSetLoaderIterator([5, 6], lambda v: multi([v])[0], int)) == [[5], [6]]


def test_a_source_is_closed_after_an_error(tmp_path):
    path, opened = saved(tmp_path, 1)[0], []
    it = DataSetLoaderIterator([path], lambda s: opened.append(s) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        it.next()
    assert opened[0].closed


def test_files_by_function_and_by_number(tmp_path):
    paths = saved(tmp_path, 12 - 2)
    assert walk(FileSplitDataSetIterator(paths[::-1])) == [[i] for i in range(9, -1, -1)]
    doubled = FileSplitDataSetIterator(paths[:2], lambda p: DataSet(np.full((2, 1), float(p.stem[-1])), np.zeros((2, 1))))
    assert walk(doubled) == [[0, 0], [1, 1]]
    it = ExistingMiniBatchDataSetIterator(tmp_path)
    assert walk(it) == [[i] for i in range(10)]
    it.reset()
    assert it.next().features.item() == 0
    with pytest.raises(ConfigurationError, match="needs %d once"):
        ExistingMiniBatchDataSetIterator(tmp_path, "x.bin")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        ExistingMiniBatchDataSetIterator(tmp_path / "none")


@pytest.mark.slow
def test_batches_in_files_of_its_own(tmp_path):
    it = MiniBatchFileDataSetIterator(DATA, 4, True, tmp_path)
    folder = it.get_root_dir()
    assert walk(it) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] and len(list(folder.iterdir())) == 3
    it.reset()
    assert (it.next().features.shape, it.batch(), it.input_columns(), it.total_outcomes()) == ((4, 1), 4, 1, 1)
    del it
    gc.collect()
    assert not folder.exists()
    kept = MiniBatchFileDataSetIterator(DATA, 4, False, tmp_path).get_root_dir()
    gc.collect()
    assert walk(ExistingMiniBatchDataSetIterator(kept)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


CACHES = {"memory": lambda _: InMemoryDataSetCache(), "file": InFileDataSetCache, "both": InFileAndMemoryDataSetCache}


@pytest.mark.parametrize("make", CACHES.values(), ids=CACHES)
def test_the_second_pass_comes_from_the_cache(make, tmp_path):
    cache, base = make(tmp_path / "cache"), upto(5, 2)
    it = CachingDataSetIterator(base, cache, "a/b")
    assert it.next().num_examples() == 2 and not cache.is_complete("a/b")
    it.reset()
    assert walk(it) == [[0, 1], [2, 3], [4]] and cache.is_complete("a/b")
    base._list.clear()
    assert walk(it) == []
    it.reset()
    assert walk(it) == [[0, 1], [2, 3], [4]] == walk(CachingDataSetIterator(upto(0), cache, "a/b"))
    assert not cache.is_complete("other") and not it.async_supported()
    it.reset()
    it.next().features[...] = 7
    it.reset()
    assert walk(it)[0] == [0, 1]


def test_files_of_a_cache_outlive_it(tmp_path):
    walk(CachingDataSetIterator(upto(3), InFileDataSetCache(tmp_path)))
    assert walk(CachingDataSetIterator(upto(0), InFileAndMemoryDataSetCache(tmp_path))) == [[0], [1], [2]]
    cache = InFileDataSetCache(tmp_path)
    cache.set_complete("", False)
    assert not cache.is_complete("")


ENDS = {
    InequalityHandling.STOP_EVERYONE: [[0], [5], [1], [6]],
    InequalityHandling.PASS_NULL: [[0], [5], [1], [6], None, [7], None, [8], None],
    InequalityHandling.RESET: [[0], [5], [1], [6], [0], [7], [1], [8], [0]],
    InequalityHandling.RELOCATE: [[0], [5], [1], [6], [7], [8]],
}


@pytest.mark.parametrize("handling", ENDS)
@pytest.mark.parametrize("ahead", [True, False])
def test_several_iterators_in_turn(handling, ahead):
    sources = [upto(2), upto(4, start=5)]
    for source in sources:
        source.async_supported = lambda: ahead
    it = JointParallelDataSetIterator(sources, True, 2, handling)
    assert walk(it) == ENDS[handling]
    it.reset()
    assert walk(it) == ENDS[handling] and (it.input_columns(), it.total_outcomes(), it.get_labels()) == (1, 1, None)


def test_iterators_by_number():
    it = JointParallelDataSetIterator([upto(1), upto(2, start=5)])
    assert it.next_for(1).features.item() == 5 and it.has_next_for(1)
    assert it.next_for(0).features.item() == 0 and not it.has_next_for(0) and it.next_for(0) is None
    with pytest.raises(ConfigurationError, match="iterator number 2 of 2"):
        it.next_for(2)
    with pytest.raises(ConfigurationError, match="at least one iterator"):
        JointParallelDataSetIterator([])


def test_null_batches_are_not_preprocessed():
    it = JointParallelDataSetIterator([upto(1), upto(2, start=5)], inequality_handling=InequalityHandling.PASS_NULL)

    class Tens:
        def pre_process(self, data):
            data.features = data.features * 10

    it.set_pre_processor(Tens())
    assert walk(it) == [[0], [50], None, [60], None]


def test_files_read_by_several_threads(tmp_path):
    saved(tmp_path, 10)
    (tmp_path / "other.txt").write_text("not a batch")
    it = FileSplitParallelDataSetIterator(tmp_path, num_threads=3, inequality_handling=InequalityHandling.RELOCATE)
    assert walk(it) == [[i] for i in range(10)]
    named = FileSplitParallelDataSetIterator(tmp_path, callback=lambda p: DataSet([[float(Path(p).stem[-1])]], [[0.0]]))
    assert walk(named) == [[i] for i in range(10)]
    with pytest.raises(FileNotFoundError, match="no file batch-%d"):
        FileSplitParallelDataSetIterator(tmp_path, "batch-%d")
    with pytest.raises(ConfigurationError, match="one %d"):
        FileSplitParallelDataSetIterator(tmp_path, "batch")


def test_the_old_scaler(tmp_path):
    rows = np.float32([[1, 2, 3], [4, 5, 7], [9, 8, 7], [1, 0, 7]])
    scaler, whole = StandardScaler(), DataSet(rows, rows)
    scaler.fit(ListDataSetIterator(whole.as_list(), 3))
    scaler.transform(whole)
    expected = (rows - rows.mean(axis=0)) / (rows.std(axis=0, ddof=1) + 1e-5)
    assert whole.features == pytest.approx(expected, abs=1e-6) and whole.features.dtype == np.float32
    scaler.save(tmp_path / "mean", tmp_path / "std")
    again = StandardScaler()
    with pytest.raises(ConfigurationError, match="call fit first"):
        again.get_std()
    again.load(tmp_path / "mean", tmp_path / "std")
    assert again.get_mean().tolist() == scaler.get_mean().tolist() and again.getStd().tolist() == scaler.get_std().tolist()
    with pytest.raises(ShapeError, match="two examples"):
        again.fit(DATA.get_range(0, 1))
