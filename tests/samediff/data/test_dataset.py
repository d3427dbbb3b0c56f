"""DataSet and MultiDataSet: parts, order, joining."""
from __future__ import annotations

import numpy as np
import pytest

from dl4py.samediff.data import DataSet, JavaRandom, MultiDataSet
from dl4py.samediff.errors import ConfigurationError, OutOfRangeError, ShapeError


def numbered(n: int) -> DataSet:
    x = np.array([[i, i + 0.1] for i in range(n)], np.float32)
    return DataSet(x, np.eye(3, dtype=np.float32)[np.arange(n) % 3])


def ids(data: DataSet) -> list[int]:
    return [int(v) for v in data.features[:, 0]]


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_takes_anything_that_is_an_array():
    for value in ([[1.0, 2.0]], np.array([[1, 2]], np.float32), OnlyDlpack(np.array([[1, 2]], np.float32))):
        assert DataSet(value).get_features().tolist() == [[1.0, 2.0]]
        assert DataSet(value).features.dtype == np.float32


def test_parts_need_the_same_number_of_examples_where_they_are_told_apart():
    whole = DataSet(np.zeros((3, 1)), np.zeros((2, 1)))        # layers that fold a series into rows want such labels
    for use in (lambda: whole.get(0), lambda: whole.shuffle(1), lambda: whole.split_test_and_train(1), lambda: whole.batch_by(2)):
        with pytest.raises(ShapeError, match="3 for features, 2 for labels"):
            use()


def test_names_of_java_work():
    d = numbered(4)
    assert (d.numExamples(), d.numInputs(), d.numOutcomes()) == (4, 2, 3)
    assert np.shares_memory(d.getFeatures(), d.features)
    assert d.getLabelsMaskArray() is None


def test_split_by_number_fraction_and_with_a_generator():
    train, test = numbered(10).split_test_and_train(7)
    assert (ids(train), ids(test)) == ([*range(7)], [7, 8, 9])
    assert numbered(10).split_test_and_train(0.65).get_train().num_examples() == 6
    mixed = numbered(10).split_test_and_train(7, JavaRandom(42))
    assert sorted(ids(mixed.train) + ids(mixed.test)) == [*range(10)]
    with pytest.raises(ConfigurationError, match="both parts"):
        numbered(3).split_test_and_train(3)


def test_shuffle_moves_all_parts_and_leaves_the_arrays_of_the_caller():
    x = np.arange(6.0).reshape(6, 1)
    d = DataSet(x, x * 10, x + 100, x + 200)
    d.example_meta_data = [*range(6)]
    d.shuffle(3)
    assert x[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    order = d.features[:, 0]
    assert not np.array_equal(order, x[:, 0])
    for part, expected in ((d.labels, order * 10), (d.features_mask, order + 100), (d.labels_mask, order + 200)):
        np.testing.assert_array_equal(part[:, 0], expected)
    assert d.example_meta_data == order.tolist()


def test_classes():
    d = numbered(10)
    assert d.label_counts() == {0: 4.0, 1: 3.0, 2: 3.0}
    assert ids(d.filter_by([0, 2])) == [0, 2, 3, 5, 6, 8, 9]
    d.sort_by_label()
    assert ids(d) == [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]
    d.filter_and_strip([2, 1])
    assert d.labels.shape == (6, 2)
    assert d.get(0).outcome() == 1


def test_batches_and_ranges():
    d = numbered(10)
    assert [ids(b) for b in d.batch_by(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert ids(d.get_range(2, 5)) == [2, 3, 4]
    assert ids(d.get([3, 1])) == [3, 1]
    assert len(d.as_list()) == 10
    assert sorted(ids(d.sample(10, 1))) == [*range(10)]
    with pytest.raises(ShapeError, match="example 10"):
        d.get(10)


def test_other_shapes_and_outcomes():
    d = DataSet(np.arange(8.0).reshape(2, 4), np.eye(2))
    other = d.reshape(4, 2)
    assert other.features.shape == (4, 2) and d.features.shape == (2, 4)
    d.set_outcome(0, 1)
    assert d.labels.tolist() == [[0, 1], [0, 1]]
    for example, label in ((2, 0), (0, 2), (-1, 0), (0, -1)):
        with pytest.raises(OutOfRangeError, match="no such example or label"):
            d.set_outcome(example, label)
    with pytest.raises(ShapeError, match="no shape"):
        d.reshape(3, 2)
    one = DataSet(np.ones((1, 3)), np.ones((1, 1)))
    one.normalize_zero_mean_zero_unit_variance()
    assert one.features.tolist() == [[0, 0, 0]]


def test_merge_pads_time_series_and_masks_the_padding():
    short, long = DataSet(np.ones((2, 3, 4)), np.ones((2, 1, 4))), DataSet(np.ones((1, 3, 6)), np.ones((1, 1, 6)))
    merged = DataSet.merge([short, long])
    assert merged.features.shape == (3, 3, 6)
    assert merged.features_mask.tolist() == [[1, 1, 1, 1, 0, 0]] * 2 + [[1] * 6]
    assert merged.features[0, :, 4:].tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("shape", [(1, 3), (1, 2, 3)])
def test_merge_refuses_other_shapes(shape):
    with pytest.raises(ShapeError, match="cannot merge features"):
        DataSet.merge([numbered(2), DataSet(np.zeros(shape), np.zeros((1, 3)))])


def test_merge_of_nothing():
    with pytest.raises(ShapeError, match="empty list"):
        DataSet.merge([])


@pytest.mark.parametrize(("method", "arguments", "expected"), [
    ("scale", (), [[0.5, 1.0], [1.0, -1.0]]),
    ("scale_min_and_max", (0.0, 1.0), [[0.0, 1.0], [1.0, 0.0]]),
    ("binarize", (), [[1.0, 1.0], [1.0, 0.0]]),
    ("binarize", (2.5,), [[0.0, 0.0], [1.0, 0.0]]),
    ("multiply_by", (2.0,), [[2.0, 4.0], [6.0, -6.0]]),
    ("divide_by", (2,), [[0.5, 1.0], [1.5, -1.5]]),
    ("squish_to_range", (-1.0, 1.0), [[1.0, 1.0], [1.0, -1.0]]),
    ("normalize", (), [[-1.0, 1.0], [1.0, -1.0]]),
])
def test_transforms(method, arguments, expected):
    d = DataSet([[1.0, 2.0], [3.0, -3.0]], [[0.0], [1.0]])
    getattr(d, method)(*arguments)
    np.testing.assert_allclose(d.features, expected, rtol=1e-6)
    assert d.features.dtype == np.float32


def test_multi_data_set():
    a, b, y = np.zeros((4, 3)), np.ones((4, 2, 5)), np.arange(4.0).reshape(4, 1)
    m = MultiDataSet([a, b], y, [None, np.ones((4, 5))])
    assert (m.num_examples(), m.num_feature_arrays(), m.num_labels_arrays()) == (4, 2, 1)
    assert m.features[1] is b and np.shares_memory(m.get_features(1), b)
    assert m.get_features_mask_array(0) is None
    assert m.get_labels_mask_arrays() is None
    m.shuffle(42)
    d = DataSet(a, y)
    d.shuffle(42)
    assert m.get_labels(0).tolist() == d.labels.tolist()
    assert MultiDataSet.merge([m.get_range(0, 1), m.get_range(1, 4)]) == m


def test_multi_data_set_may_have_its_examples_on_another_axis():
    series, labels = np.arange(30.0).reshape(5, 2, 3), np.zeros((2, 1))  # (time, example, size)
    m = MultiDataSet([series], [labels]).copy()
    assert np.array_equal(m.get_features(0), series) and m.get_features(0) is not series


def test_multi_data_set_checks_its_parts():
    with pytest.raises(ShapeError, match="same number of examples"):
        MultiDataSet([np.zeros((4, 3))], [np.zeros((5, 1))]).get_range(0, 2)
    with pytest.raises(ShapeError, match="1 masks for 2 features"):
        MultiDataSet([np.zeros((4, 3))] * 2, [np.zeros((4, 1))], [np.ones((4, 1))])
    with pytest.raises(ShapeError, match="features 2 asked for"):
        MultiDataSet([np.zeros((4, 3))], [np.zeros((4, 1))]).get_features(2)


def test_one_to_several_and_equality():
    d = numbered(3)
    assert d.to_multi_data_set().labels[0] is d.labels
    assert d == numbered(3)
    assert d != numbered(4)


def test_memory_is_that_of_all_arrays():
    x, y = np.ones((4, 3), np.float32), np.ones((4, 2))
    assert DataSet(x, y).getMemoryFootprint() == 112                # these numbers are DL4J's
    assert DataSet(x, y, np.ones((4, 1), np.float32)).getMemoryFootprint() == 128
    several = MultiDataSet([x, x], [y])
    assert several.get_memory_footprint() == 160 and MultiDataSet([x], [y], [np.ones((4, 1), np.float32)]).get_memory_footprint() == 128
    assert DataSet().get_memory_footprint() == 0
    for given in (DataSet(x, y), several):
        before = given.copy()
        given.detach()
        given.migrate()
        assert given == before
