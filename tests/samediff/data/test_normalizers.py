"""Normalizers: statistics, masks, inverses."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import (
    DataSet,
    ExistingDataSetIterator,
    ImageMultiPreProcessingScaler,
    ImagePreProcessingScaler,
    ListDataSetIterator,
    MultiDataSet,
    MultiNormalizerHybrid,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
    NormalizerMinMaxScaler,
    NormalizerStandardize,
    NumpyDataSetIterator,
    NumpyMultiDataSetIterator,
    SamplingDataSetIterator,
    VGG16ImagePreProcessor,
)
from dl4py.samediff.errors import ConfigurationError, ShapeError

SHAPES = [(7, 3), (7, 3, 4), (7, 3, 2, 5)]
FITTED = [NormalizerStandardize, NormalizerMinMaxScaler, lambda: NormalizerMinMaxScaler(-1, 1)]


def flat(x):
    return np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", FITTED)
def test_transform_and_revert(make, shape, rng):
    x, y = rng.normal(5, 3, shape).astype(np.float32), rng.normal(size=(7, 2)).astype(np.float32)
    d, n = DataSet(x, y), make()
    n.fit_label(True)
    n.fit(d)
    n.transform(d)
    for array in (flat(d.features), d.labels):
        if isinstance(n, NormalizerStandardize):
            np.testing.assert_allclose(array.mean(axis=0), 0, atol=1e-6)
            np.testing.assert_allclose(array.std(axis=0), 1, rtol=1e-5)
        else:
            np.testing.assert_allclose(array.min(axis=0), n.target_min, atol=1e-6)
            np.testing.assert_allclose(array.max(axis=0), n.target_max, atol=1e-6)
    assert d.features.dtype == np.float32
    n.revert(d)
    np.testing.assert_allclose(d.features, x, atol=1e-5)
    np.testing.assert_allclose(d.labels, y, atol=1e-5)
    np.testing.assert_allclose(n.revert_labels(n.transform_label(y)), y, atol=1e-5)


@pytest.mark.parametrize("make", FITTED)
def test_many_batches_are_fitted_as_one(make, rng):
    x = rng.normal(1000, 0.1, (50, 3))
    data = DataSet(x, np.zeros((50, 1)))
    whole, parts, listed = make(), make(), make()
    whole.fit(data)
    it = ListDataSetIterator(data.as_list(), 7)
    parts.fit(it)
    listed.fit(data.batch_by(9))
    assert it.has_next()
    for other in (parts, listed):
        np.testing.assert_allclose(other.transform(x), whole.transform(x), rtol=1e-9)


def test_masked_steps_do_not_count_and_become_zero(rng):
    x, mask = rng.normal(size=(4, 2, 5)), (rng.random((4, 5)) > 0.4).astype(np.float64)
    d = DataSet(x, x, mask, mask)
    n = NormalizerStandardize()
    n.fit(d)
    counted = x.transpose(0, 2, 1)[mask > 0]
    np.testing.assert_allclose(n.get_mean()[0], counted.mean(axis=0))
    np.testing.assert_allclose(n.get_std()[0], counted.std(axis=0))
    n.transform(d)
    assert not np.any(d.features.transpose(0, 2, 1)[mask == 0])


@pytest.mark.parametrize("make", [NormalizerStandardize, NormalizerMinMaxScaler])
def test_arrays_are_fitted_at_once_as_their_batches(make, rng):
    """The iterators of whole arrays are not read batch by batch; they end up where reading would have left them."""
    x = rng.standard_normal((20000, 9)).astype(np.float32) * 50 + 1000
    y = rng.standard_normal((20000, 2)).astype(np.float32)
    read, given = (NumpyDataSetIterator(x, y, 64, shuffle_seed=3) for _ in range(2))
    one, other = make(), make()
    for n in (one, other):
        n.fit_label(True)
    for _ in range(2):
        one.fit(list(read))
        read.reset()
        other.fit(given)
        assert read.get_position() == given.get_position()
        np.testing.assert_array_equal(read.next().features, given.next().features)
    for a, b in ((one.feature_stats, other.feature_stats), (one.label_stats, other.label_stats)):
        np.testing.assert_allclose(a.first, b.first, rtol=1e-6)
        np.testing.assert_allclose(a.second, b.second, rtol=1e-6)
    given.set_pre_processor(one)
    twice = make()
    twice.fit(given)            # of what the iterator gives, preprocessed
    np.testing.assert_allclose(*((0, twice.get_mean()) if make is NormalizerStandardize else (1, twice.get_max())), atol=1e-4)


def test_several_arrays_are_fitted_at_once(rng):
    x = [rng.standard_normal((50, 3)).astype(np.float32), rng.standard_normal((50, 2)).astype(np.float32)]
    given = NumpyMultiDataSetIterator(x, [x[0]], 8)
    one, other = MultiNormalizerStandardize(), MultiNormalizerStandardize()
    one.fit(list(given))
    other.fit(given)
    assert given.get_position() == NumpyMultiDataSetIterator(x, [x[0]], 8).get_position()
    for i in range(2):
        np.testing.assert_allclose(other.stats["features"][i].first, one.stats["features"][i].first, rtol=1e-5, atol=1e-7)


def test_iterators_that_draw_are_read(rng):
    data = DataSet(np.arange(100, dtype=np.float32).reshape(-1, 1), np.zeros((100, 1)))
    n = NormalizerMinMaxScaler()
    n.fit(SamplingDataSetIterator(data, 3, 3, seed=1))
    assert n.get_max() < 99


def test_batches_are_normalized_and_the_data_stay(rng):
    x, y = rng.standard_normal((300, 20)).astype(np.float32), np.zeros((300, 1), np.float32)
    before = x.copy()
    it = NumpyDataSetIterator(x, y, 128)
    n = NormalizerStandardize()
    n.fit(it)
    it.set_pre_processor(n)
    for batch in it:
        assert not np.shares_memory(batch.features, x)
        batch.features[...] = 0
    np.testing.assert_array_equal(x, before)
    with pytest.raises(ValueError, match="read-only"):
        n.get_mean()[...] = 0


def test_constant_columns():
    d = DataSet(np.full((3, 1), 4, np.float32), np.zeros((3, 1)))
    for n in (NormalizerStandardize(), NormalizerMinMaxScaler()):
        n.fit(d)
        assert n.transform(d.features).tolist() == [[0], [0], [0]]


def test_given_statistics_and_whole_numbers():
    n = NormalizerStandardize([1.0, 2.0], [2.0, 4.0])
    assert n.transform(np.array([[3, 6]])).tolist() == [[1.0, 1.0]]
    assert n.getMean().tolist() == [[1.0, 2.0]]


def test_errors():
    d = DataSet(np.ones((2, 2)), np.ones((2, 1)))
    with pytest.raises(ConfigurationError, match="call fit"):
        NormalizerStandardize().transform(d)
    n = NormalizerMinMaxScaler()
    with pytest.raises(ConfigurationError, match="no batch"):
        n.fit(ExistingDataSetIterator([]))
    n.fit(d)
    with pytest.raises(ShapeError, match="2 features"):
        n.transform(np.ones((2, 3)))
    n.fit_label(True)
    with pytest.raises(ConfigurationError, match="fit_label"):
        n.transform(d)
    assert d.features.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ConfigurationError, match="no features"):
        n.transform(DataSet())
    with pytest.raises(ShapeError, match="same number of columns"):
        n.fit([d, DataSet(np.ones((2, 3)), np.ones((2, 1)))])
    with pytest.raises(ShapeError, match="labels of the same number of columns"):
        n.fit(DataSet(np.ones((2, 3))))
    with pytest.raises(ConfigurationError, match="same size"):
        NormalizerStandardize([1.0], [1.0, 2.0])


def test_images():
    x = np.array([[0, 255]], np.uint8)
    assert ImagePreProcessingScaler().transform(x).tolist() == [[0.0, 1.0]]
    assert ImagePreProcessingScaler(0, 1, 16).transform(np.array([[65535.0]])).tolist() == [[1.0]]
    scaler = ImagePreProcessingScaler(-1, 1)
    d = DataSet(x, x)
    scaler.transform(d)
    assert (d.features.tolist(), d.labels.dtype) == ([[-1.0, 1.0]], np.uint8)
    scaler.fit_label(True)
    with pytest.raises(ShapeError, match="segmentation"):
        scaler.transform(d)
    assert VGG16ImagePreProcessor().transform(np.zeros((1, 3, 1, 1), np.float32)).ravel() == pytest.approx(
        [-103.939, -116.779, -123.68])
    m = MultiDataSet([np.array([[255.0]])] * 3, [np.ones((1, 1))])
    ImageMultiPreProcessingScaler(-1.0, 1.0, [0, 2]).transform(m)
    assert [float(a[0, 0]) for a in m.features] == [1.0, 255.0, 1.0]


@pytest.mark.parametrize("make", [MultiNormalizerStandardize, lambda: MultiNormalizerMinMaxScaler(-1, 1)])
def test_several_inputs_are_normalized_each_like_one(make, rng):
    xs = [rng.normal(size=(6, 3)), rng.normal(size=(6, 2, 4))]
    y = rng.normal(size=(6, 1))
    m, n = MultiDataSet(xs, [y]), make()
    n.fit(m)
    n.transform(m)
    single = NormalizerStandardize() if make is MultiNormalizerStandardize else NormalizerMinMaxScaler(-1, 1)
    for i, x in enumerate(xs):
        single.fit(DataSet(x, y))
        np.testing.assert_allclose(m.get_features(i), single.transform(x))
    assert m.labels[0] is y
    n.revert(m)
    np.testing.assert_allclose(m.get_features(0), xs[0])
    n.fit_label(True)
    n.fit(m)
    assert n.transform(m).labels[0] is not y


def test_hybrid_prefers_what_is_said_for_one():
    m = MultiDataSet([[[0.0], [10.0]], [[0.0], [10.0]]], [[[0.0], [10.0]]])
    n = MultiNormalizerHybrid().min_max_scale_all_inputs().standardize_input(1)
    with pytest.raises(ConfigurationError, match="call fit"):
        n.transform(m)
    n.fit(m)
    n.transform(m)
    assert [a.ravel().tolist() for a in (*m.features, *m.labels)] == [[0, 1], [-1, 1], [0, 10]]
    n.revert(m)
    assert m.get_features(1).ravel().tolist() == [0, 10]
